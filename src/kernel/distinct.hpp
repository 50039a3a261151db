// The distinct ones of many cells, in the order of their first appearance, by a hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

class Distinct {
  public:
    // Returns the code of cell i: that of an equal cell before it, or the next one. `equal(j)` says
    // whether it is equal to cell j, which has the same hash.
    template <class Equal> std::int32_t code(std::size_t i, std::uint64_t hash, Equal equal) {
        hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 29;
        std::size_t at = hash & (slots_.size() - 1);
        for (; slots_[at].code >= 0; at = (at + 1) & (slots_.size() - 1))
            if (slots_[at].hash == hash && equal(first_[static_cast<std::size_t>(slots_[at].code)]))
                return slots_[at].code;
        const auto code = static_cast<std::int32_t>(first_.size());
        slots_[at] = {hash, code};
        first_.push_back(i);
        if (2 * first_.size() > slots_.size()) grow();
        return code;
    }

    // Where each distinct cell first appeared, in the order of codes.
    const std::vector<std::size_t>& first() const { return first_; }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::int32_t code = -1;
    };

    void grow() {
        std::vector<Slot> more(2 * slots_.size());
        for (const Slot& slot : slots_) {
            if (slot.code < 0) continue;
            std::size_t at = slot.hash & (more.size() - 1);
            while (more[at].code >= 0) at = (at + 1) & (more.size() - 1);
            more[at] = slot;
        }
        slots_.swap(more);
    }

    std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two
    std::vector<std::size_t> first_;
};

}  // namespace naively
