#include "tally.hpp"

#include <algorithm>
#include <vector>

#include "codes.hpp"
#include "counts.hpp"

namespace naively {
namespace {

constexpr std::size_t chunk_rows = 1024;       // of a column, in the first-level cache
constexpr std::size_t columns_worth_rows = 8;  // fewer would meet again too soon

class CodeCounter {
  public:
    CodeCounter(const Table& X, const Labelled& rows, const Categories& categories, double* out)
        : X_(X), rows_(rows), categories_(categories), out_(out) {}

    bool run() {
        const std::size_t places = rows_.n_classes * (categories_.total + 1);
        if (X_.n_columns >= columns_worth_rows && CodeTile::has_rows(X_) &&
            places <= X_.n_rows * X_.n_columns)
            return rows_.weights == nullptr ? count_rows<std::uint32_t>() : count_rows<double>();
        for (std::size_t j = 0; j < X_.n_columns; ++j)
            if (!count_column(j)) return false;
        return true;
    }

  private:
    // Whether all codes are known, but for those of rows that weigh nothing.
    bool all_known(std::size_t row, std::size_t rows, std::size_t column,
                   std::size_t columns) const {
        for (std::size_t i = row; i < row + rows; ++i)
            for (std::size_t j = column; j < column + columns; ++j)
                if (rows_.weight(i) != 0.0 && X_.cell(i, j) >= categories_.size[j]) return false;
        return true;
    }

    // A row at a time. Its cells are of different columns, and never wait for each other.
    template <class T> bool count_rows() {
        const std::size_t places = categories_.total + 1;
        std::vector<T> counts(rows_.n_classes * places);
        CodeTile tile(X_, categories_);
        for (std::size_t row = 0; row < X_.n_rows; row += tile.rows()) {
            const std::size_t rows = std::min(tile.rows(), X_.n_rows - row);
            if (!tile.load(row, rows) && !all_known(row, rows, 0, X_.n_columns)) return false;
            for (std::size_t i = 0; i < rows; ++i) {
                const T weight = static_cast<T>(rows_.weight(row + i));
                const std::uint32_t* slots = tile.row(i);
                T* line = counts.data() + static_cast<std::size_t>(rows_.codes[row + i]) * places;
                for (std::size_t j = 0; j < X_.n_columns; ++j) line[slots[j]] += weight;
            }
        }
        for (std::size_t k = 0; k < rows_.n_classes; ++k)
            add_sums(counts.data() + k * places, categories_.total, out_ + k * categories_.total);
        return true;
    }

    bool count_column(std::size_t j) {
        const std::uint32_t size = categories_.size[j];
        const std::size_t slots_of_class = std::size_t{size} + 1;
        double* out = out_ + categories_.offset[j];
        // Else, clearing the places would take longer than filling them.
        const bool is_small = rows_.n_classes * slots_of_class <= X_.n_rows;
        Counts counts(1, is_small ? rows_.n_classes : 0, slots_of_class, rows_.weights);
        std::uint32_t slots[chunk_rows];
        for (std::size_t row = 0; row < X_.n_rows; row += chunk_rows) {
            const std::size_t rows = std::min(chunk_rows, X_.n_rows - row);
            if (!read_column(X_.column(j).from(row), rows, size, slots) &&
                !all_known(row, rows, j, 1))
                return false;
            if (is_small)
                counts.add(0, rows_.codes + row, slots, row, rows);
            else
                add_in_place(slots, size, row, rows, out);
        }
        counts.write(0, size, out, categories_.total);
        return true;
    }

    void add_in_place(const std::uint32_t* slots, std::uint32_t size, std::size_t row,
                      std::size_t rows, double* out) const {
        for (std::size_t i = 0; i < rows; ++i) {
            const auto k = static_cast<std::size_t>(rows_.codes[row + i]);
            if (slots[i] < size) out[k * categories_.total + slots[i]] += rows_.weight(row + i);
        }
    }

    const Table& X_;
    const Labelled& rows_;
    const Categories& categories_;
    double* const out_;
};

}  // namespace

bool tally(const Table& X, const Labelled& rows, const std::int64_t* offsets, double* out) {
    const Categories categories(offsets, X.n_columns);
    return CodeCounter(X, rows, categories, out).run();
}

}  // namespace naively
