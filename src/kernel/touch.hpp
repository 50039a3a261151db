// Brings memory into the cache from end to end, before it is read in strips across it.
//
// What is read in its order is foreseen by the processor. Strips jump from line to line, and asking
// for their memory beforehand, piece by piece, turned out to help less than reading it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "table.hpp"

namespace naively {

inline void touch(const Line& line, std::size_t n) {
    if (n == 0 || line.stride <= 0) return;
    const volatile char* last = line.from(n - 1).data;
    const std::ptrdiff_t step = std::max<std::ptrdiff_t>(64, line.stride);
    for (const volatile char* at = line.data; at <= last; at += step) static_cast<void>(*at);
}

// Rows [row, row + rows), and columns likewise, of a table that keeps rows together.
inline void touch_rows(const Table& X, std::size_t row, std::size_t rows, std::size_t column,
                       std::size_t columns) {
    if (!X.has_row_lines()) return;
    for (std::size_t i = row; i < row + rows; ++i) touch(X.row(i).from(column), columns);
}

// Rows of a table that keeps columns together.
inline void touch_columns(const Table& X, std::size_t row, std::size_t rows) {
    if (X.has_row_lines()) return;
    for (std::size_t j = 0; j < X.n_columns; ++j) touch(X.column(j).from(row), rows);
}

}  // namespace naively
