// What the sums of a class amount to: whether they can be trusted, and the moments.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "moments.hpp"
#include "registers.hpp"

namespace naively {

constexpr double worst_cancellation = 32.0;

// The four lines of a class.
struct Lines {
    double *shift, *sum, *squares, *cells;
};

NAIVELY_CLONES static bool all_finite(const double* sum, const double* squares, std::size_t n) {
    long long wrong = 0;
    for (std::size_t j = 0; j < n; ++j)
        wrong |= !(std::fabs(sum[j]) <= DBL_MAX) | !(std::fabs(squares[j]) <= DBL_MAX);
    return wrong == 0;
}

NAIVELY_INLINE bool cancels(double w, double sum, double squares) {
    return squares > worst_cancellation * (squares - sum * (sum / w));  // false where w is zero
}
NAIVELY_CLONES static bool any_cancels(const Lines& lines, std::size_t n) {
    long long any = 0;
    for (std::size_t j = 0; j < n; ++j)
        any |= cancels(lines.cells[j], lines.sum[j], lines.squares[j]);
    return any != 0;
}

template <class V>
NAIVELY_INLINE void add_at(const MomentsOf<V>& b, const MomentsView& out, std::size_t i) {
    MomentsOf<V> a;
    out.get(i, a);
    add(b, a);
    out.set(i, a);
}

// Adds the moments that sums amount to. V is Lanes or double. The sums are of weights divided by
// `unit`.
template <class V>
NAIVELY_INLINE void add_moments_at(const Lines& lines, double unit, const MomentsView& out,
                                   std::size_t j) {
    MomentsOf<V> found;
    V shift, sum, squares;
    load(lines.cells + j, found.weight);
    load(lines.shift + j, shift);
    load(lines.sum + j, sum);
    load(lines.squares + j, squares);
    const V share = sum / found.weight;
    found.m2 = squares - sum * share;
    set_where_greater(V{}, found.m2, found.m2, V{});
    add_exactly<V>(shift, share, found.mean, found.rest);
    found.weight = found.weight * unit;
    found.m2 = found.m2 * unit;
    add_at(found, out, j);
}
template <class R>
NAIVELY_INLINE void add_moments_by(const Lines& lines, double unit, const MomentsView& out,
                                   std::size_t n) {
    using Lanes = typename R::Lanes;
    std::size_t j = 0;
    for (; j + lane_count <= n; j += lane_count) add_moments_at<Lanes>(lines, unit, out, j);
    for (; j < n; ++j) add_moments_at<double>(lines, unit, out, j);
}
NAIVELY_BY_REGISTERS(void, add_moments,
                     (const Lines& lines, double unit, const MomentsView& out, std::size_t n),
                     (lines, unit, out, n))

template <class V>
NAIVELY_INLINE void add_all_at(const MomentsView& a, const ConstMomentsView& b, std::size_t i) {
    MomentsOf<V> one;
    b.get(i, one);
    add_at(one, a, i);
}
NAIVELY_CLONES static void add_all(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    std::size_t i = 0;
    for (; i + lane_count <= n; i += lane_count) add_all_at<Lanes>(a, b, i);
    for (; i < n; ++i) add_all_at<double>(a, b, i);
}

// Adds rows to the sums of their classes: of d and of d^2, where d = x - shift.
//
// Rows of numbers are taken where they are. Columns are taken eight at a time, and eight rows
// of them turned round in registers. Either way a class and column meets its rows in their
// order, so the sums have the same bits.

// Per class, four lines of `width` columns (a multiple of the lanes): shift, sum, squares, cells.
struct State {
    std::size_t width;
    AlignedArray values;

    State(std::size_t n_classes, std::size_t width)
        : width(width), values(aligned_array(n_classes * 4 * width)) {}
    double* shift(std::size_t k) const { return values.get() + (4 * k + 0) * width; }
    double* sum(std::size_t k) const { return values.get() + (4 * k + 1) * width; }
    double* squares(std::size_t k) const { return values.get() + (4 * k + 2) * width; }
    double* cells(std::size_t k) const { return values.get() + (4 * k + 3) * width; }
};

// What is added up, where, and how: `codes` and `weights` begin with the first row; without
// weights each row weighs 1.
struct Sums {
    const std::int32_t* codes;
    const double* weights;
    bool missing;
    double* state;
    std::size_t width;
};

// One row's cells in eight columns, the first of which has its shift here.
template <class R, bool weighted, bool missing>
NAIVELY_INLINE void add_cells(const typename R::Lanes& x, double w, double* shift,
                              std::size_t width) {
    using Lanes = typename R::Lanes;
    Lanes d = x - lanes<R>(shift);
    if (missing) {
        typename R::Mask present;
        find_present(x, present);
        zero_unless(present, d);
        Lanes cell = Lanes{} + w;
        zero_unless(present, cell);
        lanes<R>(shift + 3 * width) += cell;
    }
    const Lanes wd = weighted ? d * w : d;
    lanes<R>(shift + width) += wd;
    lanes<R>(shift + 2 * width) += wd * d;
}

// Rows of doubles or floats. Behind the last column of each, memory must be readable up to a
// multiple of the lanes: what stands there is added up too, in places that are never looked at.
template <class T> struct RowLines {
    const T* x;
    std::size_t stride;
    std::size_t columns;
    std::size_t count;
};

constexpr std::size_t bytes_ahead = 12288;  // in front of the sums, into the second-level cache

template <class R, bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const RowLines<T>& lines, const Sums& sums) {
    const auto [x, stride, columns, count] = lines;
    const auto [codes, weights, _, state, width] = sums;
    const std::size_t later = (bytes_ahead / (columns * sizeof(T)) + 1) * stride;
    for (std::size_t i = 0; i < count; ++i) {
        const double w = weighted ? weights[i] : 1.0;
        if (weighted && w == 0.0) continue;
        const T* from = x + i * stride;
        double* shift = state + static_cast<std::size_t>(codes[i]) * 4 * width;
        for (std::size_t j = 0; j < columns; j += lane_count) {
            NAIVELY_PREFETCH_FAR(from + later + j);
            typename R::Lanes cells;
            load(from + j, cells);
            add_cells<R, weighted, missing>(cells, w, shift + j, width);
        }
    }
}

// The same for rows of one class, the state's only one, wherever they are: `order` lists them,
// and `rows_ahead` more.
template <class T> struct ListedLines {
    RowLines<T> lines;
    const std::uint32_t* order;
};

constexpr std::size_t rows_ahead = 8;

template <class R, bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const ListedLines<T>& listed, const Sums& sums) {
    const auto [x, stride, columns, count] = listed.lines;
    const auto [codes, weights, _, state, width] = sums;
    const std::uint32_t* order = listed.order;
    for (std::size_t i = 0; i < count; ++i) {
        const T* from = x + order[i] * stride;
        const T* later = x + order[i + rows_ahead] * stride;
        const double w = weighted ? weights[order[i]] : 1.0;
        for (std::size_t j = 0; j < columns; j += lane_count) {
            NAIVELY_PREFETCH_FAR(later + j);
            typename R::Lanes cells;
            load(from + j, cells);
            add_cells<R, weighted, missing>(cells, w, state + j, width);
        }
    }
}

// Eight columns of doubles or floats; the last of them may be one and the same.
template <class T> struct ColumnLines {
    const T* x[lane_count];
    std::size_t count;
};

constexpr std::size_t lines_ahead = 16;  // of each column

template <class R, bool weighted, bool missing>
NAIVELY_INLINE void add_square(typename R::Lanes (&square)[lane_count], std::size_t i,
                               std::size_t rows, const Sums sums) {
    const auto [codes, weights, _, state, width] = sums;
    transpose(square);
    for (std::size_t r = 0; r < rows; ++r) {
        const double w = weighted ? weights[i + r] : 1.0;
        if (weighted && w == 0.0) continue;
        double* shift = state + static_cast<std::size_t>(codes[i + r]) * 4 * width;
        add_cells<R, weighted, missing>(square[r], w, shift, width);
    }
}

template <class R, bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const ColumnLines<T>& given_lines, const Sums& given) {
    const ColumnLines<T> lines = given_lines;
    constexpr std::size_t later = lines_ahead * 64 / sizeof(T);
    const Sums sums = given;
    std::size_t i = 0;
    for (; i + lane_count <= lines.count; i += lane_count) {
        typename R::Lanes square[lane_count];
        for (std::size_t l = 0; l < lane_count; ++l) {
            NAIVELY_PREFETCH_FAR(lines.x[l] + i + later);
            load(lines.x[l] + i, square[l]);
        }
        add_square<R, weighted, missing>(square, i, lane_count, sums);
    }
    if (i == lines.count) return;
    typename R::Lanes square[lane_count];
    for (std::size_t l = 0; l < lane_count; ++l) {
        T rest[lane_count]{};
        std::memcpy(rest, lines.x[l] + i, (lines.count - i) * sizeof(T));
        load(rest, square[l]);
    }
    add_square<R, weighted, missing>(square, i, lines.count - i, sums);
}

template <class R, class L>
NAIVELY_INLINE void accumulate_lines_by(const L& lines, const Sums& sums) {
    if (sums.weights == nullptr)
        sums.missing ? accumulate<R, false, true>(lines, sums)
                     : accumulate<R, false, false>(lines, sums);
    else
        sums.missing ? accumulate<R, true, true>(lines, sums)
                     : accumulate<R, true, false>(lines, sums);
}

}  // namespace naively
