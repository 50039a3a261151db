#include "words.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace naively {
namespace {

// Negative, zero or positive, as the bytes of a come before, are or come behind those of b.
int compare(const std::uint8_t* a, std::size_t a_length, const std::uint8_t* b,
            std::size_t b_length) {
    const std::size_t shared = std::min(a_length, b_length);
    const int found = shared ? std::memcmp(a, b, shared) : 0;
    return found ? found : (a_length > b_length) - (a_length < b_length);
}

// The first eight bytes as a number that sorts as they do.
std::uint64_t prefix_of(const std::uint8_t* word, std::size_t length) {
    std::uint64_t prefix = 0;
    for (std::size_t i = 0; i < std::min(length, std::size_t{8}); ++i)
        prefix |= std::uint64_t{word[i]} << (56 - 8 * i);
    return prefix;
}

struct Entry {
    std::uint64_t prefix;
    std::uint32_t code;
};

// Visits the words of two sorted vocabularies in order: first(i, j, which), where `which` is
// negative for word i of a alone, positive for word j of b alone, and zero for both.
template <class Visit> void merge(const WordsView& a, const WordsView& b, Visit visit) {
    std::size_t i = 0, j = 0;
    while (i < a.n || j < b.n) {
        const int which = i == a.n   ? 1
                          : j == b.n ? -1
                                     : compare(a.word(i), a.length(i), b.word(j), b.length(j));
        visit(i, j, which);
        i += which <= 0;
        j += which >= 0;
    }
}

}  // namespace

WordTable::WordTable(std::size_t n_words) : shift_(64 - 10) {
    while (5 * (std::size_t{1} << (64 - shift_)) < 8 * n_words) --shift_;
    slots_.resize(std::size_t{1} << (64 - shift_));
}

std::int32_t WordTable::find_or_add(const WordKey& key, const WordsView& words, std::int32_t next) {
    const std::size_t at = search(key, words);
    if (slots_[at].code >= 0) return slots_[at].code;
    slots_[at] = {key.first, key.second, key.length, next};
    if (8 * ++n_ > 5 * slots_.size()) grow();
    return next;
}

void WordTable::grow() {
    const unsigned bits = slots_.size() < (std::size_t{1} << 20) ? 2 : 1;
    std::vector<Slot> old(slots_.size() << bits);
    old.swap(slots_);
    shift_ -= bits;
    for (const Slot& slot : old) {
        if (slot.code < 0) continue;
        std::size_t at = home(spread(slot.first, slot.second, slot.length));
        while (slots_[at].code >= 0) at = (at + 1) & (slots_.size() - 1);
        slots_[at] = slot;
    }
}

WordIndex::WordIndex(const WordsView& words) : words_(words), table_(words.n) {
    for (std::size_t i = 0; i < words.n; ++i) {
        std::uint8_t padded[inline_bytes] = {};
        const std::size_t length = words.length(i);
        if (length <= inline_bytes && length > 0) std::memcpy(padded, words.word(i), length);
        const std::uint8_t* word = length <= inline_bytes ? padded : words.word(i);
        table_.find_or_add(key_of(word, static_cast<std::uint32_t>(length)), words,
                           static_cast<std::int32_t>(i));
    }
}

void Dictionary::append(const WordKey& key) {
    block_.insert(block_.end(), key.word, key.word + key.length);
    offsets_.push_back(static_cast<std::int64_t>(block_.size()));
}

std::vector<std::uint32_t> order_of(const WordsView& words) {
    std::vector<Entry> entries(words.n);
    for (std::size_t i = 0; i < words.n; ++i)
        entries[i] = {prefix_of(words.word(i), words.length(i)), static_cast<std::uint32_t>(i)};
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        return compare(words.word(a.code), words.length(a.code), words.word(b.code),
                       words.length(b.code)) < 0;
    });
    std::vector<std::uint32_t> order(words.n);
    for (std::size_t i = 0; i < words.n; ++i) order[i] = entries[i].code;
    return order;
}

void find_positions(const WordsView& a, const WordsView& b, std::int32_t* positions) {
    merge(a, b, [&](std::size_t i, std::size_t j, int which) {
        if (which <= 0) positions[i] = which == 0 ? static_cast<std::int32_t>(j) : -1;
    });
}

OwnWords sorted(const WordsView& words, const std::vector<std::uint32_t>& order) {
    constexpr std::size_t ahead = 16;
    OwnWords found;
    found.block.resize(static_cast<std::size_t>(words.offsets[words.n]));
    found.offsets.resize(words.n + 1);
    std::uint8_t* to = found.block.data();
    for (std::size_t i = 0; i < words.n; ++i) {
        if (i + 2 * ahead < words.n) {
            NAIVELY_PREFETCH(words.offsets + order[i + 2 * ahead]);
            NAIVELY_PREFETCH(words.word(order[i + ahead]));
        }
        const std::size_t length = words.length(order[i]);
        if (length) std::memcpy(to, words.word(order[i]), length);
        to += length;
        found.offsets[i + 1] = to - found.block.data();
    }
    return found;
}

OwnWords unite(const WordsView& a, const WordsView& b) {
    OwnWords found;
    found.offsets.push_back(0);
    merge(a, b, [&](std::size_t i, std::size_t j, int which) {
        const std::uint8_t* word = which <= 0 ? a.word(i) : b.word(j);
        const std::size_t length = which <= 0 ? a.length(i) : b.length(j);
        found.block.insert(found.block.end(), word, word + length);
        found.offsets.push_back(static_cast<std::int64_t>(found.block.size()));
    });
    return found;
}

}  // namespace naively
