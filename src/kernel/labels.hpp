// Integer labels become codes 0, 1, ... in the order of the labels, by a table over their
// range instead of sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

// Writes the code of each label and returns the distinct labels, ascending. Returns nothing
// where there are no labels, or where their range is too wide for a table.
template <class T> std::vector<T> encode(const T* labels, std::size_t n, std::int32_t* codes);

// The greatest of all codes, of which a negative one would be the greatest.
std::uint32_t greatest_code(const std::int32_t* codes, std::size_t n);

}  // namespace naively
