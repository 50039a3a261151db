// Lanes as pairs of registers of 256 bits, for processors without wider ones.
//
// A compiler that has to cut vectors of 512 bits in two keeps the halves in memory, which makes
// everything five times as slow. These pairs stay in registers. They have the operators of `Lanes`
// and `ShortLanes`, and the same results, bit for bit.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "simd.hpp"

namespace naively {

template <class Half> struct Pair {
    Half low{}, high{};

    // Copied half by half: a copy of the whole would go through memory in smaller pieces.
    Pair() = default;
    NAIVELY_INLINE Pair(const Half& low, const Half& high) : low(low), high(high) {}
    NAIVELY_INLINE Pair(const Pair& other) : low(other.low), high(other.high) {}
    NAIVELY_INLINE Pair& operator=(const Pair& other) {
        low = other.low, high = other.high;
        return *this;
    }

    using Number = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<Half&>()[0])>>;
    static constexpr std::size_t half = sizeof(Half) / sizeof(Number);

    NAIVELY_INLINE Number operator[](std::size_t i) const {
        return i < half ? low[i] : high[i - half];
    }
    NAIVELY_INLINE friend Pair operator+(const Pair& a, const Pair& b) {
        return {a.low + b.low, a.high + b.high};
    }
    NAIVELY_INLINE friend Pair operator-(const Pair& a, const Pair& b) {
        return {a.low - b.low, a.high - b.high};
    }
    NAIVELY_INLINE friend Pair operator*(const Pair& a, const Pair& b) {
        return {a.low * b.low, a.high * b.high};
    }
    NAIVELY_INLINE friend Pair operator/(const Pair& a, const Pair& b) {
        return {a.low / b.low, a.high / b.high};
    }
    NAIVELY_INLINE friend Pair operator+(const Pair& a, Number b) {
        return {a.low + b, a.high + b};
    }
    NAIVELY_INLINE friend Pair operator-(const Pair& a, Number b) {
        return {a.low - b, a.high - b};
    }
    NAIVELY_INLINE friend Pair operator*(const Pair& a, Number b) {
        return {a.low * b, a.high * b};
    }
    NAIVELY_INLINE Pair& operator+=(const Pair& b) {
        low += b.low, high += b.high;
        return *this;
    }
};

typedef float FourShortLanes __attribute__((vector_size(16)));
typedef long long FourMasks __attribute__((vector_size(32)));

using PairLanes = Pair<FourLanes>;
using ShortPairLanes = Pair<HalfLanes>;
struct PairMask {
    FourMasks low, high;
};

NAIVELY_INLINE void load(const double* from, PairLanes& x) {
    std::memcpy(&x.low, from, sizeof x.low);
    std::memcpy(&x.high, from + 4, sizeof x.high);
}
NAIVELY_INLINE void load(const float* from, PairLanes& x) {
    FourShortLanes low, high;
    std::memcpy(&low, from, sizeof low);
    std::memcpy(&high, from + 4, sizeof high);
    x = {__builtin_convertvector(low, FourLanes), __builtin_convertvector(high, FourLanes)};
}
NAIVELY_INLINE void store(const PairLanes& x, double* to) {
    std::memcpy(to, &x.low, sizeof x.low);
    std::memcpy(to + 4, &x.high, sizeof x.high);
}
NAIVELY_INLINE void narrow(const PairLanes& x, HalfLanes& half) {
    half = __builtin_shufflevector(__builtin_convertvector(x.low, FourShortLanes),
                                   __builtin_convertvector(x.high, FourShortLanes), 0, 1, 2, 3, 4,
                                   5, 6, 7);
}
NAIVELY_INLINE void fill(float x, ShortPairLanes& lanes) {
    const HalfLanes all = HalfLanes{} + x;
    lanes = {all, all};
}
NAIVELY_INLINE void find_present(const PairLanes& x, PairMask& present) {
    present = {x.low == x.low, x.high == x.high};
}
NAIVELY_INLINE void zero_unless(const PairMask& kept, PairLanes& value) {
    const FourLanes zero{};
    value = {kept.low ? value.low : zero, kept.high ? value.high : zero};
}
NAIVELY_INLINE void zero_where(const PairMask& dropped, PairLanes& value) {
    const FourLanes zero{};
    value = {dropped.low ? zero : value.low, dropped.high ? zero : value.high};
}
NAIVELY_INLINE void set_where_zero(const PairLanes& x, PairLanes& target, const PairLanes& value) {
    const FourLanes zero{};
    target = {x.low == zero ? value.low : target.low, x.high == zero ? value.high : target.high};
}
NAIVELY_INLINE void set_where_missing(const ShortPairLanes& x, ShortPairLanes& target,
                                      float value) {
    const HalfLanes filled = HalfLanes{} + value;
    target = {x.low == x.low ? target.low : filled, x.high == x.high ? target.high : filled};
}
NAIVELY_INLINE void set_where_greater(const PairLanes& a, const PairLanes& b, PairLanes& target,
                                      const PairLanes& value) {
    target = {a.low > b.low ? value.low : target.low, a.high > b.high ? value.high : target.high};
}
NAIVELY_INLINE void set_where_less(const ShortPairLanes& a, const ShortPairLanes& b,
                                   ShortPairLanes& target, const ShortPairLanes& value) {
    target = {a.low < b.low ? value.low : target.low, a.high < b.high ? value.high : target.high};
}
NAIVELY_INLINE void set_root_of_two(const PairLanes& bits, PairLanes& root) {
    double roots[lane_count];
    for (std::size_t i = 0; i < lane_count; ++i) set_root_of_two(bits[i], roots[i]);
    load(roots, root);
}
NAIVELY_INLINE void multiply_by_power_of_two(const FourLanes& bits, FourLanes& x) {
    FourMasks exponent, of_x;
    std::memcpy(&exponent, &bits, sizeof exponent);
    std::memcpy(&of_x, &x, sizeof of_x);
    of_x += exponent >> 4 << 52;
    std::memcpy(&x, &of_x, sizeof x);
}
NAIVELY_INLINE void multiply_by_power_of_two(const PairLanes& bits, PairLanes& x) {
    multiply_by_power_of_two(bits.low, x.low);
    multiply_by_power_of_two(bits.high, x.high);
}

NAIVELY_INLINE void transpose(const FourLanes& a, const FourLanes& b, const FourLanes& c,
                              const FourLanes& d, FourLanes (&out)[4]) {
    const FourLanes ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const FourLanes ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const FourLanes cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    const FourLanes cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    out[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    out[2] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    out[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}
NAIVELY_INLINE void transpose(PairLanes (&s)[lane_count]) {
    FourLanes a[4], b[4], c[4], d[4];
    transpose(s[0].low, s[1].low, s[2].low, s[3].low, a);
    transpose(s[0].high, s[1].high, s[2].high, s[3].high, b);
    transpose(s[4].low, s[5].low, s[6].low, s[7].low, c);
    transpose(s[4].high, s[5].high, s[6].high, s[7].high, d);
    for (std::size_t i = 0; i < 4; ++i) {
        s[i] = {a[i], c[i]};
        s[i + 4] = {b[i], d[i]};
    }
}

NAIVELY_INLINE void transpose(const HalfLanes* rows, HalfLanes (&columns)[lane_count]) {
    HalfLanes pair[lane_count], quad[lane_count];
    for (std::size_t i = 0; i < lane_count; i += 2) {
        pair[i] = __builtin_shufflevector(rows[i], rows[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pair[i + 1] = __builtin_shufflevector(rows[i], rows[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (std::size_t i = 0; i < lane_count; i += 4)
        for (std::size_t at = 0; at < 2; ++at) {
            const HalfLanes &a = pair[i + at], &b = pair[i + at + 2];
            quad[i + 2 * at] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
            quad[i + 2 * at + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (std::size_t i = 0; i < 4; ++i) {
        columns[i] = __builtin_shufflevector(quad[i], quad[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        columns[i + 4] = __builtin_shufflevector(quad[i], quad[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
NAIVELY_INLINE void transpose(const HalfLanes (&rows)[2 * lane_count],
                              ShortPairLanes (&columns)[lane_count]) {
    HalfLanes low[lane_count], high[lane_count];
    transpose(rows, low);
    transpose(rows + lane_count, high);
    for (std::size_t c = 0; c < lane_count; ++c) columns[c] = {low[c], high[c]};
}

}  // namespace naively
