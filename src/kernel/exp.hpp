// exp(x) for x <= 0, without branches, so that a loop over it becomes vector instructions.
//
//     exp(x) = 2^n exp(r)    with n = round(x / log 2) and |r| <= log(2) / 2
//
// exp(r) = 1 + (r + r^2 q(r)) by its Taylor polynomial of degree 13, whose remainder is below
// 1e-17. q is summed in pairs of terms, then pairs of pairs: few steps wait for each other, and
// its rounding is small beside 1 + r. log 2 is taken as a sum of two doubles, the first with
// trailing zeros, so that n times it is exact. The result is within 1 ulp, and zero below -708,
// where it would be smaller than any normal double.
#pragma once

#include "simd.hpp"

namespace naively {

// V is Lanes or double.
template <class V> NAIVELY_INLINE void exp_of_negative(const V& x, V& result) {
    constexpr double least = -708.0;
    constexpr double per_log2 = 0x1.71547652b82fep0;
    constexpr double log2_high = 0x1.62e42fefa0000p-1;
    constexpr double log2_low = 0x1.cf79abc9e3b3ap-40;
    constexpr double round_by = 0x1.8p52;  // adding it leaves n in the last bits
    const V lowest = V{} + least;
    V bounded = lowest;
    set_where_greater(x, lowest, bounded, x);
    V power = bounded * per_log2 + round_by;
    const V n = power - round_by;
    const V r = (bounded - n * log2_high) - n * log2_low;
    const V r2 = r * r, r4 = r2 * r2;
    const V a = (r * (1.0 / 6.0) + 1.0 / 2.0) + r2 * (r * (1.0 / 120.0) + 1.0 / 24.0);
    const V b = (r * (1.0 / 5040.0) + 1.0 / 720.0) + r2 * (r * (1.0 / 362880.0) + 1.0 / 40320.0);
    const V c = (r * (1.0 / 39916800.0) + 1.0 / 3628800.0) +
                r2 * (r * (1.0 / 6227020800.0) + 1.0 / 479001600.0);
    const V q = a + r4 * (b + r4 * c);
    to_power_of_two(power);
    result = V{};
    set_where_greater(x, lowest, result, ((r + r2 * q) + 1.0) * power);
}

NAIVELY_INLINE double exp_of_negative(double x) {
    double result;
    exp_of_negative(x, result);
    return result;
}

}  // namespace naively
