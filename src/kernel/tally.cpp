#include "tally.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "labels.hpp"
#include "simd.hpp"
#include "table.hpp"

namespace naively {

namespace {

constexpr std::size_t most_tables = 4;
constexpr std::size_t most_places = std::size_t{1} << 12;  // of a column that has several tables

std::size_t tables_of(std::size_t places, const double* weights) {
    return weights == nullptr && places <= most_places ? most_tables : 1;
}

NAIVELY_CLONES void find_places(const std::int32_t* classes, std::uint32_t per_class,
                                std::uint32_t* NAIVELY_RESTRICT slots, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        slots[i] += static_cast<std::uint32_t>(classes[i]) * per_class;
}

template <class T>
NAIVELY_INLINE void add_each(const T* sums, std::size_t n, double* NAIVELY_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] += static_cast<double>(sums[i]);
}
NAIVELY_CLONES void add_sums(const double* sums, std::size_t n, double* out) {
    add_each(sums, n, out);
}
NAIVELY_CLONES void add_sums(const std::uint32_t* sums, std::size_t n, double* out) {
    add_each(sums, n, out);
}

// Counts of some columns, each with as many places as there are classes times slots: integers, or
// sums where rows have weights.
//
// A row's neighbour often has the same class and the same slot, and an increment that waits for
// the one before it in the same place takes several times as long. So neighbours count in tables
// of their own, where these are small, which are added up in the end. Sums have one table: their
// order is that of the rows.

class Counts {
  public:
    // `weights` may be null: every row weighs 1.
    Counts(std::size_t columns, std::size_t n_classes, std::size_t slots, const double* weights);

    // What a column takes.
    static std::size_t bytes(std::size_t n_classes, std::size_t slots);

    // Counts rows row, row + 1, ... in their slots; the classes are of these rows. The slots become
    // places.
    void add(std::size_t column, const std::int32_t* classes, std::uint32_t* slots, std::size_t row,
             std::size_t rows);

    // out[k * stride + s] += what was counted of class k in each of the first n slots
    void write(std::size_t column, std::size_t n, double* out, std::size_t stride) const;

    void clear();

  private:
    const std::size_t n_classes_, slots_, places_, tables_;
    const double* weights_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> sums_;
};

Counts::Counts(std::size_t columns, std::size_t n_classes, std::size_t slots, const double* weights)
    : n_classes_(n_classes), slots_(slots), places_(n_classes * slots),
      tables_(tables_of(places_, weights)), weights_(weights),
      counts_(weights == nullptr ? columns * tables_ * places_ : 0),
      sums_(weights == nullptr ? 0 : columns * places_) {}

std::size_t Counts::bytes(std::size_t n_classes, std::size_t slots) {
    const std::size_t places = n_classes * slots;
    return std::max(sizeof(double), tables_of(places, nullptr) * sizeof(std::uint32_t)) * places;
}

void Counts::add(std::size_t column, const std::int32_t* classes, std::uint32_t* slots,
                 std::size_t row, std::size_t rows) {
    find_places(classes, static_cast<std::uint32_t>(slots_), slots, rows);
    if (weights_ != nullptr) {
        double* sums = sums_.data() + column * places_;
        for (std::size_t i = 0; i < rows; ++i) sums[slots[i]] += weights_[row + i];
        return;
    }
    std::uint32_t* counts = counts_.data() + column * tables_ * places_;
    std::size_t i = 0;
    if (tables_ == most_tables)
        for (; i + most_tables <= rows; i += most_tables)
            for (std::size_t t = 0; t < most_tables; ++t) ++counts[t * places_ + slots[i + t]];
    for (; i < rows; ++i) ++counts[slots[i]];
}

void Counts::write(std::size_t column, std::size_t n, double* out, std::size_t stride) const {
    for (std::size_t k = 0; k < n_classes_; ++k) {
        const std::size_t first = column * tables_ * places_ + k * slots_;
        if (weights_ != nullptr) add_sums(sums_.data() + first, n, out + k * stride);
        for (std::size_t t = 0; t < tables_ && weights_ == nullptr; ++t)
            add_sums(counts_.data() + first + t * places_, n, out + k * stride);
    }
}

void Counts::clear() {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(sums_.begin(), sums_.end(), 0.0);
}

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

namespace {

constexpr std::size_t strip_rows = 256;  // of several columns
constexpr std::size_t strip_columns = 8;
constexpr std::size_t group_bytes = std::size_t{1} << 19;  // of counts: half of the L2 cache

NAIVELY_CLONES bool is_infinite(const double* x, std::size_t n) { return has_infinity(x, n); }

class BinCounter {
  public:
    BinCounter(const Table& X, const Labelled& rows, const double* edges, std::size_t n_bins,
               double* out)
        : X_(X), rows_(rows), n_bins_(n_bins), out_(out) {
        for (std::size_t j = 0; j < X.n_columns; ++j)
            searches_.emplace_back(edges + j * (n_bins - 1), n_bins - 1);
    }

    bool run() {
        if (X_.n_columns == 0) return true;
        const std::size_t slots = searches_[0].missing() + 1;
        const std::size_t bytes = Counts::bytes(rows_.n_classes, slots);
        const std::size_t fit =
            std::max(strip_columns, group_bytes / std::max<std::size_t>(1, bytes));
        const std::size_t group = X_.has_row_lines() ? std::min(X_.n_columns, fit) : 1;
        Counts counts(group, rows_.n_classes, slots, rows_.weights);
        for (std::size_t column = 0; column < X_.n_columns; column += group) {
            const std::size_t columns = std::min(group, X_.n_columns - column);
            counts.clear();
            if (!(X_.has_row_lines() ? count_strips(column, columns, counts)
                                     : count_column(column, counts)))
                return false;
            for (std::size_t j = 0; j < columns; ++j)
                counts.write(j, n_bins_, out_ + (column + j) * n_bins_, X_.n_columns * n_bins_);
        }
        return true;
    }

  private:
    bool count_column(std::size_t j, Counts& counts) {
        const Line line = X_.column(j);
        const bool in_place = line.is_plain<double>() &&
                              reinterpret_cast<std::uintptr_t>(line.data) % alignof(double) == 0;
        for (std::size_t row = 0; row < X_.n_rows; row += chunk_rows) {
            const std::size_t rows = std::min(chunk_rows, X_.n_rows - row);
            const double* x = strip_;
            if (in_place)
                x = reinterpret_cast<const double*>(line.from(row).data);
            else
                X_.pack_columns(row, rows, j, 1, strip_, chunk_rows);
            if (!count(j, 0, x, row, rows, counts)) return false;
        }
        return true;
    }

    bool count_strips(std::size_t column, std::size_t columns, Counts& counts) {
        for (std::size_t row = 0; row < X_.n_rows; row += strip_rows) {
            const std::size_t rows = std::min(strip_rows, X_.n_rows - row);
            for (std::size_t j = 0; j < columns; ++j) {
                const std::size_t at = j % strip_columns;
                if (at == 0)
                    X_.pack_columns(row, rows, column + j, std::min(strip_columns, columns - j),
                                    strip_, strip_rows);
                if (!count(column + j, j, strip_ + at * strip_rows, row, rows, counts))
                    return false;
            }
        }
        return true;
    }

    bool count(std::size_t j, std::size_t table, const double* x, std::size_t row, std::size_t rows,
               Counts& counts) {
        if (is_infinite(x, rows) && !weighs_nothing(x, row, rows)) return false;
        searches_[j].find(x, rows, bins_);
        counts.add(table, rows_.codes + row, bins_, row, rows);
        return true;
    }

    // Whether all that is infinite does.
    bool weighs_nothing(const double* x, std::size_t row, std::size_t rows) const {
        for (std::size_t i = 0; i < rows; ++i)
            if (std::isinf(x[i]) && rows_.weight(row + i) != 0.0) return false;
        return true;
    }

    const Table& X_;
    const Labelled& rows_;
    const std::size_t n_bins_;
    double* const out_;
    std::vector<Search> searches_;
    alignas(64) double strip_[strip_columns * strip_rows];
    std::uint32_t bins_[chunk_rows];
};

static_assert(chunk_rows <= strip_columns * strip_rows, "a chunk must fit where a strip does");

}  // namespace

bool tally_bins(const Table& X, const Labelled& rows, const double* edges, std::size_t n_bins,
                double* out) {
    return BinCounter(X, rows, edges, n_bins, out).run();
}

}  // namespace naively
