// Eight doubles that move together, and the builds of a hot function for newer processors.
//
// Where the compiler has vector types, `Lanes` is one: it maps onto one 512-bit, two 256-bit or
// four 128-bit registers. Anywhere else, and where NAIVELY_PORTABLE is defined, it is made of
// single numbers, with the same operators and the same results, bit for bit: products and sums are
// never contracted (the build passes -ffp-contract=off), so the answer does not depend on the
// processor.
//
// NAIVELY_CLONES marks a function to be compiled for several instruction sets, one of which
// is chosen when the module is loaded. It expands to nothing where the compiler lacks it. Functions
// of lanes that take most of the time are compiled by NAIVELY_BY_REGISTERS (see `registers.hpp`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(NAIVELY_HAS_TARGET_CLONES) && !defined(NAIVELY_PORTABLE)
#define NAIVELY_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NAIVELY_CLONES
#endif

#if defined(NAIVELY_HAS_VECTORS) && !defined(NAIVELY_PORTABLE)
#define NAIVELY_VECTORS 1
#define NAIVELY_INLINE inline __attribute__((always_inline))
#define NAIVELY_RESTRICT __restrict__
#define NAIVELY_PREFETCH(address) __builtin_prefetch(address)
#define NAIVELY_PREFETCH_FAR(address) __builtin_prefetch(address, 0, 2)
#else
#define NAIVELY_INLINE inline
#define NAIVELY_RESTRICT
#define NAIVELY_PREFETCH(address) static_cast<void>(address)
#define NAIVELY_PREFETCH_FAR(address) static_cast<void>(address)
#endif

namespace naively {

constexpr std::size_t lane_count = 8;

// 2^(i/16)
alignas(64) constexpr double roots_of_two[16] = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
};

NAIVELY_INLINE void set_root_of_two(const double& bits, double& root) {
    std::uint64_t at;
    std::memcpy(&at, &bits, sizeof at);
    root = roots_of_two[at & 15];
}
NAIVELY_INLINE void multiply_by_power_of_two(const double& bits, double& x) {
    std::uint64_t exponent, of_x;
    std::memcpy(&exponent, &bits, sizeof exponent);
    std::memcpy(&of_x, &x, sizeof of_x);
    of_x += exponent >> 4 << 52;
    std::memcpy(&x, &of_x, sizeof x);
}

// What there is of lanes, for a single number.

NAIVELY_INLINE void load(const double* from, double& x) { x = *from; }
NAIVELY_INLINE void load(const float* from, double& x) { x = static_cast<double>(*from); }
NAIVELY_INLINE void store(const double& x, double* to) { *to = x; }
NAIVELY_INLINE void narrow(const double& x, float& half) { half = static_cast<float>(x); }
NAIVELY_INLINE void fill(float x, float& lane) { lane = x; }
NAIVELY_INLINE void find_present(const double& x, bool& present) { present = x == x; }
NAIVELY_INLINE void zero_unless(bool kept, double& value) { value = kept ? value : 0.0; }
NAIVELY_INLINE void zero_where(bool dropped, double& value) { value = dropped ? 0.0 : value; }
NAIVELY_INLINE void set_where_zero(const double& x, double& target, const double& value) {
    target = x == 0.0 ? value : target;
}
NAIVELY_INLINE void set_where_missing(const float& x, float& target, float value) {
    target = x == x ? target : value;
}
NAIVELY_INLINE void set_where_greater(const double& a, const double& b, double& target,
                                      const double& value) {
    target = a > b ? value : target;
}
NAIVELY_INLINE void set_where_less(const float& a, const float& b, float& target,
                                   const float& value) {
    target = a < b ? value : target;
}
template <class T> NAIVELY_INLINE void transpose(T (&)[1]) {}

#ifdef NAIVELY_VECTORS

typedef double Lanes __attribute__((vector_size(64)));
typedef float ShortLanes __attribute__((vector_size(64)));  // sixteen

typedef float HalfLanes __attribute__((vector_size(32)));  // eight
typedef long long Mask __attribute__((vector_size(64)));   // per lane: all bits, or none

typedef double FourLanes __attribute__((vector_size(32)));
typedef float FourShortLanes __attribute__((vector_size(16)));
typedef long long FourMasks __attribute__((vector_size(32)));

typedef double TwoLanes __attribute__((vector_size(16)));
typedef float TwoShortLanes __attribute__((vector_size(8)));
typedef long long TwoMasks __attribute__((vector_size(16)));

// V is a vector of any length.
template <class V> NAIVELY_INLINE void load(const double* from, V& x) {
    std::memcpy(&x, from, sizeof x);
}
NAIVELY_INLINE void load(const float* from, Lanes& x) {
    HalfLanes numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    x = __builtin_convertvector(numbers, Lanes);
}
NAIVELY_INLINE void load(const float* from, FourLanes& x) {
    FourShortLanes numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    x = __builtin_convertvector(numbers, FourLanes);
}
NAIVELY_INLINE void load(const float* from, TwoLanes& x) {
    TwoShortLanes numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    x = __builtin_convertvector(numbers, TwoLanes);
}
// Two numbers of a row and two of another.
template <class T> NAIVELY_INLINE void load(const T* row, const T* other, FourLanes& x) {
    TwoLanes low, high;
    load(row, low);
    load(other, high);
    x = __builtin_shufflevector(low, high, 0, 1, 2, 3);
}

template <class V> NAIVELY_INLINE void store(const V& x, double* to) {
    std::memcpy(to, &x, sizeof x);
}

NAIVELY_INLINE void narrow(const Lanes& x, HalfLanes& half) {
    half = __builtin_convertvector(x, HalfLanes);
}
NAIVELY_INLINE void narrow(const FourLanes& x, FourShortLanes& half) {
    half = __builtin_convertvector(x, FourShortLanes);
}

// The same number in all lanes: a shuffle becomes one instruction, a list of lanes does not.
NAIVELY_INLINE void fill(float x, ShortLanes& lanes) {
    ShortLanes first{};
    first[0] = x;
    lanes = __builtin_shufflevector(first, first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}
template <class V> NAIVELY_INLINE void fill(float x, V& lanes) { lanes = V{} + x; }

// NaN is how a missing cell arrives.
template <class V, class M> NAIVELY_INLINE void find_present(const V& x, M& present) {
    present = x == x;
}
template <class M, class V> NAIVELY_INLINE void zero_unless(const M& kept, V& value) {
    value = kept ? value : V{};
}
template <class M, class V> NAIVELY_INLINE void zero_where(const M& dropped, V& value) {
    value = dropped ? V{} : value;
}

// target = x is zero ? value : target
template <class V> NAIVELY_INLINE void set_where_zero(const V& x, V& target, const V& value) {
    target = x == V{} ? value : target;
}

// target = x is NaN ? value : target
template <class V> NAIVELY_INLINE void set_where_missing(const V& x, V& target, float value) {
    V filled;
    fill(value, filled);
    target = x == x ? target : filled;
}

// target = a > b ? value : target
template <class V>
NAIVELY_INLINE void set_where_greater(const V& a, const V& b, V& target, const V& value) {
    target = a > b ? value : target;
}

// target = a < b ? value : target
template <class V>
NAIVELY_INLINE void set_where_less(const V& a, const V& b, V& target, const V& value) {
    target = a < b ? value : target;
}

// root = 2^(i/16), where the last four bits are i
NAIVELY_INLINE void set_root_of_two(const Lanes& bits, Lanes& root) {
    Mask at;
    std::memcpy(&at, &bits, sizeof at);
#ifdef __clang__
    for (std::size_t i = 0; i < lane_count; ++i) root[i] = roots_of_two[at[i] & 15];
#else
    Lanes low, high;
    load(roots_of_two, low);
    load(roots_of_two + lane_count, high);
    root = __builtin_shuffle(low, high, at);
#endif
}
NAIVELY_INLINE void set_root_of_two(const FourLanes& bits, FourLanes& root) {
    FourMasks at;
    std::memcpy(&at, &bits, sizeof at);
    root = FourLanes{roots_of_two[at[0] & 15], roots_of_two[at[1] & 15], roots_of_two[at[2] & 15],
                     roots_of_two[at[3] & 15]};
}
NAIVELY_INLINE void set_root_of_two(const TwoLanes& bits, TwoLanes& root) {
    TwoMasks at;
    std::memcpy(&at, &bits, sizeof at);
    root = TwoLanes{roots_of_two[at[0] & 15], roots_of_two[at[1] & 15]};
}

// x *= 2^m, where the last bits are 16 m + i
template <class V> NAIVELY_INLINE void multiply_by_power_of_two(const V& bits, V& x) {
    typedef std::uint64_t Bits __attribute__((vector_size(sizeof(V))));
    Bits exponent, of_x;
    std::memcpy(&exponent, &bits, sizeof exponent);
    std::memcpy(&of_x, &x, sizeof of_x);
    of_x += exponent >> 4 << 52;
    std::memcpy(&x, &of_x, sizeof x);
}

// left[i], right[i] = x[i * stride], x[i * stride + 1], for as many rows as V has numbers. Memory
// puts rows side by side, which leaves one shuffle a column; `left` and `right` are aligned.
template <class V, class T>
NAIVELY_INLINE void turn_two_columns(const T* x, std::size_t stride, double* left, double* right) {
    V even, odd;
    if constexpr (sizeof(V) == sizeof(FourLanes)) {
        load(x, x + 2 * stride, even);
        load(x + stride, x + 3 * stride, odd);
        *reinterpret_cast<V*>(left) = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
        *reinterpret_cast<V*>(right) = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
    } else {
        load(x, even);
        load(x + stride, odd);
        *reinterpret_cast<V*>(left) = __builtin_shufflevector(even, odd, 0, 2);
        *reinterpret_cast<V*>(right) = __builtin_shufflevector(even, odd, 1, 3);
    }
}

// square[i][l] becomes square[l][i]
NAIVELY_INLINE void transpose(TwoLanes (&square)[2]) {
    const TwoLanes a = square[0], b = square[1];
    square[0] = __builtin_shufflevector(a, b, 0, 2);
    square[1] = __builtin_shufflevector(a, b, 1, 3);
}
NAIVELY_INLINE void transpose(FourLanes (&square)[4]) {
    const auto [a, b, c, d] = square;
    const FourLanes ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const FourLanes ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const FourLanes cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    const FourLanes cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    square[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    square[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    square[2] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    square[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}
NAIVELY_INLINE void transpose(Lanes (&square)[lane_count]) {
    Lanes pair[lane_count], quad[lane_count];
    for (std::size_t i = 0; i < lane_count; i += 2) {
        pair[i] = __builtin_shufflevector(square[i], square[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pair[i + 1] = __builtin_shufflevector(square[i], square[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (std::size_t i = 0; i < lane_count; i += 4)
        for (std::size_t at = i; at < i + 2; ++at) {
            quad[at] = __builtin_shufflevector(pair[at], pair[at + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            quad[at + 2] =
                __builtin_shufflevector(pair[at], pair[at + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (std::size_t i = 0; i < 4; ++i) {
        square[i] = __builtin_shufflevector(quad[i], quad[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        square[i + 4] = __builtin_shufflevector(quad[i], quad[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
NAIVELY_INLINE void transpose(HalfLanes (&square)[lane_count]) {
    HalfLanes pair[lane_count], quad[lane_count];
    for (std::size_t i = 0; i < lane_count; i += 2) {
        pair[i] = __builtin_shufflevector(square[i], square[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        pair[i + 1] = __builtin_shufflevector(square[i], square[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (std::size_t i = 0; i < lane_count; i += 4)
        for (std::size_t at = 0; at < 2; ++at) {
            const HalfLanes &a = pair[i + at], &b = pair[i + at + 2];
            quad[i + 2 * at] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
            quad[i + 2 * at + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (std::size_t i = 0; i < 4; ++i) {
        square[i] = __builtin_shufflevector(quad[i], quad[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        square[i + 4] = __builtin_shufflevector(quad[i], quad[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
NAIVELY_INLINE void transpose(FourShortLanes (&square)[4]) {
    const auto [a, b, c, d] = square;
    const FourShortLanes ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const FourShortLanes ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const FourShortLanes cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const FourShortLanes cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    square[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    square[1] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    square[2] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    square[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}

// rows[i][l] becomes columns[l][i], for sixteen rows. Rows 0, 4, 8 and 12 share a register from
// the start, so that nothing crosses its quarters later.
NAIVELY_INLINE void transpose(const HalfLanes (&rows)[2 * lane_count],
                              ShortLanes (&columns)[lane_count]) {
    ShortLanes quarter[2][4];
    for (std::size_t r = 0; r < 4; ++r) {
        const ShortLanes a = __builtin_shufflevector(rows[r], rows[r + 4], 0, 1, 2, 3, 4, 5, 6, 7,
                                                     8, 9, 10, 11, 12, 13, 14, 15);
        const ShortLanes b = __builtin_shufflevector(rows[r + 8], rows[r + 12], 0, 1, 2, 3, 4, 5, 6,
                                                     7, 8, 9, 10, 11, 12, 13, 14, 15);
        quarter[0][r] =
            __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
        quarter[1][r] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23,
                                                28, 29, 30, 31);
    }
    for (std::size_t half = 0; half < 2; ++half) {
        const ShortLanes(&q)[4] = quarter[half];
        for (std::size_t at = 0; at < 2; ++at) {
            ShortLanes a, b;
            if (at == 0) {
                a = __builtin_shufflevector(q[0], q[1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25,
                                            12, 28, 13, 29);
                b = __builtin_shufflevector(q[2], q[3], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25,
                                            12, 28, 13, 29);
            } else {
                a = __builtin_shufflevector(q[0], q[1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27,
                                            14, 30, 15, 31);
                b = __builtin_shufflevector(q[2], q[3], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27,
                                            14, 30, 15, 31);
            }
            columns[4 * half + 2 * at] = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21,
                                                                 8, 9, 24, 25, 12, 13, 28, 29);
            columns[4 * half + 2 * at + 1] = __builtin_shufflevector(
                a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
        }
    }
}

#endif

// Lanes as pairs of registers, or as pairs of pairs, for processors without registers of 512 bits,
// and down to single numbers where the compiler has no vector types.
//
// A compiler that has to cut vectors of 512 bits in pieces keeps the pieces in memory, which makes
// everything five times as slow. These pairs stay in registers. They have the operators of `Lanes`
// and `ShortLanes`, and the same results, bit for bit.

template <class V> NAIVELY_INLINE auto lane(const V& x, std::size_t i) {
    if constexpr (std::is_arithmetic_v<V>)
        return x;
    else
        return x[i];
}
template <class V>
using NumberOf = std::remove_cv_t<std::remove_reference_t<decltype(lane(std::declval<V&>(), 0))>>;

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

    using Number = NumberOf<Half>;
    static constexpr std::size_t half = sizeof(Half) / sizeof(Number);

    NAIVELY_INLINE Number operator[](std::size_t i) const {
        return i < half ? lane(low, i) : lane(high, i - half);
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

// What there is of lanes, for each half.
template <class Half> NAIVELY_INLINE void load(const double* from, Pair<Half>& x) {
    load(from, x.low);
    load(from + Pair<Half>::half, x.high);
}
template <class Half> NAIVELY_INLINE void load(const float* from, Pair<Half>& x) {
    load(from, x.low);
    load(from + Pair<Half>::half, x.high);
}
template <class Half> NAIVELY_INLINE void store(const Pair<Half>& x, double* to) {
    store(x.low, to);
    store(x.high, to + Pair<Half>::half);
}
template <class Half> NAIVELY_INLINE void fill(float x, Pair<Half>& lanes) {
    fill(x, lanes.low);
    fill(x, lanes.high);
}
template <class Half, class HalfMask>
NAIVELY_INLINE void find_present(const Pair<Half>& x, Pair<HalfMask>& present) {
    find_present(x.low, present.low);
    find_present(x.high, present.high);
}
template <class HalfMask, class Half>
NAIVELY_INLINE void zero_unless(const Pair<HalfMask>& kept, Pair<Half>& value) {
    zero_unless(kept.low, value.low);
    zero_unless(kept.high, value.high);
}
template <class HalfMask, class Half>
NAIVELY_INLINE void zero_where(const Pair<HalfMask>& dropped, Pair<Half>& value) {
    zero_where(dropped.low, value.low);
    zero_where(dropped.high, value.high);
}
template <class Half>
NAIVELY_INLINE void set_where_zero(const Pair<Half>& x, Pair<Half>& target,
                                   const Pair<Half>& value) {
    set_where_zero(x.low, target.low, value.low);
    set_where_zero(x.high, target.high, value.high);
}
template <class Half>
NAIVELY_INLINE void set_where_missing(const Pair<Half>& x, Pair<Half>& target, float value) {
    set_where_missing(x.low, target.low, value);
    set_where_missing(x.high, target.high, value);
}
template <class Half>
NAIVELY_INLINE void set_where_greater(const Pair<Half>& a, const Pair<Half>& b, Pair<Half>& target,
                                      const Pair<Half>& value) {
    set_where_greater(a.low, b.low, target.low, value.low);
    set_where_greater(a.high, b.high, target.high, value.high);
}
template <class Half>
NAIVELY_INLINE void set_where_less(const Pair<Half>& a, const Pair<Half>& b, Pair<Half>& target,
                                   const Pair<Half>& value) {
    set_where_less(a.low, b.low, target.low, value.low);
    set_where_less(a.high, b.high, target.high, value.high);
}
template <class Half>
NAIVELY_INLINE void set_root_of_two(const Pair<Half>& bits, Pair<Half>& root) {
    set_root_of_two(bits.low, root.low);
    set_root_of_two(bits.high, root.high);
}
template <class Half>
NAIVELY_INLINE void multiply_by_power_of_two(const Pair<Half>& bits, Pair<Half>& x) {
    multiply_by_power_of_two(bits.low, x.low);
    multiply_by_power_of_two(bits.high, x.high);
}

template <class Half, class Narrow>
NAIVELY_INLINE void narrow(const Pair<Half>& x, Pair<Narrow>& half) {
    narrow(x.low, half.low);
    narrow(x.high, half.high);
}
#ifdef NAIVELY_VECTORS
NAIVELY_INLINE void narrow(const Pair<FourLanes>& x, HalfLanes& half) {
    FourShortLanes low, high;
    narrow(x.low, low);
    narrow(x.high, high);
    half = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
NAIVELY_INLINE void narrow(const Pair<TwoLanes>& x, FourShortLanes& half) {
    half = __builtin_shufflevector(__builtin_convertvector(x.low, TwoShortLanes),
                                   __builtin_convertvector(x.high, TwoShortLanes), 0, 1, 2, 3);
}
#endif
template <class Half, std::size_t n> NAIVELY_INLINE void transpose(Pair<Half> (&square)[n]) {
    constexpr std::size_t half = n / 2;
    Half quarter[4][half];
    for (std::size_t i = 0; i < half; ++i) {
        quarter[0][i] = square[i].low, quarter[1][i] = square[i + half].low;
        quarter[2][i] = square[i].high, quarter[3][i] = square[i + half].high;
    }
    for (Half(&q)[half] : quarter) transpose(q);
    for (std::size_t i = 0; i < half; ++i) {
        square[i] = {quarter[0][i], quarter[1][i]};
        square[i + half] = {quarter[2][i], quarter[3][i]};
    }
}

// rows[i][l] becomes columns[l][i], for sixteen rows.
template <class Half>
NAIVELY_INLINE void transpose(const Half (&rows)[2 * lane_count],
                              Pair<Half> (&columns)[lane_count]) {
    Half low[lane_count], high[lane_count];
    for (std::size_t i = 0; i < lane_count; ++i) low[i] = rows[i], high[i] = rows[lane_count + i];
    transpose(low);
    transpose(high);
    for (std::size_t c = 0; c < lane_count; ++c) columns[c] = {low[c], high[c]};
}

#ifndef NAIVELY_VECTORS

using TwoLanes = Pair<double>;
using FourLanes = Pair<TwoLanes>;
using Lanes = Pair<FourLanes>;
using HalfLanes = Pair<Pair<Pair<float>>>;
using ShortLanes = Pair<HalfLanes>;
using Mask = Pair<Pair<Pair<bool>>>;

template <class V, class T>
inline void turn_two_columns(const T* x, std::size_t stride, double* left, double* right) {
    for (std::size_t i = 0; i < sizeof(V) / sizeof(double); ++i) {
        left[i] = static_cast<double>(x[i * stride]);
        right[i] = static_cast<double>(x[i * stride + 1]);
    }
}

#endif

// Whether there is infinity among numbers; NaN is none.

NAIVELY_INLINE bool has_infinity(const double* x, std::size_t n) {
    constexpr std::uint64_t infinite = std::uint64_t{0x7ff} << 53;  // its bits, but for the sign
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, x + i, sizeof bits);
        found |= static_cast<std::uint64_t>(bits << 1 == infinite);
    }
    return found != 0;
}

}  // namespace naively
