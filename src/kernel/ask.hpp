// Asks for memory before it is needed, where rows are read a strip of columns at a time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "table.hpp"

namespace naively {

// A rectangle of X: rows [row, row + rows), and so for columns.
struct Rectangle {
    std::size_t row, rows, column, columns;
};

// Asks for part `part` of `parts` of a rectangle, which may reach beyond the last row.
inline void ask(const Table& X, const Rectangle& next, std::size_t part, std::size_t parts) {
    if (!X.has_row_lines()) return;  // the processor sees what comes next in a column
    const std::size_t end = std::min(X.n_rows, next.row + next.rows * (part + 1) / parts);
    for (std::size_t i = next.row + next.rows * part / parts; i < end; ++i) {
        const Line line = X.row(i).from(next.column);
        const std::ptrdiff_t bytes = line.stride * static_cast<std::ptrdiff_t>(next.columns);
        for (std::ptrdiff_t at = 0; at < bytes; at += 64) NAIVELY_PREFETCH_FAR(line.data + at);
    }
}

}  // namespace naively
