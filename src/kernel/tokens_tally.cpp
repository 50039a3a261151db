#include "tokens_tally.hpp"

#include <algorithm>
#include <utility>

#include "simd.hpp"
#include "tokens_hash.hpp"

namespace naively {
namespace {

// Tokens of one document that have been hashed: their counts are on the way from memory.
struct Batch {
    TokenCount* counts = nullptr;  // of the document's class
    std::uint32_t document = 0;
    std::size_t n = 0;
    std::uint32_t places[hashed_together];
};

class Tally {
  public:
    explicit Tally(const HashedTable& table) : table_(table), document_(table.number) {}

    void begin(std::int32_t its_class) {
        ++document_;
        counts_ = table_.counts + static_cast<std::size_t>(its_class) * table_.stride;
    }

    // Hashes at most `hashed_together` tokens, and adds those before.
    void take(const std::uint8_t* text, const Span* tokens, std::size_t n) {
        next_->counts = counts_;
        next_->document = document_;
        next_->n = n;
        hash_tokens(text, tokens, n, table_.width, next_->places);
        for (std::size_t i = 0; i < n; ++i) {
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
        for (std::size_t at = 0; at < end; at += hashed_together) {
            const std::size_t m = std::min(hashed_together, end - at);
            Span spans[hashed_together];
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
