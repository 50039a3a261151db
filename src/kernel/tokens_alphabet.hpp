// What characters are: whether words are made of them, and their lower case; and UTF-8.
//
// The table comes from Python's own `str` methods, in two stages: the block of 256 code points, and
// in it a number per code point, of which the low byte holds flags and the rest how far the lower
// case is away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace naively {

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

}  // namespace naively
