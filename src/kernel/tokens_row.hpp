// The distinct places of one row, by a small hash table that is never cleared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

class RowCounter {
  public:
    RowCounter(std::vector<std::int32_t>& places, std::vector<std::uint32_t>& counts)
        : places_(places), counts_(counts) {}

    void begin() {
        start_ = places_.size();
        size_ = 0;
        set_bits(least_bits);
    }

    void add(std::int32_t place, std::uint32_t count) {
        for (std::size_t at = home(place);; at = (at + 1) & mask_) {
            Entry& entry = entries_[at];
            if (entry.mark != mark_) return append(entry, place, count);
            if (entry.place == place) {
                counts_[start_ + entry.at] += count;
                return;
            }
        }
    }

  private:
    static constexpr unsigned least_bits = 9;

    struct Entry {
        std::uint32_t mark = 0;  // of the row it was written for
        std::int32_t place = 0;
        std::uint32_t at = 0;
    };

    std::size_t home(std::int32_t place) const {
        return (static_cast<std::uint32_t>(place) * 0x9E3779B1u) >> shift_;
    }

    void append(Entry& entry, std::int32_t place, std::uint32_t count) {
        entry = {mark_, place, static_cast<std::uint32_t>(size_++)};
        places_.push_back(place);
        counts_.push_back(count);
        if (2 * size_ > mask_) grow();
    }

    void grow() {
        set_bits(32 - shift_ + 1);
        for (std::size_t i = 0; i < size_; ++i) {
            std::size_t at = home(places_[start_ + i]);
            while (entries_[at].mark == mark_) at = (at + 1) & mask_;
            entries_[at] = {mark_, places_[start_ + i], static_cast<std::uint32_t>(i)};
        }
    }

    void set_bits(unsigned bits) {
        shift_ = 32 - bits;
        mask_ = (std::size_t{1} << bits) - 1;
        if (entries_.size() <= mask_) entries_.resize(mask_ + 1);
        if (++mark_ == 0) {  // marks have all been used once
            entries_.assign(entries_.size(), Entry{});
            mark_ = 1;
        }
    }

    std::vector<std::int32_t>& places_;
    std::vector<std::uint32_t>& counts_;
    std::size_t start_ = 0, size_ = 0, mask_ = 0;
    std::uint32_t mark_ = 0;
    unsigned shift_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace naively
