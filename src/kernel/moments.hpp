// The statistic (weight, mean, m2, rest) of one column in one class, and its algebra.
//
// m2 is the sum of squared deviations from the mean. Two statistics add by the formula of
// Chan, Golub and LeVeque (1979):
//
//     w    = w_a + w_b
//     mean = mean_a + (mean_b - mean_a) w_b / w
//     m2   = m2_a + m2_b + (mean_b - mean_a)^2 w_a w_b / w
//
// where a is the heavier of the two: a light part far away must not take digits from the mean.
// and removal is its inverse. Nothing (weight 0) is the identity, exactly.
//
// Far from zero, as at 1e8 plus noise, a mean in one float64 has lost the digits in which the means
// of two parts differ, and m2 loses them too. So a mean is a sum of two: what rounding takes from
// it, less than its last digit, is kept in rest.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "simd.hpp"
#include "table.hpp"

namespace naively {

// A weight this small beside the weight it was subtracted from is the rounding of the weights.
constexpr double weight_noise = 8.0 * std::numeric_limits<double>::epsilon();
// A weight or an m2 this far below zero, relative to what it was subtracted from, is still
// rounding: that of all sums before. So is what comes of means that are off by mean_noise.
constexpr double weight_shortfall = 1e-10;
constexpr double m2_noise = 1e-8;
constexpr double mean_noise = 1e-13;

// a + b is this sum and, exactly, what rounding took from it (Knuth, 1969). Either may be a or b.
template <class V> NAIVELY_INLINE void add_exactly(const V& a, const V& b, V& sum, V& rest) {
    const V rounded = a + b;
    const V of_b = rounded - a;
    const V lost = (a - (rounded - of_b)) + (b - of_b);
    sum = rounded;
    rest = lost;
}

// Of numbers, or of lanes.
template <class V> struct MomentsOf {
    V weight;
    V mean;
    V m2;
    V rest;
};

// Adds b to a. b may be NaN where its weight is zero.
template <class V> NAIVELY_INLINE void add(const MomentsOf<V>& b, MomentsOf<V>& a) {
    MomentsOf<V> both;
    both.weight = a.weight + b.weight;
    const V delta = (b.mean - a.mean) + (b.rest - a.rest);
    V heavy = a.weight, light = b.weight, mean = a.mean, rest = a.rest, step = delta;
    set_where_greater(b.weight, a.weight, heavy, b.weight);
    set_where_greater(b.weight, a.weight, light, a.weight);
    set_where_greater(b.weight, a.weight, mean, b.mean);
    set_where_greater(b.weight, a.weight, rest, b.rest);
    set_where_greater(b.weight, a.weight, step, V{} - delta);
    const V share = light / both.weight;
    both.m2 = a.m2 + (b.m2 + delta * (heavy * share) * delta);
    add_exactly<V>(mean, rest + step * share, both.mean, both.rest);
    set_where_zero(a.weight, both.m2, b.m2);
    set_where_zero(a.weight, both.mean, b.mean);
    set_where_zero(a.weight, both.rest, b.rest);
    set_where_zero(b.weight, both.m2, a.m2);
    set_where_zero(b.weight, both.mean, a.mean);
    set_where_zero(b.weight, both.rest, a.rest);
    a = both;
}

struct Moments : MomentsOf<double> {
    // Leaves m2 negative, beyond rounding, where b was never part of this.
    NAIVELY_INLINE Moments& operator-=(const Moments& b) {
        if (b.weight == 0.0) return *this;
        const double left = weight - b.weight;
        if (std::fabs(left) <= (left > 0.0 ? weight_noise : weight_shortfall) * weight)
            return *this = Moments{};
        const double delta = (mean - b.mean) + (rest - b.rest);
        const double share = b.weight / left;
        const double before = m2;
        m2 -= b.m2 + delta * delta * (weight * share);
        if (m2 < 0.0 && m2 >= -noise(b, before, 1.0 + share)) m2 = 0.0;
        add_exactly(mean, rest + delta * share, mean, rest);
        weight = left;
        return *this;
    }

  private:
    // How far below zero rounding can take m2. The weights' is magnified by the whole weight
    // over what is left; moving means by e under a weight w moves m2 by 2 e sqrt(w m2) + e^2 w.
    // Of means that are far apart, e is the lesser's: the greater's is in the rounding of m2.
    NAIVELY_INLINE double noise(const Moments& b, double before, double magnified) const {
        const double e = mean_noise * std::fmin(std::fabs(mean), std::fabs(b.mean));
        const double w = weight * magnified;
        return (m2_noise + weight_noise * magnified) * before + 2.0 * e * std::sqrt(w * before) +
               e * e * w;
    }
};

// The same over arrays of statistics, each quantity in its own array.
template <class Double> struct MomentsArrays {
    Double* weight;
    Double* mean;
    Double* m2;
    Double* rest;

    MomentsArrays offset(std::size_t by) const {
        return {weight + by, mean + by, m2 + by, rest + by};
    }
    template <class V> NAIVELY_INLINE void get(std::size_t i, MomentsOf<V>& value) const {
        load(weight + i, value.weight);
        load(mean + i, value.mean);
        load(m2 + i, value.m2);
        load(rest + i, value.rest);
    }
    template <class V> NAIVELY_INLINE void set(std::size_t i, const MomentsOf<V>& value) const {
        store(value.weight, weight + i);
        store(value.mean, mean + i);
        store(value.m2, m2 + i);
        store(value.rest, rest + i);
    }
};
using MomentsView = MomentsArrays<double>;
using ConstMomentsView = MomentsArrays<const double>;

// One pass over rows: the moments of every column in every class.
//
// Rows are taken in blocks that stay in the cache. Within a block, class k and column j keep
// the sums of d and of d^2, where d = x - shift and the shift is the value in the first row
// of the class. Then, with w the weight of the cells,
//
//     mean = shift + sum / w        m2 = squares - sum^2 / w
//
// The subtraction loses at most a factor squares / m2 of accuracy. Where that factor exceeds
// 32 (the first row was an outlier), the block is read again with the mean as the shift: the
// corrected two-pass algorithm. Blocks add up by Chan's formula.
//
// Blocks depend on the number of rows and classes alone, so the result does too.

// Adds the rows of X to `out`, an array of n_classes x X.n_columns statistics, and their
// weight to `class_weight`. NaN is a missing cell.
//
// Status::not_finite: X holds infinity, or numbers so large that their variance does.
Status summarize(const Table& X, const Labelled& rows, double* class_weight,
                 const MomentsView& out);

// a += b and a -= b for n statistics; false where a mean or an m2 is not finite any more.
bool add(const MomentsView& a, const ConstMomentsView& b, std::size_t n);
bool subtract(const MomentsView& a, const ConstMomentsView& b, std::size_t n);

// The largest mean, without its sign.
double largest_mean(const ConstMomentsView& a, std::size_t n);

// Reads the parameters of Gaussians off the moments of classes and columns.

// Adds up the classes, column by column: in all of them together,
//
//     m2 = sum_k m2_k + sum_k w_k (mean_k - mean)^2
void pool(const ConstMomentsView& moments, std::size_t n_classes, std::size_t n_columns,
          const MomentsView& out);

// Cells, each of some weight in some class, of `n_columns` columns.
struct CellsOfRows {
    const double* values;
    const std::int32_t* codes;
    const double* weights;
    std::size_t n_rows;
};

// The moments of each row's own class without the row, by row and column; zero where nothing is
// left, meaningless where the cell is missing. There is no rest in `out`.
void moments_without(const CellsOfRows& rows, const ConstMomentsView& moments,
                     std::size_t n_columns, const MomentsView& out);

// How variances are smoothed: by a part of each column's own, or of the largest column's.
struct Smoothing {
    double part;
    bool by_column;
    double ddof;
};

// The variances of classes and columns, m2 / (w - ddof) + epsilon. `epsilon` holds one number for
// each column; if smoothing is not by column, they are equal. False, with nothing that counts
// written, where that is not the whole story: a class has too few cells, or a variance is nothing
// that a double holds well.
bool plain_variances(const ConstMomentsView& moments, std::size_t n_classes, std::size_t n_columns,
                     const Smoothing& smoothing, double* variance, double* epsilon);

struct Gaussians {
    const double *mean, *variance, *weight;  // by class and column
};

// A, B and mu by column and class, the weights folded in. False where these differ between the
// classes of a column, or where B would be no ordinary double.
bool plain_quadratics(const Gaussians& gaussians, std::size_t n_classes, std::size_t n_columns,
                      double* A, double* B, double* mu);

}  // namespace naively
