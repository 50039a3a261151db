#include <algorithm>
#include <cstring>
#include <utility>

#include "simd.hpp"
#include "tokens.hpp"
#include "tokens_count.hpp"
#include "words.hpp"

namespace naively {

namespace {

constexpr std::size_t together = 32;  // tokens whose counts are on the way from memory

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

namespace {

// Tokens of one document that have been hashed: their counts are on the way from memory.
struct Batch {
    TokenCount* counts = nullptr;  // of the document's class
    std::uint32_t document = 0;
    std::size_t n = 0;
    std::uint32_t places[together];
};

class Tally {
  public:
    explicit Tally(const HashedTable& table) : table_(table), document_(table.number) {}

    void begin(std::int32_t its_class) {
        ++document_;
        counts_ = table_.counts + static_cast<std::size_t>(its_class) * table_.stride;
    }

    // Hashes at most `together` tokens, and adds those before.
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
        for (std::size_t at = 0; at < end; at += together) {
            const std::size_t m = std::min(together, end - at);
            Span spans[together];
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
