// Whether there is infinity among numbers; NaN is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"

namespace naively {

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
