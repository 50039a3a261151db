// Documents become tokens: words, or words of characters that are cut into n-grams later.
//
// A word is a run of two or more word characters, in lower case; with char_wb, a run of characters
// between white space. Blocks of ASCII are classified eight bytes at a time; other characters are
// looked up in the alphabet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tokens_alphabet.hpp"

namespace naively {

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

}  // namespace naively
