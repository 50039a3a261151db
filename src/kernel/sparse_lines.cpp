#include <algorithm>
#include <cstring>

#include "sparse.hpp"

namespace naively {
namespace {

constexpr std::size_t cells_ahead = 24;  // whose weights are fetched beforehand
constexpr std::size_t most_quads = 8;    // that stay in registers: 32 classes at a time
constexpr std::size_t quad_size = 4;
constexpr double farthest = 1e300;       // a cell beyond counts as this one: sums must be finite
constexpr std::size_t line_numbers = 8;  // doubles of a cache line

// Four sums. Eight in one vector would leave the registers where those hold four.
#ifdef NAIVELY_VECTORS
typedef double Quad __attribute__((vector_size(32)));

NAIVELY_INLINE void add_scaled(const double* b, double x, Quad& sums) {
    Quad weights;
    std::memcpy(&weights, b, sizeof weights);
    sums += weights * x;
}
#else
struct Quad {
    double at[quad_size];
};

inline void add_scaled(const double* b, double x, Quad& sums) {
    for (std::size_t k = 0; k < quad_size; ++k) sums.at[k] += b[k] * x;
}
#endif

// Weights by column and class: line j begins at B + j n_classes.
struct Lines {
    const double* B;
    std::size_t n_classes;
    std::size_t n_columns;
};

NAIVELY_INLINE void prefetch(const double* from, std::size_t n) {
    const std::size_t before =
        reinterpret_cast<std::uintptr_t>(from) / sizeof(double) % line_numbers;
    for (std::size_t at = 0; at < before + n; at += line_numbers)
        NAIVELY_PREFETCH(from - before + at);
}

// joint[first...] += sum of x B, for as many classes as Q quads hold.
template <std::size_t Q>
NAIVELY_INLINE void add_row(const Cells& row, const Cells& next, const Lines& lines,
                            std::size_t first, bool is_step, double* joint) {
    const std::size_t wide = Q * quad_size;
    const std::size_t n = std::min(wide, lines.n_classes - first);
    const std::size_t total = lines.n_columns * lines.n_classes;
    Quad sums[Q] = {};
    double tail[Q * quad_size] = {};
    for (std::size_t i = 0; i < row.n; ++i) {
        const std::size_t ahead = i + cells_ahead;
        if (ahead < row.n)
            prefetch(lines.B + row.places[ahead] * lines.n_classes + first, n);
        else if (ahead - row.n < next.n)
            prefetch(lines.B + next.places[ahead - row.n] * lines.n_classes + first, n);
        const std::size_t begin = row.places[i] * lines.n_classes + first;
        const double* b = lines.B + begin;
        if (begin + wide > total) {  // the last lines end with the table
            std::copy_n(b, n, tail);
            b = tail;
        }
        const double x = is_step ? 1.0 : std::max(-farthest, std::min(row.values[i], farthest));
        for (std::size_t q = 0; q < Q; ++q) add_scaled(b + q * quad_size, x, sums[q]);
    }
    double found[Q * quad_size];
    std::memcpy(found, sums, sizeof found);
    for (std::size_t k = 0; k < n; ++k) joint[first + k] += found[k];
}

// A lambda would be compiled for the oldest processor alone.
NAIVELY_CLONES void add_cells(const Cells& row, const Cells& next, const Lines& lines, bool is_step,
                              double* joint) {
    for (std::size_t first = 0; first < lines.n_classes; first += most_quads * quad_size) {
        switch ((lines.n_classes - first + quad_size - 1) / quad_size) {
            case 1: add_row<1>(row, next, lines, first, is_step, joint); break;
            case 2: add_row<2>(row, next, lines, first, is_step, joint); break;
            case 3: add_row<3>(row, next, lines, first, is_step, joint); break;
            case 4: add_row<4>(row, next, lines, first, is_step, joint); break;
            case 5: add_row<5>(row, next, lines, first, is_step, joint); break;
            case 6: add_row<6>(row, next, lines, first, is_step, joint); break;
            case 7: add_row<7>(row, next, lines, first, is_step, joint); break;
            default: add_row<most_quads>(row, next, lines, first, is_step, joint);
        }
    }
}

}  // namespace

Finding add_sparse_lines(const SparseRows& X, const double* A, const double* B, const double* step,
                         std::size_t n_classes, double* joint) {
    const Lines lines{B, n_classes, X.n_columns};
    const Reading reading{true, step != nullptr, true, step};
    RowReader first(X, reading), second(X, reading);
    RowReader *current = &first, *next = &second;
    Problem problem = X.n_rows > 0 ? current->read(0) : Problem::none;
    for (std::size_t i = 0; i < X.n_rows; ++i) {
        if (problem != Problem::none) return {problem, i};
        next->cells.n = 0;
        if (i + 1 < X.n_rows) problem = next->read(i + 1);
        if (problem != Problem::none) next->cells.n = 0;
        double* row = joint + i * n_classes;
        add_cells(current->cells, next->cells, lines, step != nullptr, row);
        if (A != nullptr)
            for (const std::uint32_t place : current->missing)
                for (std::size_t k = 0; k < n_classes; ++k) row[k] -= A[place * n_classes + k];
        std::swap(current, next);
    }
    return {};
}

}  // namespace naively
