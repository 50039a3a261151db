// Memory as the kernel wants it: aligned for registers, and in large pages for large tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "simd.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

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

// Large pages for large tables: a table that is read here and there then needs few entries of the
// processor's table of pages, and the system is asked for memory less often.

constexpr std::size_t large_page = std::size_t{1} << 21;

// Asks for large pages where memory spans some of them; whether they are given does not matter.
inline void prefer_large_pages(void* memory, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + large_page - 1) / large_page * large_page;
    const std::uintptr_t last = (begin + bytes) / large_page * large_page;
    if (bytes >= 2 * large_page && first < last)
        madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
    static_cast<void>(memory);
    static_cast<void>(bytes);
#endif
}

// For vectors.
template <class T> struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class U> LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t n) {
        void* memory = std::malloc(n * sizeof(T));
        if (!memory) throw std::bad_alloc();
        prefer_large_pages(memory, n * sizeof(T));
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }

    friend bool operator==(const LargePages&, const LargePages&) { return true; }
    friend bool operator!=(const LargePages&, const LargePages&) { return false; }
};

}  // namespace naively
