// Bytes as numbers, in the same order on every processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace naively {

// The first byte is the lowest.
inline std::uint64_t load8(const std::uint8_t* from) {
    std::uint64_t bytes;
    std::memcpy(&bytes, from, sizeof bytes);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

inline void store8(std::uint64_t bytes, std::uint8_t* to) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    std::memcpy(to, &bytes, sizeof bytes);
}

inline std::uint32_t load4(const std::uint8_t* from) {
    return from[0] | std::uint32_t{from[1]} << 8 | std::uint32_t{from[2]} << 16 |
           std::uint32_t{from[3]} << 24;
}

// The number of the lowest bit; there is one.
inline std::uint32_t lowest_bit(std::uint64_t bits) {
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long at;
    _BitScanForward64(&at, bits);
    return at;
#else
    return static_cast<std::uint32_t>(__builtin_ctzll(bits));
#endif
}

}  // namespace naively
