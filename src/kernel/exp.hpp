// exp(x) for x <= 0, without branches, so that a loop over it becomes vector instructions.
//
//     exp(x) = 2^m 2^(i/16) exp(r)    with 16 m + i = n = round(16 x / log 2), |r| <= log(2) / 32
//
// 2^(i/16) comes from a table. exp(r) = 1 + (r + r^2 q(r)), where q is the polynomial of degree 4
// that makes the largest error least: 1.2e-17. log 2 is taken as a sum of two doubles, the first
// with trailing zeros, so that n times it is exact. The result is within 1.1 ulp: half of one for
// the entry of the table, and half for the last sum. It is zero below -708, where it would be
// smaller than any normal double.
#pragma once

#include "simd.hpp"

namespace naively {

// V is Lanes or double.
template <class V> NAIVELY_INLINE void exp_of_negative(const V& x, V& result) {
    constexpr double least = -708.0;
    constexpr double per_log2 = 0x1.71547652b82fep4;
    constexpr double log2_high = 0x1.62e42fefa0000p-5;
    constexpr double log2_low = 0x1.cf79abc9e3b3ap-44;
    constexpr double round_by = 0x1.8p52;  // adding it leaves n in the last bits
    const V bits = x * per_log2 + round_by;
    const V n = bits - round_by;
    const V r = (x - n * log2_high) - n * log2_low;
    const V r2 = r * r;
    const V q =
        (r * 0x1.555555548f83ap-3 + 0x1.0000000000005p-1) +
        r2 * ((r * 0x1.11123ab19f9b9p-7 + 0x1.555555545ebabp-5) + r2 * 0x1.6c185ddf88e0ep-10);
    V root;
    set_root_of_two(bits, root);
    V power = root + root * (r + r2 * q);
    multiply_by_power_of_two(bits, power);
    result = V{};
    set_where_greater(x, V{} + least, result, power);
}

NAIVELY_INLINE double exp_of_negative(double x) {
    double result;
    exp_of_negative(x, result);
    return result;
}

}  // namespace naively
