// Documents are counted into the tables of their classes, without rows of counts between.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokens.hpp"
#include "tokens_count.hpp"

namespace naively {

// How often a token occurs in a class, and in how many of its documents.
struct TokenCount {
    std::uint32_t occurrences, documents;
};

struct HashedTable {
    TokenCount* counts;    // of class k, from counts + k * stride on
    std::size_t stride;    // at least the width
    std::uint32_t* last;   // for each place, the number of the last document that has it
    std::uint32_t width;   // places
    std::uint32_t number;  // of the document before the first, which is above all in `last`
};

// Counts the words, or n-grams of words, of documents of some classes. Where it fails, the table is
// spoilt.
CountOutcome tally_hashed(const Documents& documents, const std::int32_t* classes,
                          const Alphabet& alphabet, const TokenRule& rule,
                          const HashedTable& table);

}  // namespace naively
