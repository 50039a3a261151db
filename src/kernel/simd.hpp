// Eight doubles that move together, and the builds of a hot function for newer processors.
//
// Where the compiler has vector types, `Lanes` is one: it maps onto one 512-bit, two 256-bit or
// four 128-bit registers. Anywhere else, and where NAIVELY_PORTABLE is defined, it is a plain array
// with the same operators and the same results, bit for bit: products and sums are never contracted
// (the build passes -ffp-contract=off), so the answer does not depend on the processor.
//
// NAIVELY_CLONES marks a function to be compiled for several instruction sets, one of which
// is chosen when the module is loaded. It expands to nothing where the compiler lacks it.
#pragma once

#include <cstddef>
#include <cstring>

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

#ifdef NAIVELY_VECTORS

typedef double Lanes __attribute__((vector_size(64)));
typedef float ShortLanes __attribute__((vector_size(64)));  // sixteen

typedef float HalfLanes __attribute__((vector_size(32)));  // eight
typedef long long Mask __attribute__((vector_size(64)));   // per lane: all bits, or none

NAIVELY_INLINE void load(const double* from, Lanes& x) { std::memcpy(&x, from, sizeof x); }
NAIVELY_INLINE void load(const float* from, Lanes& x) {
    HalfLanes half;
    std::memcpy(&half, from, sizeof half);
    x = __builtin_convertvector(half, Lanes);
}

// NaN is how a missing cell arrives.
NAIVELY_INLINE void find_present(const Lanes& x, Mask& present) { present = x == x; }
NAIVELY_INLINE void zero_unless(const Mask& kept, Lanes& value) {
    const Lanes zero{};
    value = kept ? value : zero;
}
NAIVELY_INLINE void zero_where(const Mask& dropped, Lanes& value) {
    const Lanes zero{};
    value = dropped ? zero : value;
}

// target = a > b ? value : target
NAIVELY_INLINE void set_where_greater(const Lanes& a, const Lanes& b, Lanes& target,
                                      const Lanes& value) {
    target = a > b ? value : target;
}

// square[i][l] becomes square[l][i]
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

#else

template <class T, std::size_t n> struct PlainLanes {
    T at[n];

    T& operator[](std::size_t i) { return at[i]; }
    T operator[](std::size_t i) const { return at[i]; }

    template <class F> static PlainLanes each(F f) {
        PlainLanes out;
        for (std::size_t i = 0; i < n; ++i) out.at[i] = f(i);
        return out;
    }
    friend PlainLanes operator-(const PlainLanes& a, const PlainLanes& b) {
        return each([&](std::size_t i) { return a.at[i] - b.at[i]; });
    }
    friend PlainLanes operator+(const PlainLanes& a, const PlainLanes& b) {
        return each([&](std::size_t i) { return a.at[i] + b.at[i]; });
    }
    friend PlainLanes operator-(const PlainLanes& a, T b) {
        return each([&](std::size_t i) { return a.at[i] - b; });
    }
    friend PlainLanes operator*(const PlainLanes& a, const PlainLanes& b) {
        return each([&](std::size_t i) { return a.at[i] * b.at[i]; });
    }
    friend PlainLanes operator*(const PlainLanes& a, T b) {
        return each([&](std::size_t i) { return a.at[i] * b; });
    }
    friend PlainLanes operator+(const PlainLanes& a, T b) {
        return each([&](std::size_t i) { return a.at[i] + b; });
    }
    PlainLanes& operator+=(const PlainLanes& b) {
        for (std::size_t i = 0; i < n; ++i) at[i] += b.at[i];
        return *this;
    }
};

using Lanes = PlainLanes<double, lane_count>;
using ShortLanes = PlainLanes<float, 2 * lane_count>;

struct Mask {
    bool at[lane_count];
};

template <class T> inline void load(const T* from, Lanes& x) {
    for (std::size_t i = 0; i < lane_count; ++i) x.at[i] = static_cast<double>(from[i]);
}
inline void find_present(const Lanes& x, Mask& present) {
    for (std::size_t i = 0; i < lane_count; ++i) present.at[i] = x.at[i] == x.at[i];
}
inline void zero_unless(const Mask& kept, Lanes& value) {
    for (std::size_t i = 0; i < lane_count; ++i)
        if (!kept.at[i]) value.at[i] = 0.0;
}
inline void zero_where(const Mask& dropped, Lanes& value) {
    for (std::size_t i = 0; i < lane_count; ++i)
        if (dropped.at[i]) value.at[i] = 0.0;
}

inline void set_where_greater(const Lanes& a, const Lanes& b, Lanes& target, const Lanes& value) {
    const Lanes chosen = value;
    for (std::size_t i = 0; i < lane_count; ++i)
        if (a.at[i] > b.at[i]) target.at[i] = chosen.at[i];
}

inline void transpose(Lanes (&square)[lane_count]) {
    for (std::size_t i = 0; i < lane_count; ++i)
        for (std::size_t l = 0; l < i; ++l) {
            const double held = square[i][l];
            square[i][l] = square[l][i];
            square[l][i] = held;
        }
}

#endif

}  // namespace naively
