#include "labels.hpp"

#include <algorithm>

#include "simd.hpp"

namespace naively {
namespace {

constexpr std::uint64_t widest_range = std::uint64_t{1} << 20;  // that is looked up in a table

template <class T> struct Range {
    T least, greatest;
};

template <class T> NAIVELY_INLINE Range<T> find_range(const T* labels, std::size_t n) {
    T least = labels[0], greatest = labels[0];
    for (std::size_t i = 0; i < n; ++i) {
        least = std::min(least, labels[i]);
        greatest = std::max(greatest, labels[i]);
    }
    return {least, greatest};
}

// One bit for each label that is there; labels are at most 63 above the least.
template <class T>
NAIVELY_INLINE std::uint64_t find_present(const T* labels, std::size_t n, T least) {
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < n; ++i)
        present |= std::uint64_t{1}
                   << (static_cast<std::uint64_t>(labels[i]) - static_cast<std::uint64_t>(least));
    return present;
}

template <class T>
NAIVELY_INLINE void subtract_least(const T* labels, std::size_t n, T least,
                                   std::int32_t* NAIVELY_RESTRICT codes) {
    for (std::size_t i = 0; i < n; ++i)
        codes[i] = static_cast<std::int32_t>(static_cast<std::uint64_t>(labels[i]) -
                                             static_cast<std::uint64_t>(least));
}

// Almost all labels are of this type: it has the builds for newer processors.
NAIVELY_CLONES Range<std::int64_t> range_of(const std::int64_t* labels, std::size_t n) {
    return find_range(labels, n);
}
NAIVELY_CLONES std::uint64_t present_of(const std::int64_t* labels, std::size_t n,
                                        std::int64_t least) {
    return find_present(labels, n, least);
}
NAIVELY_CLONES void differences_of(const std::int64_t* labels, std::size_t n, std::int64_t least,
                                   std::int32_t* codes) {
    subtract_least(labels, n, least, codes);
}

template <class T> Range<T> range_of(const T* labels, std::size_t n) {
    return find_range(labels, n);
}
template <class T> std::uint64_t present_of(const T* labels, std::size_t n, T least) {
    return find_present(labels, n, least);
}
template <class T>
void differences_of(const T* labels, std::size_t n, T least, std::int32_t* codes) {
    subtract_least(labels, n, least, codes);
}

// code_of[s] is zero where least + s is a label, and becomes its code.
template <class T> std::vector<T> number(std::vector<std::int32_t>& code_of, T least) {
    std::vector<T> distinct;
    for (std::size_t slot = 0; slot < code_of.size(); ++slot)
        if (code_of[slot] == 0) {
            code_of[slot] = static_cast<std::int32_t>(distinct.size());
            distinct.push_back(static_cast<T>(static_cast<std::uint64_t>(least) + slot));
        }
    return distinct;
}

}  // namespace

template <class T> std::vector<T> encode(const T* labels, std::size_t n, std::int32_t* codes) {
    if (n == 0) return {};
    const Range<T> range = range_of(labels, n);
    const auto slot = [&](T label) {
        return static_cast<std::uint64_t>(label) - static_cast<std::uint64_t>(range.least);
    };
    const std::uint64_t widest = slot(range.greatest);
    if (widest >= widest_range) return {};
    std::vector<std::int32_t> code_of(widest + 1, -1);
    if (widest < 64) {
        const std::uint64_t present = present_of(labels, n, range.least);
        for (std::uint64_t s = 0; s <= widest; ++s)
            if (present >> s & 1) code_of[s] = 0;
    } else {
        for (std::size_t i = 0; i < n; ++i) code_of[slot(labels[i])] = 0;
    }
    std::vector<T> distinct = number(code_of, range.least);
    if (distinct.size() == code_of.size())
        differences_of(labels, n, range.least, codes);
    else
        for (std::size_t i = 0; i < n; ++i) codes[i] = code_of[slot(labels[i])];
    return distinct;
}

template std::vector<std::int64_t> encode(const std::int64_t*, std::size_t, std::int32_t*);
template std::vector<std::int32_t> encode(const std::int32_t*, std::size_t, std::int32_t*);
template std::vector<std::int16_t> encode(const std::int16_t*, std::size_t, std::int32_t*);
template std::vector<std::int8_t> encode(const std::int8_t*, std::size_t, std::int32_t*);
template std::vector<std::uint64_t> encode(const std::uint64_t*, std::size_t, std::int32_t*);
template std::vector<std::uint32_t> encode(const std::uint32_t*, std::size_t, std::int32_t*);
template std::vector<std::uint16_t> encode(const std::uint16_t*, std::size_t, std::int32_t*);
template std::vector<std::uint8_t> encode(const std::uint8_t*, std::size_t, std::int32_t*);

}  // namespace naively
