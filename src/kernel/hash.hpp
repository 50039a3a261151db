// A hash of each row's content, which depends on neither its place nor its neighbours nor the types
// that hold its numbers.
//
//     h = 0x9E3779B97F4A7C15
//     for each v:  h = (h ^ v) * 0xD6E8FEB86659FD93;  h ^= h >> 32
//     then the finaliser of splitmix64, and 2^64 - 2 instead of 2^64 - 1
//
// where v goes through the numbers of the row (the bits of the cell as a double; one zero, one
// NaN) and its categories (the hash of each, 0 where it is missing). No row has the largest hash,
// so that one more than a hash is a hash, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace naively {

// The hashes of one column's categories, by code.
struct Hashes {
    const std::uint64_t* values;
    std::size_t n;
};

// The finaliser.
std::uint64_t finish_hash(std::uint64_t h);

// `numbers` and `codes` may have no columns. out[i] for each row i < n. False if a code has no
// hash.
bool hash_rows(const Table& numbers, const Table& codes, const std::vector<Hashes>& code_hashes,
               std::size_t n, std::uint64_t* out);

// The hash of each text of UTF-8, never 0; 0 where its length is below 0: a missing one. The steps
// are those above, eight bytes at a time as a little-endian number, the last ones filled with
// zeros, and then the length.
void hash_texts(const std::uint64_t* addresses, const std::int64_t* lengths, std::size_t n,
                std::uint64_t* out);

}  // namespace naively
