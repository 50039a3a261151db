// Documents become rows of counts: the distinct tokens of each, and how often it has them.
//
// Tokens are numbered by a dictionary that grows, looked up in a vocabulary, or hashed as
// scikit-learn hashes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokens.hpp"
#include "tokens_buffer.hpp"
#include "words.hpp"

namespace naively {

struct TokenRule {
    bool by_characters;     // n-grams of characters within words, instead of n-grams of words
    std::uint32_t least_n;  // at least 1
    std::uint32_t greatest_n;
};

// Rows one after the other; the tokens of each in the order of their first appearance.
struct CountedRows {
    Buffer<std::int32_t> places;
    Buffer<std::uint32_t> counts;
    Buffer<std::int64_t> ends;    // of each row among `places`
    Buffer<std::int64_t> totals;  // tokens of each document, or -1 where it is missing
};

struct CountOutcome {
    TextStatus status;
    std::size_t row;  // where it failed
};

CountOutcome count_new(const Documents& documents, const Alphabet& alphabet, const TokenRule& rule,
                       Dictionary& dictionary, CountedRows& rows);
CountOutcome count_known(const Documents& documents, const Alphabet& alphabet,
                         const TokenRule& rule, const WordIndex& index, CountedRows& rows);
CountOutcome count_hashed(const Documents& documents, const Alphabet& alphabet,
                          const TokenRule& rule, std::uint32_t width, CountedRows& rows);

}  // namespace naively
