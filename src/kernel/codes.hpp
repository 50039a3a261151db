// Category codes in the user's memory: whole numbers of any type. A code below zero, and NaN, is
// a missing cell. A code becomes a slot, which is safe to index with: the place of its category, or
// one set aside for what is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace naively {

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

}  // namespace naively
