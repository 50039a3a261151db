// Lanes as pairs of registers, or as pairs of pairs, for processors without registers of 512 bits.
//
// A compiler that has to cut vectors of 512 bits in pieces keeps the pieces in memory, which makes
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

// What `simd.hpp` has for lanes, for each half.
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

// Eight doubles become eight floats.
NAIVELY_INLINE void narrow(const Pair<FourLanes>& x, HalfLanes& half) {
    half = __builtin_shufflevector(__builtin_convertvector(x.low, FourShortLanes),
                                   __builtin_convertvector(x.high, FourShortLanes), 0, 1, 2, 3, 4,
                                   5, 6, 7);
}
NAIVELY_INLINE void narrow(const Pair<TwoLanes>& x, FourShortLanes& half) {
    half = __builtin_shufflevector(__builtin_convertvector(x.low, TwoShortLanes),
                                   __builtin_convertvector(x.high, TwoShortLanes), 0, 1, 2, 3);
}
NAIVELY_INLINE void narrow(const Pair<Pair<TwoLanes>>& x, Pair<FourShortLanes>& half) {
    narrow(x.low, half.low);
    narrow(x.high, half.high);
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

// rows[i][l] becomes columns[l][i], for as many rows as a column has places.
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
NAIVELY_INLINE void transpose(const FourShortLanes& a, const FourShortLanes& b,
                              const FourShortLanes& c, const FourShortLanes& d,
                              FourShortLanes (&columns)[4]) {
    const FourShortLanes ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const FourShortLanes ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const FourShortLanes cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const FourShortLanes cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    columns[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    columns[1] = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    columns[2] = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    columns[3] = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
}
NAIVELY_INLINE void transpose(const Pair<FourShortLanes>* rows,
                              Pair<FourShortLanes> (&columns)[lane_count]) {
    FourShortLanes quarter[2][2][4];
    for (std::size_t i = 0; i < 2; ++i) {
        const Pair<FourShortLanes>* r = rows + 4 * i;
        transpose(r[0].low, r[1].low, r[2].low, r[3].low, quarter[0][i]);
        transpose(r[0].high, r[1].high, r[2].high, r[3].high, quarter[1][i]);
    }
    for (std::size_t c = 0; c < lane_count; ++c)
        columns[c] = {quarter[c / 4][0][c % 4], quarter[c / 4][1][c % 4]};
}
template <class Half>
NAIVELY_INLINE void transpose(const Half (&rows)[2 * lane_count],
                              Pair<Half> (&columns)[lane_count]) {
    Half low[lane_count], high[lane_count];
    transpose(rows, low);
    transpose(rows + lane_count, high);
    for (std::size_t c = 0; c < lane_count; ++c) columns[c] = {low[c], high[c]};
}

}  // namespace naively
