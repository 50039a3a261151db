// exp(x) for x <= 0, without branches, so that a loop over it becomes vector instructions.
//
//     exp(x) = 2^n exp(r)    with n = round(x / log 2) and |r| <= log(2) / 2
//
// exp(r) by its Taylor polynomial of degree 13, whose remainder is below 1e-17. log 2 is taken
// as a sum of two doubles, the first with trailing zeros, so that n times it is exact. The
// result is within 1 ulp, and zero below -708, where it would be smaller than any normal double.
#pragma once

#include <cstdint>
#include <cstring>

#include "simd.hpp"

namespace naively {

NAIVELY_INLINE double exp_of_negative(double x) {
    constexpr double least = -708.0;
    constexpr double per_log2 = 0x1.71547652b82fep0;
    constexpr double log2_high = 0x1.62e42fefa0000p-1;
    constexpr double log2_low = 0x1.cf79abc9e3b3ap-40;
    constexpr double round_by = 0x1.8p52;  // adding it leaves n in the last bits
    const double bounded = x > least ? x : least;
    const double shifted = bounded * per_log2 + round_by;
    const double n = shifted - round_by;
    const double r = (bounded - n * log2_high) - n * log2_low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 1.0 / 2.0;
    p = p * r + 1.0;
    p = p * r + 1.0;
    std::int64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = static_cast<std::int64_t>((static_cast<std::uint64_t>(bits) + 1023) << 52);
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return x > least ? p * power : 0.0;
}

}  // namespace naively
