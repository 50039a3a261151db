#include <algorithm>
#include <cstring>
#include <vector>

#include "sparse.hpp"

namespace naively {
namespace {

constexpr std::size_t most_quads = 8;  // that stay in registers: 32 classes at a time
constexpr std::size_t quad_size = 4;
constexpr std::size_t line_bytes = 64;

// Weights by column and class: line j begins at B + j n_classes.
struct Lines {
    const double* B;
    std::size_t n_classes;
    std::size_t n_columns;
};

// The sums of some classes over the cells of a row.
template <std::size_t Q> struct RowSums {
    const double* weights;  // of the first of the classes, in the first column
    std::size_t stride;
    FourLanes sums[Q] = {};  // eight in one vector would leave registers that hold four

    NAIVELY_INLINE void prefetch(std::uint32_t place) const {
        const auto from =
            reinterpret_cast<std::uintptr_t>(weights) + place * stride * sizeof(double);
        for (std::size_t at = 0; at < Q * sizeof(FourLanes); at += line_bytes)
            NAIVELY_PREFETCH_FAR(reinterpret_cast<const char*>(from + at));
        NAIVELY_PREFETCH_FAR(reinterpret_cast<const char*>(from + Q * sizeof(FourLanes) - 1));
    }
    NAIVELY_INLINE void add(const double* b, double x) {
        for (std::size_t q = 0; q < Q; ++q) {
            FourLanes weights;
            load(b + q * quad_size, weights);
            sums[q] += weights * x;
        }
    }
    NAIVELY_INLINE void add(std::uint32_t place, double x) { add(weights + place * stride, x); }
};

// joint[first...] += sum of x B, for as many classes as Q quads hold.
template <std::size_t Q, bool is_step>
NAIVELY_INLINE void add_row(const Cells& row, const Lines& lines, std::size_t first,
                            double* joint) {
    constexpr std::size_t wide = Q * quad_size;
    const std::size_t n = std::min(wide, lines.n_classes - first);
    const std::size_t end = lines.n_columns * lines.n_classes;
    RowSums<Q> sums{lines.B + first, lines.n_classes};
    std::size_t i = 0;
    if (row.greatest * lines.n_classes + first + wide <= end) {
        const std::size_t known = row.n + row.n_behind;
        const std::size_t far = known > cells_behind ? std::min(row.n, known - cells_behind) : 0;
        for (; i < far; ++i) {
            sums.prefetch(row.places[i + cells_behind]);
            sums.add(row.places[i], is_step ? 1.0 : row.values[i]);
        }
        for (; i < row.n; ++i) sums.add(row.places[i], is_step ? 1.0 : row.values[i]);
    }
    double tail[wide] = {};
    for (; i < row.n; ++i) {  // the last lines end with the table
        std::copy_n(lines.B + row.places[i] * lines.n_classes + first, n, tail);
        sums.add(tail, is_step ? 1.0 : row.values[i]);
    }
    double found[wide];
    std::memcpy(found, sums.sums, sizeof found);
    for (std::size_t k = 0; k < n; ++k) joint[first + k] += found[k];
}

template <bool is_step>
NAIVELY_INLINE void add_classes(const Cells& row, const Lines& lines, double* joint) {
    for (std::size_t first = 0; first < lines.n_classes; first += most_quads * quad_size) {
        switch ((lines.n_classes - first + quad_size - 1) / quad_size) {
            case 1: add_row<1, is_step>(row, lines, first, joint); break;
            case 2: add_row<2, is_step>(row, lines, first, joint); break;
            case 3: add_row<3, is_step>(row, lines, first, joint); break;
            case 4: add_row<4, is_step>(row, lines, first, joint); break;
            case 5: add_row<5, is_step>(row, lines, first, joint); break;
            case 6: add_row<6, is_step>(row, lines, first, joint); break;
            case 7: add_row<7, is_step>(row, lines, first, joint); break;
            default: add_row<most_quads, is_step>(row, lines, first, joint);
        }
    }
}

NAIVELY_CLONES void add_cells(const Cells& row, const Lines& lines, bool is_step, double* joint) {
    if (is_step)
        add_classes<true>(row, lines, joint);
    else
        add_classes<false>(row, lines, joint);
}

void take_out(const std::vector<std::uint32_t>& missing, const double* A, std::size_t n_classes,
              double* joint) {
    for (const std::uint32_t place : missing)
        for (std::size_t k = 0; k < n_classes; ++k) joint[k] -= A[place * n_classes + k];
}

}  // namespace

Finding add_sparse_quadratics(const SparseRows& X, const double* A, const double* B,
                              const double* C, std::size_t n_classes, double* joint) {
    const Lines first{B, n_classes, X.n_columns}, second{C, n_classes, X.n_columns};
    RowReader reader(X, {true, true, true, nullptr});
    std::vector<double> squares;
    for (std::size_t i = 0; i < X.n_rows; ++i) {
        const Problem problem = reader.read(i);
        if (problem != Problem::none) return {problem, i};
        double* row = joint + i * n_classes;
        Cells cells = reader.cells;
        squares.resize(cells.n);
        for (std::size_t at = 0; at < cells.n; ++at)
            squares[at] = cells.values[at] * cells.values[at];
        add_cells(cells, first, false, row);
        cells.values = squares.data();
        add_cells(cells, second, false, row);
        take_out(reader.missing, A, n_classes, row);
    }
    return {};
}

Finding add_sparse_lines(const SparseRows& X, const double* A, const double* B, const double* step,
                         std::size_t n_classes, double* joint) {
    const Lines lines{B, n_classes, X.n_columns};
    const Reading reading{true, step != nullptr, true, step};
    RowReader reader(X, reading);
    for (std::size_t i = 0; i < X.n_rows; ++i) {
        if (i + rows_behind < X.n_rows) reader.prefetch(i + rows_behind);
        const Problem problem = reader.read(i);
        if (problem != Problem::none) return {problem, i};
        double* row = joint + i * n_classes;
        add_cells(reader.cells, lines, step != nullptr, row);
        if (A != nullptr) take_out(reader.missing, A, n_classes, row);
    }
    return {};
}

}  // namespace naively
