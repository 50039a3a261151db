// Working memory on cache-line boundaries, seen as numbers or as lanes of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "simd.hpp"

namespace naively {

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

NAIVELY_INLINE Lanes& lanes(double* p) { return *reinterpret_cast<Lanes*>(p); }
NAIVELY_INLINE const Lanes& lanes(const double* p) { return *reinterpret_cast<const Lanes*>(p); }
NAIVELY_INLINE ShortLanes& lanes(float* p) { return *reinterpret_cast<ShortLanes*>(p); }
NAIVELY_INLINE const ShortLanes& lanes(const float* p) {
    return *reinterpret_cast<const ShortLanes*>(p);
}

}  // namespace naively
