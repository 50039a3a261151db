// Documents become rows of counts: the distinct tokens of each, and how often it has them.
//
// Tokens are numbered by a dictionary that grows, looked up in a vocabulary, or hashed as
// scikit-learn hashes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tokens.hpp"
#include "words.hpp"

namespace naively {

// The distinct places of one row, by a small hash table.
//
// Whether a place is new cannot be foreseen, and a wrong guess of the processor costs more than all
// the rest: what is written does not branch on it.

class RowCounter {
  public:
    // Begins a row of about so many places.
    void begin(std::size_t expected) {
        size_ = 0;
        unsigned bits = least_bits;
        while (bits < most_bits && (std::size_t{1} << bits) < 2 * expected) ++bits;
        set_bits(bits);
    }

    // Makes room for so many places.
    void reserve(std::size_t n) {
        if (size_ + n > places_.size()) {
            places_.resize(2 * (size_ + n));
            counts_.resize(2 * (size_ + n));
        }
        while (2 * (size_ + n) > mask_ + 1) grow();
    }

    // There must be room. An empty entry points behind all others, so that the lesser of it and
    // the end is where the place is counted.
    void add(std::int32_t place, std::uint32_t count) {
        Entry* entries = entries_.data();
        std::size_t at = home(place);
        while (is_other(entries[at], place)) at = (at + 1) & mask_;
        const auto end = static_cast<std::uint32_t>(size_);
        const std::uint32_t to = std::min(entries[at].to, end);
        const std::uint32_t is_new = to == end;
        std::uint32_t& counted = counts_[to];
        entries[at] = {place, to};
        places_[to] = place;
        counted = (counted & (is_new - 1)) + count;
        size_ += is_new;
    }

    std::size_t size() const { return size_; }
    const std::int32_t* places() const { return places_.data(); }
    const std::uint32_t* counts() const { return counts_.data(); }

  private:
    static constexpr unsigned least_bits = 6, most_bits = 13;
    static constexpr std::int32_t none = -1;  // all bits

    struct Entry {
        std::int32_t place;
        std::uint32_t to;
    };

    // Neither the place nor empty: the product says it by one branch, which is hardly ever taken.
    static bool is_other(const Entry& entry, std::int32_t place) {
        const auto here = static_cast<std::uint32_t>(entry.place);
        return std::uint64_t{here ^ static_cast<std::uint32_t>(place)} * (here + 1u) != 0;
    }

    std::size_t home(std::int32_t place) const {
        return (static_cast<std::uint32_t>(place) * 0x9E3779B1u) >> shift_;
    }

    void grow() {
        set_bits(32 - shift_ + 1);
        for (std::size_t i = 0; i < size_; ++i) {
            const std::int32_t place = places_[i];
            std::size_t at = home(place);
            while (entries_[at].place != none) at = (at + 1) & mask_;
            entries_[at] = {place, static_cast<std::uint32_t>(i)};
        }
    }

    void set_bits(unsigned bits) {
        shift_ = 32 - bits;
        mask_ = (std::size_t{1} << bits) - 1;
        if (entries_.size() <= mask_) entries_.resize(mask_ + 1);
        std::memset(static_cast<void*>(entries_.data()), 0xFF, (mask_ + 1) * sizeof(Entry));
    }

    std::size_t size_ = 0, mask_ = 0;
    unsigned shift_ = 0;
    std::vector<Entry> entries_;
    std::vector<std::int32_t> places_;  // in the order of their first appearance
    std::vector<std::uint32_t> counts_;
};

struct TokenRule {
    bool by_characters;     // n-grams of characters within words, instead of n-grams of words
    std::uint32_t least_n;  // at least 1
    std::uint32_t greatest_n;
};

// Rows one after the other; the tokens of each in the order of their first appearance.
struct CountedRows {
    std::vector<std::int32_t> places;
    std::vector<std::uint32_t> counts;
    std::vector<std::int64_t> ends;    // of each row among `places`
    std::vector<std::int64_t> totals;  // tokens of each document, or -1 where it is missing
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

// Documents are counted into the tables of their classes, without rows of counts between.

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
