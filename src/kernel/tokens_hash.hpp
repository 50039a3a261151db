// Tokens become places by their hash: MurmurHash3 of 32 bits, seed 0, as scikit-learn hashes them.
//
// The place is the absolute value of the hash as a signed number, modulo the width.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokens.hpp"

namespace naively {

constexpr std::size_t hashed_together = 32;  // tokens

// MurmurHash3 by Austin Appleby. Four bytes behind the key can be read.
std::uint32_t murmur(const std::uint8_t* key, std::size_t length);

inline std::uint32_t place_of(std::uint32_t hash, std::uint32_t width) {
    return (hash >> 31 ? 0u - hash : hash) % width;
}

// The places of at most `hashed_together` tokens. Sixteen bytes from each on can be read.
void hash_tokens(const std::uint8_t* text, const Span* tokens, std::size_t n, std::uint32_t width,
                 std::uint32_t* places);

}  // namespace naively
