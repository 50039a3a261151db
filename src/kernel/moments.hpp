// The statistic (weight, mean, m2) of one column in one class, and its algebra.
//
// m2 is the sum of squared deviations from the mean. Two statistics add by the formula of
// Chan, Golub and LeVeque (1979):
//
//     w    = w_a + w_b
//     mean = mean_a + (mean_b - mean_a) w_b / w
//     m2   = m2_a + m2_b + (mean_b - mean_a)^2 w_a w_b / w
//
// and removal is its inverse. Nothing (weight 0) is the identity, exactly.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "simd.hpp"

namespace naively {

// A weight this small beside the weight it was subtracted from is the rounding of the weights.
constexpr double weight_noise = 8.0 * std::numeric_limits<double>::epsilon();
// A weight or an m2 this far below zero, relative to what it was subtracted from, is still
// rounding: that of all sums before. So is what comes of means that are off by mean_noise.
constexpr double weight_shortfall = 1e-10;
constexpr double m2_noise = 1e-8;
constexpr double mean_noise = 1e-13;

// Adds b to a (weight, mean, m2) of numbers or of lanes. b may be NaN where its weight is zero.
template <class V>
NAIVELY_INLINE void add(const V& b_weight, const V& b_mean, const V& b_m2, V& weight, V& mean,
                        V& m2) {
    const V total = weight + b_weight;
    const V delta = b_mean - mean;
    const V share = b_weight / total;
    V m2_of_both = m2 + (b_m2 + delta * delta * (weight * share));
    V mean_of_both = mean + delta * share;
    set_where_zero(weight, m2_of_both, b_m2);
    set_where_zero(weight, mean_of_both, b_mean);
    set_where_zero(b_weight, m2_of_both, m2);
    set_where_zero(b_weight, mean_of_both, mean);
    weight = total;
    mean = mean_of_both;
    m2 = m2_of_both;
}

struct Moments {
    double weight;
    double mean;
    double m2;

    NAIVELY_INLINE Moments& operator+=(const Moments& b) {
        add(b.weight, b.mean, b.m2, weight, mean, m2);
        return *this;
    }

    // Leaves m2 negative, beyond rounding, where b was never part of this.
    NAIVELY_INLINE Moments& operator-=(const Moments& b) {
        if (b.weight == 0.0) return *this;
        const double rest = weight - b.weight;
        if (std::fabs(rest) <= (rest > 0.0 ? weight_noise : weight_shortfall) * weight)
            return *this = Moments{0.0, 0.0, 0.0};
        const double delta = mean - b.mean;
        const double share = b.weight / rest;
        const double before = m2;
        m2 -= b.m2 + delta * delta * (weight * share);
        if (m2 < 0.0 && m2 >= -noise(b, before, 1.0 + share)) m2 = 0.0;
        mean += delta * share;
        weight = rest;
        return *this;
    }

  private:
    // How far below zero rounding can take m2. The weights' is magnified by the whole weight
    // over the rest; moving means by e under a weight w moves m2 by 2 e sqrt(w m2) + e^2 w.
    NAIVELY_INLINE double noise(const Moments& b, double before, double magnified) const {
        const double e = mean_noise * std::fmax(std::fabs(mean), std::fabs(b.mean));
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

    MomentsArrays offset(std::size_t by) const { return {weight + by, mean + by, m2 + by}; }
    NAIVELY_INLINE Moments get(std::size_t i) const { return {weight[i], mean[i], m2[i]}; }
    NAIVELY_INLINE void set(std::size_t i, const Moments& value) const {
        weight[i] = value.weight;
        mean[i] = value.mean;
        m2[i] = value.m2;
    }
};
using MomentsView = MomentsArrays<double>;
using ConstMomentsView = MomentsArrays<const double>;

}  // namespace naively
