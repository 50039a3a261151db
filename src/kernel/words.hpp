// Words of a vocabulary: a hash table that compares them byte by byte, their order, and merging.
//
// A vocabulary is one block of bytes and offsets, in the order of bytes, which is that of code
// points in UTF-8. Words of up to sixteen bytes stand in the table itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simd.hpp"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace naively {

// Bytes as numbers, in the same order on every processor.

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

constexpr std::size_t most_words = std::size_t{1} << 25;  // that one table gathers

// One UTF-8 block; word i is from offset i to offset i + 1.
struct WordsView {
    const std::uint8_t* block;
    const std::int64_t* offsets;
    std::size_t n;

    const std::uint8_t* word(std::size_t i) const { return block + offsets[i]; }
    std::size_t length(std::size_t i) const {
        return static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
    }
};

// What is compared of a word: its bytes if they are at most sixteen, and otherwise their hash.
struct WordKey {
    const std::uint8_t* word;
    std::uint64_t first, second, hash;
    std::uint32_t length;
};

constexpr std::size_t inline_bytes = 16;

NAIVELY_INLINE std::uint64_t mix(std::uint64_t h, std::uint64_t bytes) {
    h = (h ^ bytes) * 0x9E3779B97F4A7C15;
    return h ^ h >> 32;
}

// The table goes by the highest bits.
NAIVELY_INLINE std::uint64_t spread(std::uint64_t first, std::uint64_t second,
                                    std::uint32_t length) {
    return mix(mix(length, first), second) * 0xD6E8FEB86659FD93;
}

// The lowest n bytes; all where n is 8 or more.
NAIVELY_INLINE std::uint64_t low_bytes(std::uint64_t bytes, std::uint32_t n) {
    return n >= 8 ? bytes : bytes & ((std::uint64_t{1} << 8 * n) - 1);
}

inline std::uint64_t hash_long(const std::uint8_t* word, std::size_t length) {
    std::uint64_t h = length;
    for (std::size_t at = 0; at + 8 < length; at += 8) h = mix(h, load8(word + at));
    return mix(h, load8(word + length - 8));
}

// Sixteen bytes from `word` on can be read, whatever its length.
NAIVELY_INLINE WordKey key_of(const std::uint8_t* word, std::uint32_t length) {
    std::uint64_t first, second;
    if (length <= inline_bytes) {
        first = low_bytes(load8(word), length);
        second = low_bytes(load8(word + 8), length > 8 ? length - 8 : 0);
    } else {
        first = hash_long(word, length);
        second = 0;
    }
    return {word, first, second, spread(first, second, length), length};
}

// The hash table alone; the words themselves are the caller's.
class WordTable {
  public:
    explicit WordTable(std::size_t n_words = 0);

    void prefetch(const WordKey& key) const { NAIVELY_PREFETCH(slots_.data() + home(key.hash)); }

    // The code of a word, or -1.
    std::int32_t find(const WordKey& key, const WordsView& words) const {
        return slots_[search(key, words)].code;
    }

    // The code of a word, which is `next` if it is new.
    std::int32_t find_or_add(const WordKey& key, const WordsView& words, std::int32_t next);

  private:
    struct Slot {
        std::uint64_t first = 0, second = 0;
        std::uint32_t length = 0;
        std::int32_t code = -1;
    };

    std::size_t search(const WordKey& key, const WordsView& words) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = home(key.hash);
        for (; slots_[at].code >= 0; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (((slot.first ^ key.first) | (slot.second ^ key.second)) != 0 ||
                slot.length != key.length)
                continue;
            if (key.length <= inline_bytes) break;
            const auto code = static_cast<std::size_t>(slot.code);
            if (std::memcmp(words.word(code), key.word, key.length) == 0) break;
        }
        return at;
    }
    void grow();
    std::size_t home(std::uint64_t hash) const { return hash >> shift_; }

    unsigned shift_;
    std::size_t n_ = 0;
    std::vector<Slot> slots_;
};

// A vocabulary that grows.
class Dictionary {
  public:
    std::int32_t code(const WordKey& key) {
        const std::int32_t next = static_cast<std::int32_t>(offsets_.size() - 1);
        const std::int32_t found = table_.find_or_add(key, view(), next);
        if (found == next) append(key);
        return found;
    }
    void prefetch(const WordKey& key) const { table_.prefetch(key); }
    std::size_t size() const { return offsets_.size() - 1; }
    WordsView view() const { return {block_.data(), offsets_.data(), size()}; }

  private:
    void append(const WordKey& key);

    WordTable table_;
    std::vector<std::uint8_t> block_;
    std::vector<std::int64_t> offsets_ = {0};
};

// A vocabulary that is only looked into. Its words must stay where they are.
class WordIndex {
  public:
    explicit WordIndex(const WordsView& words);

    std::int32_t code(const WordKey& key) const { return table_.find(key, words_); }
    void prefetch(const WordKey& key) const { table_.prefetch(key); }
    std::size_t size() const { return words_.n; }

  private:
    WordsView words_;
    WordTable table_;
};

// The codes of words in the order of their bytes.
std::vector<std::uint32_t> order_of(const WordsView& words);

// Words of their own memory.
struct OwnWords {
    std::vector<std::uint8_t> block;
    std::vector<std::int64_t> offsets;
};

// Words in an order.
OwnWords sorted(const WordsView& words, const std::vector<std::uint32_t>& order);

// Where each of the sorted words `a` stands among the sorted words `b`, or -1.
void find_positions(const WordsView& a, const WordsView& b, std::int32_t* positions);

// The words of two sorted vocabularies.
OwnWords unite(const WordsView& a, const WordsView& b);

}  // namespace naively
