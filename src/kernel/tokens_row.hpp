// The distinct places of one row, by a small hash table.
//
// Whether a place is new cannot be foreseen, and a wrong guess of the processor costs more than all
// the rest: what is written does not branch on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace naively {

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

}  // namespace naively
