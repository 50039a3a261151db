// The exponential and the logarithm of lanes.
#pragma once

#include <cstdint>
#include <cstring>

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

// log(1 + u) for 0 <= u <= 2^1000, without branches, so that a loop over it becomes vector
// instructions.
//
//     1 + u = 2^n (1 + f)    with sqrt(1/2) <= 1 + f < sqrt(2)
//     log(1 + f) = 2s + s^3 P(s^2)    with s = f / (2 + f)
//
// P is the polynomial of degree 6 that is nearest, in the largest error, to
// (log((1 + s) / (1 - s)) / s - 2) / s^2 = 2/3 + 2/5 s^2 + 2/7 s^4 + ...; it is off by less than
// 3e-18 of f. Where n is 0, f is u itself, so that the result is within 4 ulp of itself however
// small u is. log 2 is a sum of two doubles, as for the exponential.

NAIVELY_INLINE double log_of_one_plus(double u) {
    constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;  // its bits
    constexpr std::uint64_t two_to_52 = 0x4330000000000000;     // its last bits hold an integer
    constexpr double log2_high = 0x1.62e42fefa0000p-1;
    constexpr double log2_low = 0x1.cf79abc9e3b3ap-40;
    const double t = 1.0 + u;
    std::uint64_t bits;
    std::memcpy(&bits, &t, sizeof bits);
    const std::uint64_t exponent = (bits - root_of_half) >> 52;
    const std::uint64_t scale_bits = (1023 - exponent) << 52;
    const std::uint64_t n_bits = two_to_52 | exponent;
    double scale, n;
    std::memcpy(&scale, &scale_bits, sizeof scale);
    std::memcpy(&n, &n_bits, sizeof n);
    n -= 0x1p52;
    const double f = exponent == 0 ? u : t * scale - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;
    double p = 0x1.2f50f403efc35p-3;
    p = p * z + 0x1.399d29557de02p-3;
    p = p * z + 0x1.746647dcc9a28p-3;
    p = p * z + 0x1.c71c52be82c40p-3;
    p = p * z + 0x1.2492493fad539p-2;
    p = p * z + 0x1.99999999847eap-2;
    p = p * z + 0x1.555555555557cp-1;
    return n * log2_high + (s * (2.0 + z * p) + n * log2_low);
}

}  // namespace naively
