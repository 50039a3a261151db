#include "tokens_count.hpp"

#include <algorithm>
#include <new>

#include "tokens.hpp"

namespace naively {
namespace {

constexpr std::size_t batch = 32;           // tokens whose slots are fetched together
constexpr std::uint32_t longest_kept = 64;  // bytes of a word whose n-grams are remembered
constexpr std::size_t most_expected = std::size_t{1} << 28;
constexpr std::size_t most_kept = 1u << 22;  // n-grams that are remembered

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
        return static_cast<Key>(place_of(murmur(token, n), width));
    }
    void prefetch(Key) const {}
    std::int32_t code(Key key) const { return key; }
    bool is_full() const { return false; }
};

struct Add {
    RowCounter& row;
    void operator()(std::int32_t place) const {
        if (place >= 0) row.add(place, 1);
    }
};

template <class Coder> class Counter {
  public:
    Counter(const Alphabet& alphabet, const TokenRule& rule, Coder coder, CountedRows& rows)
        : splitter_(alphabet, rule.by_characters), rule_(rule), coder_(coder), rows_(rows) {}

    CountOutcome count(const Documents& documents) {
        rows_.ends.reserve(documents.n);
        rows_.totals.reserve(documents.n);
        expect_tokens(documents);
        for (std::size_t i = 0; i < documents.n; ++i) {
            TextStatus status = TextStatus::ok;
            total_ = -1;
            if (documents.lengths[i] >= 0)
                status = count_one(reinterpret_cast<const std::uint8_t*>(documents.addresses[i]),
                                   static_cast<std::size_t>(documents.lengths[i]));
            if (status != TextStatus::ok) return {status, i};
            if (total_ > 0) {
                rows_.places.insert(rows_.places.end(), row_.places(), row_.places() + row_.size());
                rows_.counts.insert(rows_.counts.end(), row_.counts(), row_.counts() + row_.size());
            }
            rows_.ends.push_back(static_cast<std::int64_t>(rows_.places.size()));
            rows_.totals.push_back(total_);
        }
        rows_.places.shrink_to_fit();
        rows_.counts.shrink_to_fit();
        return {TextStatus::ok, 0};
    }

  private:
    // Makes room for as many tokens as there can be. What is not written costs no memory, and what
    // is moved later costs more than to write it.
    void expect_tokens(const Documents& documents) {
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i < documents.n; ++i)
            bytes += std::max<std::int64_t>(documents.lengths[i], 0);
        const std::size_t n = static_cast<std::size_t>(bytes) / 3 *
                              (rule_.greatest_n - rule_.least_n + 1) *
                              (rule_.by_characters ? 3 : 1);
        try {
            rows_.places.reserve(std::min(n, most_expected));
            rows_.counts.reserve(std::min(n, most_expected));
        } catch (const std::bad_alloc&) {  // a guess: fewer tokens may well fit
        }
    }

    TextStatus count_one(const std::uint8_t* text, std::size_t length) {
        const TextStatus status = splitter_.split(text, length);
        if (status != TextStatus::ok) return status;
        total_ = 0;
        if (rule_.by_characters)
            count_characters();
        else
            count_words();
        return coder_.is_full() ? TextStatus::too_many_words : TextStatus::ok;
    }

    void count_words() {
        if (rule_.greatest_n > 1) splitter_.join(' ');
        const Span* tokens = splitter_.tokens();
        const std::size_t n_tokens = splitter_.n_tokens();
        row_.begin(n_tokens * (rule_.greatest_n - rule_.least_n + 1));
        for (std::size_t n = rule_.least_n; n <= rule_.greatest_n && n <= n_tokens; ++n)
            number(
                n_tokens - n + 1,
                [=](std::size_t i) -> Span {
                    const Span last = tokens[i + n - 1];
                    return {tokens[i].start, last.start + last.length - tokens[i].start};
                },
                Add{row_});
    }

    // Distinct words are counted first, so that each is cut into its n-grams once per document.
    void count_characters() {
        splitter_.join(' ');
        if (grams_.size() > most_kept) forget();
        const std::size_t n_words = splitter_.n_tokens();
        row_of_words_.begin(n_words);
        row_.begin(8 * n_words);
        for (std::size_t start = 0; start < n_words; start += batch)
            count_padded(start, std::min(batch, n_words - start));
        for (std::size_t i = 0; i < row_of_words_.size(); ++i) {
            const auto word = static_cast<std::size_t>(row_of_words_.places()[i]);
            const std::uint32_t count = row_of_words_.counts()[i];
            total_ += std::int64_t{sizes_[word]} * count;
            row_.reserve(gram_ends_[word + 1] - gram_ends_[word]);
            for (std::size_t at = gram_ends_[word]; at < gram_ends_[word + 1]; ++at)
                row_.add(grams_[at], count);
        }
    }

    // Counts words with a space before and behind them; the n-grams of long ones at once.
    void count_padded(std::size_t start, std::size_t n) {
        WordKey keys[batch];
        std::size_t n_keys = 0;
        for (std::size_t i = start; i < start + n; ++i) {
            const Span token = splitter_.tokens()[i], word{token.start - 1, token.length + 2};
            if (word.length > longest_kept) {
                spans_.clear();
                cut(word);
                number(spans_.size(), [&](std::size_t at) { return spans_[at]; }, Add{row_});
                continue;
            }
            keys[n_keys] = key_of(splitter_.text() + word.start, word.length);
            memory_.prefetch(keys[n_keys++]);
        }
        row_of_words_.reserve(n_keys);
        spans_.clear();
        const std::size_t n_known = sizes_.size();
        for (std::size_t i = 0; i < n_keys; ++i) {
            const auto word = static_cast<std::size_t>(memory_.code(keys[i]));
            if (word == sizes_.size()) {
                const std::size_t before = spans_.size();
                cut({static_cast<std::uint32_t>(keys[i].word - splitter_.text()), keys[i].length});
                sizes_.push_back(static_cast<std::uint32_t>(spans_.size() - before));
            } else if (word < n_known) {
                NAIVELY_PREFETCH(grams_.data() + gram_ends_[word]);
            }
            row_of_words_.add(static_cast<std::int32_t>(word), 1);
        }
        remember(n_known);
    }

    // Numbers the n-grams of new words, which are in `spans_`, all together.
    void remember(std::size_t n_known) {
        const std::int64_t total = total_;
        std::size_t word = n_known, left = word < sizes_.size() ? sizes_[word] : 0;
        number(
            spans_.size(), [&](std::size_t at) { return spans_[at]; },
            [&](std::int32_t place) {
                if (place >= 0) grams_.push_back(place);
                if (--left > 0) return;
                gram_ends_.push_back(grams_.size());
                if (++word < sizes_.size()) left = sizes_[word];
            });
        total_ = total;
    }

    void forget() {
        memory_ = Dictionary();
        grams_.clear();
        sizes_.clear();
        gram_ends_.assign(1, 0);
    }

    // Adds the n-grams of a word to `spans_`. A word that is not longer than n is one n-gram, and
    // has none that are longer.
    void cut(Span word) {
        const std::size_t length = find_borders(word);
        for (std::size_t n = rule_.least_n; n <= rule_.greatest_n; ++n) {
            const std::size_t m = std::min(n, length);
            for (const std::uint32_t* at = borders_.data(); at + m <= borders_.data() + length;
                 ++at)
                spans_.push_back({*at, at[m] - *at});
            if (n >= length) break;
        }
    }

    // Writes where the characters of a word begin, and its end; returns how many they are.
    std::size_t find_borders(Span word) {
        const std::uint8_t* text = splitter_.text();
        if (borders_.size() <= word.length) borders_.resize(2 * std::size_t{word.length} + 1);
        std::uint32_t* border = borders_.data();
        for (std::uint32_t at = word.start; at < word.start + word.length; ++at) {
            *border = at;
            border += (text[at] & 0xC0) != 0x80;
        }
        *border = word.start + word.length;
        return static_cast<std::size_t>(border - borders_.data());
    }

    // Numbers tokens, a batch at a time, so that their slots are fetched from memory together.
    template <class SpanOf, class Take> void number(std::size_t n, SpanOf span_of, Take take) {
        const std::uint8_t* text = splitter_.text();
        const Coder coder = coder_;
        typename Coder::Key keys[batch];
        for (std::size_t start = 0; start < n; start += batch) {
            const std::size_t m = std::min(batch, n - start);
            for (std::size_t i = 0; i < m; ++i) {
                const Span span = span_of(start + i);
                keys[i] = coder.key(text + span.start, span.length);
                coder.prefetch(keys[i]);
            }
            row_.reserve(m);
            for (std::size_t i = 0; i < m; ++i) {
                take(coder.code(keys[i]));
            }
        }
        total_ += static_cast<std::int64_t>(n);
    }

    Splitter splitter_;
    const TokenRule rule_;
    Coder coder_;
    CountedRows& rows_;
    RowCounter row_;
    std::int64_t total_ = 0;

    RowCounter row_of_words_;  // of characters
    Dictionary memory_;        // of words and the places of their n-grams
    std::vector<std::int32_t> grams_;
    std::vector<std::uint32_t> sizes_, borders_;
    std::vector<Span> spans_;
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

// --- tallies of hashed words ---------------------------------------------------------------------

namespace {

// Tokens of one document that have been hashed: their counts are on the way from memory.
struct Batch {
    TokenCount* counts = nullptr;  // of the document's class
    std::uint32_t document = 0;
    std::size_t n = 0;
    std::uint32_t places[batch];
};

class Tally {
  public:
    explicit Tally(const HashedTable& table) : table_(table), document_(table.number) {}

    void begin(std::int32_t its_class) {
        ++document_;
        counts_ = table_.counts + static_cast<std::size_t>(its_class) * table_.stride;
    }

    // Hashes at most `batch` tokens, and adds those before.
    void take(const std::uint8_t* text, const Span* tokens, std::size_t n) {
        next_->counts = counts_;
        next_->document = document_;
        next_->n = n;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t hash = murmur(text + tokens[i].start, tokens[i].length);
            next_->places[i] = place_of(hash, table_.width);
            NAIVELY_PREFETCH(counts_ + next_->places[i]);
            NAIVELY_PREFETCH(table_.last + next_->places[i]);
        }
        add();
        std::swap(ready_, next_);
    }

    // Adds the tokens that were hashed last. A document counts at the first of its tokens.
    void add() {
        std::uint32_t* last = table_.last;
        for (std::size_t i = 0; i < ready_->n; ++i) {
            const std::uint32_t place = ready_->places[i];
            TokenCount& count = ready_->counts[place];
            ++count.occurrences;
            count.documents += last[place] != ready_->document;
            last[place] = ready_->document;
        }
    }

  private:
    const HashedTable table_;
    std::uint32_t document_;
    TokenCount* counts_ = nullptr;
    Batch batches_[2], *ready_ = batches_, *next_ = batches_ + 1;
};

void take_words(Splitter& splitter, const TokenRule& rule, Tally& tally) {
    if (rule.greatest_n > 1) splitter.join(' ');
    const Span* tokens = splitter.tokens();
    const std::size_t n_tokens = splitter.n_tokens();
    for (std::size_t n = rule.least_n; n <= rule.greatest_n && n <= n_tokens; ++n) {
        const std::size_t end = n_tokens - n + 1;
        for (std::size_t at = 0; at < end; at += batch) {
            const std::size_t m = std::min(batch, end - at);
            Span spans[batch];
            for (std::size_t i = 0; i < m; ++i) {
                const Span first = tokens[at + i], last = tokens[at + i + n - 1];
                spans[i] = {first.start, last.start + last.length - first.start};
            }
            tally.take(splitter.text(), spans, m);
        }
    }
}

}  // namespace

CountOutcome tally_hashed(const Documents& documents, const std::int32_t* classes,
                          const Alphabet& alphabet, const TokenRule& rule,
                          const HashedTable& table) {
    Splitter splitter(alphabet, false);
    Tally tally(table);
    for (std::size_t i = 0; i < documents.n; ++i) {
        if (documents.lengths[i] < 0) continue;
        const auto* text = reinterpret_cast<const std::uint8_t*>(documents.addresses[i]);
        const auto length = static_cast<std::size_t>(documents.lengths[i]);
        const TextStatus status = splitter.split(text, length);
        if (status != TextStatus::ok) return {status, i};
        tally.begin(classes[i]);
        take_words(splitter, rule, tally);
    }
    tally.add();
    return {TextStatus::ok, 0};
}

}  // namespace naively
