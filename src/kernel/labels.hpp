// Labels as codes: of integers, of texts, and of cells by the place of their category.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace naively {

// Writes the code of each label and returns the distinct labels, ascending. Returns nothing
// where there are no labels, or where their range is too wide for a table.
template <class T> std::vector<T> encode(const T* labels, std::size_t n, std::int32_t* codes);

// The greatest of all codes, of which a negative one would be the greatest.
std::uint32_t greatest_code(const std::int32_t* codes, std::size_t n);

// Category codes in the user's memory: whole numbers of any type. A code below zero, and NaN, is
// a missing cell. A code becomes a slot, which is safe to index with: the place of its category, or
// one set aside for what is missing.

// The columns' categories in one row of places: those of column j start at offset[j].
struct Categories {
    std::vector<std::uint32_t> size, offset;
    std::size_t total = 0;

    Categories(const std::int64_t* offsets, std::size_t n_columns);
};

// slots[i] = code i of the column, or `size` where it is missing. False if a code >= size.
bool read_column(const Line& column, std::size_t n, std::uint32_t size, std::uint32_t* slots);

// Some rows of codes at a time: offset[j] + code of each cell, or `total` where it is missing.
class CodeTile {
  public:
    CodeTile(const Table& X, const Categories& categories);

    // Rows that fit.
    std::size_t rows() const { return rows_; }

    // False if a code has no category.
    bool load(std::size_t row, std::size_t rows);

    // The slots of a loaded row stand `step` apart.
    const std::uint32_t* row(std::size_t i) const {
        return slots_.data() + (by_row_ ? i * categories_.size.size() : i);
    }
    std::size_t step() const { return by_row_ ? 1 : rows_; }

    // Whether rows can be read one after the other, a code behind the other.
    static bool has_rows(const Table& X);

  private:
    const Table& X_;
    const Categories& categories_;
    const bool by_row_;
    const std::size_t rows_;
    std::vector<std::uint32_t> slots_;
};

// The distinct ones of many cells, in the order of their first appearance, by a hash table.

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

// A hash of each row's content, which depends on neither its place nor its neighbours nor the types
// that hold its numbers.
//
//     h = 0x9E3779B97F4A7C15
//     for each v:  h = (h ^ v) * 0xD6E8FEB86659FD93;  h ^= h >> 32
//     then the finaliser of splitmix64, and 2^64 - 2 instead of 2^64 - 1
//
// where v goes through the numbers of the row (the bits of the cell as a double; one zero, one
// NaN) and its categories (the hash of each, 0 where it is missing). No row has the largest hash,
// so that one more than a hash is a hash, too.

// The hashes of one column's categories, by code.
struct Hashes {
    const std::uint64_t* values;
    std::size_t n;
};

// The finaliser.
std::uint64_t finish_hash(std::uint64_t h);

// `numbers` and `codes` may have no columns. out[i] for each row i < n. False if a code has no
// hash.
bool hash_rows(const Table& numbers, const Table& codes, const std::vector<Hashes>& code_hashes,
               std::size_t n, std::uint64_t* out);

// The hash of each text of UTF-8, never 0; 0 where its length is below 0: a missing one. The steps
// are those above, eight bytes at a time as a little-endian number, the last ones filled with
// zeros, and then the length.
void hash_texts(const std::uint64_t* addresses, const std::int64_t* lengths, std::size_t n,
                std::uint64_t* out);

}  // namespace naively
