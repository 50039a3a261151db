// What the sums of a class amount to: whether they can be trusted, and the moments.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>

#include "moments.hpp"
#include "simd.hpp"

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
NAIVELY_INLINE void add_at(const V& w, const V& mean, const V& m2, const MomentsView& out,
                           std::size_t i) {
    V total, mean_of_all, m2_of_all;
    load(out.weight + i, total);
    load(out.mean + i, mean_of_all);
    load(out.m2 + i, m2_of_all);
    add(w, mean, m2, total, mean_of_all, m2_of_all);
    store(total, out.weight + i);
    store(mean_of_all, out.mean + i);
    store(m2_of_all, out.m2 + i);
}

// Adds the moments that sums amount to, the means less the origin. V is Lanes or double.
template <class V>
NAIVELY_INLINE void add_moments_at(const Lines& lines, const double* origin, const MomentsView& out,
                                   std::size_t j) {
    V w, mean, sum, squares, from;
    load(lines.cells + j, w);
    load(lines.shift + j, mean);
    load(lines.sum + j, sum);
    load(lines.squares + j, squares);
    load(origin + j, from);
    const V share = sum / w;
    V m2 = squares - sum * share;
    set_where_greater(V{}, m2, m2, V{});
    add_at(w, (mean - from) + share, m2, out, j);
}
NAIVELY_CLONES static void add_moments(const Lines& lines, const double* origin,
                                       const MomentsView& out, std::size_t n) {
    std::size_t j = 0;
    for (; j + lane_count <= n; j += lane_count) add_moments_at<Lanes>(lines, origin, out, j);
    for (; j < n; ++j) add_moments_at<double>(lines, origin, out, j);
}

template <class V>
NAIVELY_INLINE void add_all_at(const MomentsView& a, const ConstMomentsView& b, std::size_t i) {
    V w, mean, m2;
    load(b.weight + i, w);
    load(b.mean + i, mean);
    load(b.m2 + i, m2);
    add_at(w, mean, m2, a, i);
}
NAIVELY_CLONES static void add_all(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    std::size_t i = 0;
    for (; i + lane_count <= n; i += lane_count) add_all_at<Lanes>(a, b, i);
    for (; i < n; ++i) add_all_at<double>(a, b, i);
}

}  // namespace naively
