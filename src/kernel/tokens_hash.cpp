#include <algorithm>
#include <cstring>
#include <utility>

#include "simd.hpp"
#include "tokens.hpp"
#include "tokens_count.hpp"
#include "words.hpp"

namespace naively {

namespace {

constexpr std::size_t most_bytes = 16;  // of a token that is hashed beside others

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

// The first bytes of tokens, four at a time, and their lengths.
struct ShortTokens {
    std::uint32_t words[most_bytes / 4][hashed_together];
    std::uint32_t lengths[hashed_together];
};

// The hashes of tokens of at most `most_bytes` bytes, in the same steps for all of them.
NAIVELY_CLONES void hash_short(const ShortTokens& tokens, std::uint32_t* NAIVELY_RESTRICT hashes) {
    for (std::size_t i = 0; i < hashed_together; ++i) {
        const std::uint32_t length = tokens.lengths[i];
        std::uint32_t h = 0;
        for (std::uint32_t s = 0; s < most_bytes / 4; ++s) {
            const std::uint32_t behind = length > 4 * s ? length - 4 * s : 0;
            const bool is_whole = behind >= 4;
            const std::uint32_t kept =
                is_whole ? 0xFFFFFFFFu : (std::uint32_t{1} << (8 * (behind & 3))) - 1;
            const std::uint32_t mixed = h ^ scramble(tokens.words[s][i] & kept);
            h = is_whole ? step(mixed) : mixed;
        }
        hashes[i] = finish(h, length);
    }
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

void hash_tokens(const std::uint8_t* text, const Span* tokens, std::size_t n, std::uint32_t width,
                 std::uint32_t* places) {
    ShortTokens first;
    std::uint32_t longest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t* token = text + tokens[i].start;
        const std::uint64_t low = load8(token), high = load8(token + 8);
        first.words[0][i] = static_cast<std::uint32_t>(low);
        first.words[1][i] = static_cast<std::uint32_t>(low >> 32);
        first.words[2][i] = static_cast<std::uint32_t>(high);
        first.words[3][i] = static_cast<std::uint32_t>(high >> 32);
        first.lengths[i] = tokens[i].length;
        longest = std::max(longest, tokens[i].length);
    }
    for (std::size_t i = n; i < hashed_together; ++i) {
        for (auto& words : first.words) words[i] = 0;
        first.lengths[i] = 0;
    }
    std::uint32_t hashes[hashed_together];
    hash_short(first, hashes);
    if (longest > most_bytes)
        for (std::size_t i = 0; i < n; ++i)
            if (tokens[i].length > most_bytes)
                hashes[i] = murmur(text + tokens[i].start, tokens[i].length);
    if ((width & (width - 1)) == 0) {
        for (std::size_t i = 0; i < n; ++i)
            places[i] = (hashes[i] >> 31 ? 0u - hashes[i] : hashes[i]) & (width - 1);
    } else {
        for (std::size_t i = 0; i < n; ++i) places[i] = place_of(hashes[i], width);
    }
}

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
