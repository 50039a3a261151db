// Builds of a function of lanes for processors with registers of 512 bits, of 256 bits, and others.
//
//     template <class R> NAIVELY_INLINE double total_by(const double* x) { ... lanes<R>(x) ... }
//     NAIVELY_BY_REGISTERS(total)
//
// defines `total`, which calls the build for this processor. The results have the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "simd.hpp"

namespace naively {

// Memory that is aligned for registers.

struct AlignedDelete {
    void operator()(void* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
template <class T> using Aligned = std::unique_ptr<T[], AlignedDelete>;
using AlignedArray = Aligned<double>;

// All zero.
template <class T = double> Aligned<T> aligned_array(std::size_t n) {
    void* memory = ::operator new[](std::max<std::size_t>(1, n) * sizeof(T), std::align_val_t{64});
    Aligned<T> array(static_cast<T*>(memory));
    std::fill_n(array.get(), n, T{0});
    return array;
}

struct Registers512 {
    static constexpr bool many = true;  // enough of them for sixteen sums of lanes
    using Lanes = naively::Lanes;
    using ShortLanes = naively::ShortLanes;
    using HalfLanes = naively::HalfLanes;  // as many floats as `Lanes` has doubles
    using Mask = naively::Mask;
    using Turned = FourLanes;  // in which rows are turned into columns
};

#ifdef NAIVELY_VECTORS

struct Registers256 {
    static constexpr bool many = false;
    using Lanes = Pair<FourLanes>;
    using ShortLanes = Pair<naively::HalfLanes>;
    using HalfLanes = naively::HalfLanes;
    using Mask = Pair<FourMasks>;
    using Turned = FourLanes;
};

struct Registers128 {
    static constexpr bool many = false;
    using Lanes = Pair<Pair<TwoLanes>>;
    using ShortLanes = Pair<Pair<FourShortLanes>>;
    using HalfLanes = Pair<FourShortLanes>;
    using Mask = Pair<Pair<TwoMasks>>;
    using Turned = TwoLanes;
};

using OtherRegisters = Registers128;

#else

using OtherRegisters = Registers512;

#endif

// What R makes of aligned memory.
template <class R> NAIVELY_INLINE typename R::Lanes& lanes(double* p) {
    return *reinterpret_cast<typename R::Lanes*>(p);
}
template <class R> NAIVELY_INLINE const typename R::Lanes& lanes(const double* p) {
    return *reinterpret_cast<const typename R::Lanes*>(p);
}
template <class R> NAIVELY_INLINE typename R::ShortLanes& lanes(float* p) {
    return *reinterpret_cast<typename R::ShortLanes*>(p);
}
template <class R> NAIVELY_INLINE const typename R::ShortLanes& lanes(const float* p) {
    return *reinterpret_cast<const typename R::ShortLanes*>(p);
}

#if defined(NAIVELY_HAS_TARGET_CLONES) && !defined(NAIVELY_PORTABLE)

// How many bits the registers of this processor have: 512, 256, or 0 for older ones.
inline const int widest_registers = __builtin_cpu_supports("x86-64-v4")   ? 512
                                    : __builtin_cpu_supports("x86-64-v3") ? 256
                                                                          : 0;

#define NAIVELY_BY_REGISTERS(name)                                                       \
    template <class... A>                                                                \
    __attribute__((target("arch=x86-64-v4"))) static auto name##_512(A&&... arguments) { \
        return name##_by<Registers512>(arguments...);                                    \
    }                                                                                    \
    template <class... A>                                                                \
    __attribute__((target("arch=x86-64-v3"))) static auto name##_256(A&&... arguments) { \
        return name##_by<Registers256>(arguments...);                                    \
    }                                                                                    \
    template <class... A> static auto name##_0(A&&... arguments) {                       \
        return name##_by<OtherRegisters>(arguments...);                                  \
    }                                                                                    \
    template <class... A> static auto name(A&&... arguments) {                           \
        if (register_bits == 512) return name##_512(arguments...);                       \
        return register_bits == 256 ? name##_256(arguments...) : name##_0(arguments...); \
    }

#else

inline const int widest_registers = 0;

#define NAIVELY_BY_REGISTERS(name)                             \
    template <class... A> static auto name(A&&... arguments) { \
        return name##_by<OtherRegisters>(arguments...);        \
    }

#endif

// Those that are used; tests and benchmarks use narrower ones.
inline int register_bits = widest_registers;

}  // namespace naively
