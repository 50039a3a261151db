// Documents become tokens: words, or words of characters that are cut into n-grams later.
//
// A word is a run of two or more word characters, in lower case; with char_wb, a run of characters
// between white space. Blocks of ASCII are classified eight bytes at a time; other characters are
// looked up in the alphabet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace naively {

// What characters are: whether words are made of them, and their lower case; and UTF-8.
//
// The table comes from Python's own `str` methods, in two stages: the block of 256 code points, and
// in it a number per code point, of which the low byte holds flags and the rest how far the lower
// case is away.

constexpr std::uint32_t last_code_point = 0x10FFFF;

// Decodes the character at `at`, which is before `end`, and moves on; or returns a number beyond
// all characters where the bytes are not UTF-8.
inline std::uint32_t decode(const std::uint8_t*& at, const std::uint8_t* end) {
    constexpr std::uint32_t wrong = last_code_point + 1;
    const std::uint32_t first = *at;
    if (first < 0x80) return ++at, first;
    const std::ptrdiff_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4 || end - at < length) return wrong;
    std::uint32_t point = first & (0xFFu >> (length + 1));
    for (std::ptrdiff_t i = 1; i < length; ++i) {
        if ((at[i] & 0xC0) != 0x80) return wrong;
        point = point << 6 | (at[i] & 0x3Fu);
    }
    const bool is_short = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (is_short || (point >> 11) == 0x1B || point > last_code_point) return wrong;
    at += length;
    return point;
}

inline std::uint8_t* write(std::uint32_t point, std::uint8_t* out) {
    const auto byte = [&](std::uint32_t lead, unsigned shift) {
        *out++ = static_cast<std::uint8_t>(lead | (point >> shift & (lead == 0x80 ? 0x3F : 0x7F)));
    };
    if (point < 0x80) return byte(0, 0), out;
    if (point < 0x800) return byte(0xC0, 6), byte(0x80, 0), out;
    if (point < 0x10000) return byte(0xE0, 12), byte(0x80, 6), byte(0x80, 0), out;
    return byte(0xF0, 18), byte(0x80, 12), byte(0x80, 6), byte(0x80, 0), out;
}

class Alphabet {
  public:
    enum Flag : std::int32_t {
        word = 1,        // the lower case belongs to words
        space = 2,       // separates words of characters
        cased = 4,       // before or after a capital sigma: part of its word
        ignorable = 8,   // around a capital sigma: looked through
        sigma = 16,      // its lower case depends on what is around it
        expansion = 32,  // its lower case is several characters
    };

    struct Expansion {
        std::uint32_t from;
        std::vector<std::uint32_t> to;
    };

    Alphabet(std::vector<std::uint16_t> blocks, std::vector<std::int32_t> entries,
             std::vector<Expansion> expansions, bool lowers)
        : blocks_(std::move(blocks)), entries_(std::move(entries)),
          expansions_(std::move(expansions)), lowers_(lowers) {}

    std::int32_t entry(std::uint32_t point) const {
        return entries_[std::size_t{blocks_[point >> 8]} << 8 | (point & 0xFF)];
    }
    static std::uint32_t lower(std::uint32_t point, std::int32_t entry) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(point) + (entry >> 8));
    }
    const std::vector<std::uint32_t>& expanded(std::uint32_t point) const {
        std::size_t i = 0;
        while (expansions_[i].from != point) ++i;  // there is one
        return expansions_[i].to;
    }
    bool lowers() const { return lowers_; }

  private:
    std::vector<std::uint16_t> blocks_;
    std::vector<std::int32_t> entries_;
    std::vector<Expansion> expansions_;
    bool lowers_;
};

constexpr std::size_t longest_text = std::size_t{1} << 30;  // so that places in it fit 32 bits

// Where texts lie; a negative length is a missing one.
struct Documents {
    const std::uint64_t* addresses;
    const std::int64_t* lengths;
    std::size_t n;
};

enum class TextStatus { ok, not_utf8, too_long, too_many_words };

// A part of the buffer of tokens.
struct Span {
    std::uint32_t start, length;
};

class Splitter {
  public:
    // Words, or runs of characters between white space.
    Splitter(const Alphabet& alphabet, bool by_space) : alphabet_(alphabet), by_space_(by_space) {}

    // Finds the tokens of one document. They are read by `text` until the next call; 16 bytes
    // before and behind each may be read as well.
    TextStatus split(const std::uint8_t* text, std::size_t length);

    // Copies the tokens together, with `separator` before, between and behind them.
    void join(std::uint8_t separator);

    const Span* tokens() const { return tokens_.get(); }
    std::size_t n_tokens() const { return n_tokens_; }
    const std::uint8_t* text() const { return out_.get() + margin; }

  private:
    static constexpr std::size_t margin = 64;

    bool scan(const std::uint8_t* text, std::size_t length);
    std::size_t scan_ascii(const std::uint8_t* text, std::size_t length);
    std::size_t scan_blocks(const std::uint8_t* text, std::size_t n_blocks);
    bool scan_others(const std::uint8_t* text, const std::uint8_t*& at, const std::uint8_t* until,
                     const std::uint8_t* end);
    void put(std::uint32_t point, bool inside);
    void find_tokens();
    void make_room(std::size_t length);
    std::size_t room() const { return 3 * capacity_ + 2 * margin; }

    const Alphabet& alphabet_;
    const bool by_space_;
    std::size_t capacity_ = 0;
    std::unique_ptr<std::uint8_t[]> out_, other_;
    std::uint8_t* end_ = nullptr;             // of what is written
    std::unique_ptr<std::uint32_t[]> edges_;  // where runs begin and end, in turns
    std::unique_ptr<std::uint64_t[]> masks_;
    std::unique_ptr<Span[]> tokens_;
    std::size_t n_edges_ = 0, n_tokens_ = 0;
};

// Tokens become places by their hash: MurmurHash3 of 32 bits, seed 0, as scikit-learn hashes them.
//
// The place is the absolute value of the hash as a signed number, modulo the width.

// MurmurHash3 by Austin Appleby. Four bytes behind the key can be read.
std::uint32_t murmur(const std::uint8_t* key, std::size_t length);

inline std::uint32_t place_of(std::uint32_t hash, std::uint32_t width) {
    return (hash >> 31 ? 0u - hash : hash) % width;
}

}  // namespace naively
