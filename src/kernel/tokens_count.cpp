#include "tokens_count.hpp"

#include <algorithm>

#include "tokens_row.hpp"

namespace naively {
namespace {

constexpr std::size_t batch = 32;            // tokens whose slots are fetched together
constexpr std::uint32_t longest_kept = 64;   // bytes of a word whose n-grams are remembered
constexpr std::size_t most_kept = 1u << 22;  // n-grams that are remembered

// MurmurHash3 of 32 bits, seed 0, by Austin Appleby.
std::uint32_t murmur(const std::uint8_t* key, std::size_t length) {
    const auto rotate = [](std::uint32_t x, unsigned by) { return x << by | x >> (32 - by); };
    const auto scramble = [&](std::uint32_t k) {
        return rotate(k * 0xCC9E2D51u, 15) * 0x1B873593u;
    };
    std::uint32_t h = 0, rest = 0;
    const std::size_t whole = length / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4)
        h = rotate(h ^ scramble(load4(key + i)), 13) * 5 + 0xE6546B64u;
    for (std::size_t i = length; i-- > whole;) rest = rest << 8 | key[i];
    h ^= scramble(rest);
    h ^= static_cast<std::uint32_t>(length);
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

// The three ways to number tokens.
struct NewWords {
    Dictionary& words;
    using Key = WordKey;
    Key key(const std::uint8_t* token, std::uint32_t n) const { return key_of(token, n); }
    void prefetch(const Key& key) const { words.prefetch(key); }
    std::int32_t code(const Key& key) const { return words.code(key); }
    bool is_full() const { return words.size() > most_words; }
};

struct KnownWords {
    const WordIndex& words;
    using Key = WordKey;
    Key key(const std::uint8_t* token, std::uint32_t n) const { return key_of(token, n); }
    void prefetch(const Key& key) const { words.prefetch(key); }
    std::int32_t code(const Key& key) const { return words.code(key); }
    bool is_full() const { return false; }
};

// The place is the absolute value of the hash as a signed number, modulo the width.
struct HashedWords {
    std::uint32_t width;
    using Key = std::int32_t;
    Key key(const std::uint8_t* token, std::uint32_t n) const {
        const std::uint32_t h = murmur(token, n);
        return static_cast<Key>((h >> 31 ? 0u - h : h) % width);
    }
    void prefetch(Key) const {}
    std::int32_t code(Key key) const { return key; }
    bool is_full() const { return false; }
};

template <class Coder> class Counter {
  public:
    Counter(const Alphabet& alphabet, const TokenRule& rule, Coder coder, CountedRows& rows)
        : splitter_(alphabet, rule.by_characters), rule_(rule), coder_(coder), rows_(rows),
          row_(rows.places, rows.counts), row_of_words_(words_, word_counts_) {}

    CountOutcome count(const Documents& documents) {
        rows_.ends.reserve(documents.n);
        rows_.totals.reserve(documents.n);
        for (std::size_t i = 0; i < documents.n; ++i) {
            TextStatus status = TextStatus::ok;
            total_ = -1;
            if (documents.lengths[i] >= 0)
                status = count_one(reinterpret_cast<const std::uint8_t*>(documents.addresses[i]),
                                   static_cast<std::size_t>(documents.lengths[i]));
            if (status != TextStatus::ok) return {status, i};
            rows_.ends.push_back(static_cast<std::int64_t>(rows_.places.size()));
            rows_.totals.push_back(total_);
        }
        return {TextStatus::ok, 0};
    }

  private:
    TextStatus count_one(const std::uint8_t* text, std::size_t length) {
        const TextStatus status = splitter_.split(text, length);
        if (status != TextStatus::ok) return status;
        total_ = 0;
        row_.begin();
        if (rule_.by_characters)
            count_characters();
        else
            count_words();
        return coder_.is_full() ? TextStatus::too_many_words : TextStatus::ok;
    }

    void count_words() {
        if (rule_.greatest_n > 1) splitter_.join(' ');
        const Span* tokens = splitter_.tokens();
        for (std::size_t n = rule_.least_n; n <= rule_.greatest_n && n <= splitter_.n_tokens(); ++n)
            for (std::size_t i = 0; i + n <= splitter_.n_tokens(); ++i) {
                const Span last = tokens[i + n - 1];
                emit({tokens[i].start, last.start + last.length - tokens[i].start});
            }
        finish([&](std::int32_t place) { row_.add(place, 1); });
    }

    // Distinct words are counted first, so that each is cut into its n-grams once per document.
    void count_characters() {
        splitter_.join(' ');
        if (grams_.size() > most_kept) forget();
        words_.clear();
        word_counts_.clear();
        row_of_words_.begin();
        for (std::size_t i = 0; i < splitter_.n_tokens(); ++i) {
            Span word = splitter_.tokens()[i];
            word = {word.start - 1, word.length + 2};
            if (word.length > longest_kept)
                cut(word, [&](std::int32_t place) { row_.add(place, 1); });
            else
                row_of_words_.add(remembered(word), 1);
        }
        for (std::size_t i = 0; i < words_.size(); ++i) {
            const auto word = static_cast<std::size_t>(words_[i]);
            total_ += std::int64_t{sizes_[word]} * word_counts_[i];
            for (std::size_t at = gram_ends_[word]; at < gram_ends_[word + 1]; ++at)
                row_.add(grams_[at], word_counts_[i]);
        }
    }

    // The number of a word whose n-grams are in `grams_`.
    std::int32_t remembered(Span word) {
        const std::size_t before = memory_.size();
        const std::int32_t code = memory_.code(key_of(splitter_.text() + word.start, word.length));
        if (memory_.size() > before) {
            const std::int64_t total = total_;
            cut(word, [&](std::int32_t place) { grams_.push_back(place); });
            sizes_.push_back(static_cast<std::uint32_t>(total_ - total));
            total_ = total;
            gram_ends_.push_back(grams_.size());
        }
        return code;
    }

    void forget() {
        memory_ = Dictionary();
        grams_.clear();
        sizes_.clear();
        gram_ends_.assign(1, 0);
    }

    // A word that is not longer than n is one n-gram, and has none that are longer.
    template <class Take> void cut(Span word, Take take) {
        const std::uint8_t* text = splitter_.text() + word.start;
        borders_.clear();
        for (std::uint32_t at = 0; at < word.length; ++at)
            if ((text[at] & 0xC0) != 0x80) borders_.push_back(word.start + at);
        const std::size_t length = borders_.size();
        borders_.push_back(word.start + word.length);
        std::size_t n = rule_.least_n;
        for (; n <= rule_.greatest_n && n < length; ++n)
            for (std::size_t i = 0; i + n <= length; ++i)
                emit({borders_[i], borders_[i + n] - borders_[i]}, take);
        if (n <= rule_.greatest_n) emit(word, take);
        finish(take);
    }

    void emit(Span token) {
        emit(token, [&](std::int32_t place) { row_.add(place, 1); });
    }
    template <class Take> void emit(Span token, Take take) {
        keys_[n_keys_] = coder_.key(splitter_.text() + token.start, token.length);
        coder_.prefetch(keys_[n_keys_]);
        if (++n_keys_ == batch) finish(take);
    }

    // Numbers the tokens that wait.
    template <class Take> void finish(Take take) {
        for (std::size_t i = 0; i < n_keys_; ++i) {
            const std::int32_t place = coder_.code(keys_[i]);
            if (place >= 0) take(place);
        }
        total_ += static_cast<std::int64_t>(n_keys_);
        n_keys_ = 0;
    }

    Splitter splitter_;
    const TokenRule rule_;
    Coder coder_;
    CountedRows& rows_;
    RowCounter row_;
    std::int64_t total_ = 0;
    typename Coder::Key keys_[batch];
    std::size_t n_keys_ = 0;

    std::vector<std::int32_t> words_;  // of characters, in one document
    std::vector<std::uint32_t> word_counts_;
    RowCounter row_of_words_;
    Dictionary memory_;  // of words and the places of their n-grams
    std::vector<std::int32_t> grams_;
    std::vector<std::uint32_t> sizes_, borders_;
    std::vector<std::size_t> gram_ends_ = {0};
};

template <class Coder>
CountOutcome count(const Documents& documents, const Alphabet& alphabet, const TokenRule& rule,
                   Coder coder, CountedRows& rows) {
    return Counter<Coder>(alphabet, rule, coder, rows).count(documents);
}

}  // namespace

CountOutcome count_new(const Documents& documents, const Alphabet& alphabet, const TokenRule& rule,
                       Dictionary& dictionary, CountedRows& rows) {
    return count(documents, alphabet, rule, NewWords{dictionary}, rows);
}

CountOutcome count_known(const Documents& documents, const Alphabet& alphabet,
                         const TokenRule& rule, const WordIndex& index, CountedRows& rows) {
    return count(documents, alphabet, rule, KnownWords{index}, rows);
}

CountOutcome count_hashed(const Documents& documents, const Alphabet& alphabet,
                          const TokenRule& rule, std::uint32_t width, CountedRows& rows) {
    return count(documents, alphabet, rule, HashedWords{width}, rows);
}

}  // namespace naively
