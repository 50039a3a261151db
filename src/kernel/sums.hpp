// What the sums of a class amount to: whether they can be trusted, and the moments.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>

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

}  // namespace naively
