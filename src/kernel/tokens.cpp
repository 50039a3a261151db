#include "tokens.hpp"

#include <cstring>

#include "simd.hpp"
#include "words.hpp"

namespace naively {
namespace {

constexpr std::size_t block = 64;  // bytes that share a mask

constexpr std::uint64_t each = 0x0101010101010101;
constexpr std::uint64_t high = 0x80 * each;

// The high bit of each byte that is at least `least`; all bytes are below 0x80.
NAIVELY_INLINE std::uint64_t at_least(std::uint64_t bytes, std::uint64_t least) {
    return bytes + (0x80 - least) * each;
}
NAIVELY_INLINE std::uint64_t between(std::uint64_t bytes, std::uint64_t least,
                                     std::uint64_t greatest) {
    return at_least(bytes, least) & ~at_least(bytes, greatest + 1);
}

// The high bits of the bytes that belong to tokens: letters, digits and the underscore, or all
// but white space, which is 9 to 13 and 28 to 32.
NAIVELY_INLINE std::uint64_t inside(std::uint64_t bytes, bool by_space) {
    if (by_space) return ~(between(bytes, 9, 13) | between(bytes, 28, 32));
    const std::uint64_t letters = between(bytes | 0x20 * each, 'a', 'z');
    const std::uint64_t underscores = high - (bytes ^ '_' * each);
    return letters | between(bytes, '0', '9') | underscores;
}

// Writes the lower case of whole blocks and a mask for each, up to the first that is not ASCII, and
// returns their number.
NAIVELY_CLONES std::size_t classify(const std::uint8_t* text, std::size_t n_blocks, bool by_space,
                                    bool lowers, std::uint8_t* NAIVELY_RESTRICT out,
                                    std::uint64_t* NAIVELY_RESTRICT masks) {
    const std::uint64_t kept = lowers ? 0x20 * each : 0;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        std::uint64_t all = 0, mask = 0;
        for (unsigned i = 0; i < 8; ++i) {
            const std::uint64_t bytes = load8(text + b * block + 8 * i);
            all |= bytes;
            const std::uint64_t found = (inside(bytes, by_space) & high) >> 7;
            mask |= (found * 0x0102040810204080 >> 56) << (8 * i);
            store8(bytes | (((between(bytes, 'A', 'Z') & high) >> 2) & kept),
                   out + b * block + 8 * i);
        }
        if (all & high) return b;
        masks[b] = mask;
    }
    return n_blocks;
}

// Whether a capital sigma at `at` ends its word: a cased character comes before it and none behind
// it, looking through those that are ignorable.
bool is_final(const Alphabet& alphabet, const std::uint8_t* text, const std::uint8_t* at,
              const std::uint8_t* end) {
    bool after_cased = false;
    for (const std::uint8_t* back = at; back > text && !after_cased;) {
        do --back;
        while ((*back & 0xC0) == 0x80);
        const std::uint8_t* next = back;
        const std::int32_t entry = alphabet.entry(decode(next, at));
        if (!(entry & (Alphabet::cased | Alphabet::ignorable))) return false;
        after_cased = (entry & Alphabet::cased) != 0;
    }
    if (!after_cased) return false;
    for (const std::uint8_t* next = at + 2; next < end;) {
        const std::uint32_t point = decode(next, end);
        if (point > last_code_point) return true;  // the document is refused later
        const std::int32_t entry = alphabet.entry(point);
        if (entry & Alphabet::cased) return false;
        if (!(entry & Alphabet::ignorable)) return true;
    }
    return true;
}

// The bytes of a character by the high half of its first one.
constexpr std::uint8_t length_by_first[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4};

}  // namespace

TextStatus Splitter::split(const std::uint8_t* text, std::size_t length) {
    n_tokens_ = 0;
    if (length >= longest_text) return TextStatus::too_long;
    make_room(length);
    end_ = out_.get() + margin;
    n_edges_ = 0;
    if (!scan(text, length)) return TextStatus::not_utf8;
    if (n_edges_ % 2) edges_[n_edges_++] = static_cast<std::uint32_t>(end_ - this->text());
    find_tokens();
    return TextStatus::ok;
}

bool Splitter::scan(const std::uint8_t* text, std::size_t length) {
    const std::uint8_t *at = text, *end = text + length;
    while (at < end) {
        at += scan_ascii(at, static_cast<std::size_t>(end - at));
        const std::uint8_t* until =
            end - at < static_cast<std::ptrdiff_t>(block) ? end : at + block;
        if (!scan_others(text, at, until, end)) return false;
    }
    return true;
}

// Reads ASCII in whole blocks, and the rest if it is less than one; returns how many bytes.
std::size_t Splitter::scan_ascii(const std::uint8_t* text, std::size_t length) {
    const std::size_t n = scan_blocks(text, length / block), rest = length - n;
    if (rest >= block) return n;  // a block that is not ASCII
    std::uint8_t last[block];
    std::memset(last, ' ', block);
    std::memcpy(last, text + n, rest);
    if (scan_blocks(last, 1) == 0) return n;
    end_ -= block - rest;
    return length;
}

std::size_t Splitter::scan_blocks(const std::uint8_t* text, std::size_t n_blocks) {
    const std::size_t n =
        classify(text, n_blocks, by_space_, alphabet_.lowers(), end_, masks_.get());
    auto at = static_cast<std::uint32_t>(end_ - this->text());
    std::uint32_t* edges = edges_.get() + n_edges_;
    std::uint64_t before = n_edges_ % 2;
    for (std::size_t b = 0; b < n; ++b, at += block) {
        const std::uint64_t mask = masks_[b];
        for (std::uint64_t change = mask ^ (mask << 1 | before); change; change &= change - 1)
            *edges++ = at + lowest_bit(change);
        before = mask >> 63;
    }
    n_edges_ = static_cast<std::size_t>(edges - edges_.get());
    end_ += n * block;
    return n * block;
}

// Reads characters one by one until they begin at `until` or later.
bool Splitter::scan_others(const std::uint8_t* text, const std::uint8_t*& at,
                           const std::uint8_t* until, const std::uint8_t* end) {
    while (at < until) {
        const std::uint8_t* here = at;
        const std::uint32_t point = decode(at, end);
        if (point > last_code_point) return false;
        const std::int32_t entry = alphabet_.entry(point);
        const bool inside = by_space_ ? !(entry & Alphabet::space) : (entry & Alphabet::word) != 0;
        if (entry & Alphabet::expansion) {
            for (const std::uint32_t part : alphabet_.expanded(point))
                put(part, by_space_ || (alphabet_.entry(part) & Alphabet::word) != 0);
        } else if ((entry & Alphabet::sigma) && is_final(alphabet_, text, here, end)) {
            put(0x3C2, inside);
        } else {
            put(Alphabet::lower(point, entry), inside);
        }
    }
    return true;
}

NAIVELY_INLINE void Splitter::put(std::uint32_t point, bool inside) {
    if (inside != (n_edges_ % 2 == 1))
        edges_[n_edges_++] = static_cast<std::uint32_t>(end_ - text());
    if (inside) end_ = write(point, end_);
}

void Splitter::find_tokens() {
    std::size_t n = 0;
    for (std::size_t i = 0; i < n_edges_; i += 2) {
        const std::uint32_t start = edges_[i], length = edges_[i + 1] - start;
        tokens_[n] = {start, length};
        n +=
            by_space_ | (length != length_by_first[text()[start] >> 4]);  // no branch to mispredict
    }
    n_tokens_ = n;
}

void Splitter::join(std::uint8_t separator) {
    if (!other_) other_.reset(new std::uint8_t[room()]);
    std::uint8_t *begin = other_.get() + margin, *to = begin;
    *to++ = separator;
    for (std::size_t i = 0; i < n_tokens_; ++i) {
        Span& token = tokens_[i];
        std::memcpy(to, text() + token.start, token.length);
        token.start = static_cast<std::uint32_t>(to - begin);
        to += token.length;
        *to++ = separator;
    }
    out_.swap(other_);
}

// The lower case of a character takes at most twice its bytes and has at most as many characters as
// it has bytes, which is checked of every alphabet. Separators are at most as many as bytes.
void Splitter::make_room(std::size_t length) {
    if (length < capacity_) return;
    capacity_ = length + length / 2 + block;
    out_.reset(new std::uint8_t[room()]);
    other_.reset();
    edges_.reset(new std::uint32_t[capacity_ + 2]);
    masks_.reset(new std::uint64_t[capacity_ / block + 1]);
    tokens_.reset(new Span[capacity_ / 2 + 2]);
}

namespace {

NAIVELY_INLINE std::uint32_t rotate(std::uint32_t x, unsigned by) {
    return x << by | x >> (32 - by);
}
NAIVELY_INLINE std::uint32_t scramble(std::uint32_t k) {
    return rotate(k * 0xCC9E2D51u, 15) * 0x1B873593u;
}
NAIVELY_INLINE std::uint32_t step(std::uint32_t h) { return rotate(h, 13) * 5 + 0xE6546B64u; }
NAIVELY_INLINE std::uint32_t finish(std::uint32_t h, std::uint32_t length) {
    h ^= length;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

}  // namespace

std::uint32_t murmur(const std::uint8_t* key, std::size_t length) {
    std::uint32_t h = 0;
    const std::size_t whole = length / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4) h = step(h ^ scramble(load4(key + i)));
    const std::uint32_t rest = (1u << 8 * (length - whole)) - 1;
    h ^= scramble(load4(key + whole) & rest);
    return finish(h, static_cast<std::uint32_t>(length));
}

}  // namespace naively
