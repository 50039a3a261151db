// Integer labels become codes 0, 1, ... in the order of the labels, by a table over their
// range: two passes, no sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace naively {

// The widest range of labels that is looked up in a table.
constexpr std::uint64_t widest_range = std::uint64_t{1} << 20;

// Writes the code of each label and returns the distinct labels, ascending. Returns nothing
// where there are no labels, or where their range is too wide for a table.
template <class T> std::vector<T> encode(const T* labels, std::size_t n, std::int32_t* codes) {
    if (n == 0) return {};
    T least = labels[0], greatest = labels[0];
    for (std::size_t i = 0; i < n; ++i) {
        least = labels[i] < least ? labels[i] : least;
        greatest = labels[i] > greatest ? labels[i] : greatest;
    }
    const std::uint64_t origin = static_cast<std::uint64_t>(least);
    const std::uint64_t range = static_cast<std::uint64_t>(greatest) - origin;
    if (range >= widest_range) return {};
    std::vector<std::int32_t> code_of(range + 1, -1);
    const auto slot = [&](T label) { return static_cast<std::uint64_t>(label) - origin; };
    for (std::size_t i = 0; i < n; ++i) code_of[slot(labels[i])] = 0;
    std::vector<T> distinct;
    for (std::uint64_t at = 0; at <= range; ++at)
        if (code_of[at] == 0) {
            code_of[at] = static_cast<std::int32_t>(distinct.size());
            distinct.push_back(static_cast<T>(origin + at));
        }
    for (std::size_t i = 0; i < n; ++i) codes[i] = code_of[slot(labels[i])];
    return distinct;
}

}  // namespace naively
