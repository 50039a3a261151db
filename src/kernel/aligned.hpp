// Working memory on cache-line boundaries, seen as doubles or as lanes of eight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "simd.hpp"

namespace naively {

struct AlignedDelete {
    void operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedArray = std::unique_ptr<double[], AlignedDelete>;

// Not initialized.
inline AlignedArray aligned_array(std::size_t n) {
    return AlignedArray(static_cast<double*>(
        ::operator new[](std::max<std::size_t>(1, n) * sizeof(double), std::align_val_t{64})));
}

NAIVELY_INLINE Lanes& lanes(double* p) { return *reinterpret_cast<Lanes*>(p); }
NAIVELY_INLINE const Lanes& lanes(const double* p) { return *reinterpret_cast<const Lanes*>(p); }

}  // namespace naively
