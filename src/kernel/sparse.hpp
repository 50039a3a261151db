// Sparse rows in the user's memory, and what is counted and scored of them.
//
// The cells of a row may stand in any order, and those of one place are added up. NaN is a missing
// cell. Rows are read one by one, each while the memory of the next ones is fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "table.hpp"
#include "tally.hpp"

namespace naively {

struct SparseRows {
    const std::int64_t* starts;  // n_rows + 1 of them
    std::size_t n_rows;
    const char* places;
    bool has_long_places;  // int64, else int32
    const char* values;
    Kind kind;
    std::size_t n_columns;  // fewer than 2^32
};

constexpr std::size_t cells_behind = 64;  // whose weights are fetched beforehand
constexpr std::size_t rows_behind = 2;    // how far the row is that is fetched beforehand

// Cells beyond this count as this in sums of lines, which must be finite.
constexpr double farthest_cell = 1e300;

// Counts beyond this are no counts: sums of them would be infinite.
constexpr double largest_count = 1e290;

enum class Problem : std::uint8_t { none, place, negative, infinite };

// What went wrong, and in which row.
struct Finding {
    Problem problem = Problem::none;
    std::size_t row = 0;
};

// The cells of a row: as they are in memory, or in the buffers of whoever read them.
struct Cells {
    const std::uint32_t* places = nullptr;
    const double* values = nullptr;  // null where they are not asked for
    std::size_t n = 0;
    std::size_t n_behind = 0;    // places of other rows that can be read behind these
    std::uint32_t greatest = 0;  // of the places
};

// How rows are to be read.
struct Reading {
    bool values = true;            // else only places are read, none of which is twice in a row
    bool distinct = false;         // cells of one place are to be added up
    bool negative = false;         // cells below zero are allowed
    const double* step = nullptr;  // where given, only cells above it are kept
};

class RowReader {
  public:
    RowReader(const SparseRows& X, const Reading& reading) : X_(X), reading_(reading) {}

    // Reads a row. Missing cells are not among its cells: they are in `missing`.
    Problem read(std::size_t row);

    void prefetch(std::size_t row) const;

    Cells cells;
    std::vector<std::uint32_t> missing;

  private:
    bool read_places(std::size_t first, std::size_t n);
    void read_values(std::size_t first, std::size_t n);
    Problem tidy();
    void keep_sorted();

    const SparseRows& X_;
    const Reading reading_;
    std::vector<std::uint32_t> places_;
    std::vector<double> values_;
    std::vector<std::pair<std::uint32_t, double>> sorted_;
};

enum class Measure : std::uint8_t { occurrences, documents, missing };

struct Counting {
    Measure measure;
    double threshold;  // documents are those of cells above it
    bool is_distinct;  // no place is twice in a row, and all cells are above: values are not read
    double* out;       // of class k, at out + k * stride
    std::size_t stride;
};

// Adds the weights of cells to the line of their class, row by row in the given order. What a row
// of weight zero holds does not matter. Where a problem is found, out is spoilt.
Finding count_sparse(const SparseRows& X, const Labelled& rows, const std::uint32_t* order,
                     std::size_t n, const Counting& counting);

// The same for a table of all cells.
Finding count_table(const Table& X, const Labelled& rows, const Counting& counting);

// Cells as they would be added: one after the other, and how many there are.
struct CellList {
    std::int32_t* classes;
    std::int64_t* entries;
    double* values;
    std::int64_t offset;  // that is added to places
    std::size_t n = 0;
};

// Lists the cells that `count_sparse` would add; the list has room for all of X.
Finding list_sparse(const SparseRows& X, const Labelled& rows, const Counting& counting,
                    CellList& list);

// Adds listed cells to the sums of their classes, which are `stride` apart, one after the other.
void add_listed(const std::int32_t* classes, const std::int64_t* entries, const double* values,
                std::size_t n, std::size_t stride, double* out);

// Mixes the cells of each row into its hash, which depends on neither their order nor zeros among
// them: to the hash, what each cell's place and value give is added, and the sum is mixed as in
// labels.hpp. A place is known by its hash, or by its number where `hashes` is null.
Finding hash_sparse(const SparseRows& X, const std::uint64_t* hashes, std::uint64_t* inout);

// order: the rows by class, in their own order within each; ends[k] is where class k begins.
void group_rows(const std::int32_t* codes, std::size_t n, std::size_t n_classes,
                std::uint32_t* order, std::int64_t* ends);

// Moments of whole classes: `order` holds all rows of some classes, class by class. Cells that are
// not held are zeros. out: weight, mean, m2 and rest, each by class and column, all zero before;
// class_weight: of all rows of each class.
Finding add_sparse_moments(const SparseRows& X, const Labelled& rows, const double* class_weight,
                           const std::uint32_t* order, std::size_t n, double* out);

// joint[i][k] += sum over the cells x of row i of B[j][k] x + C[j][k] x^2; of a missing one,
// -A[j][k].
Finding add_sparse_quadratics(const SparseRows& X, const double* A, const double* B,
                              const double* C, std::size_t n_classes, double* joint);

// joint[i][k] += sum over the cells x of row i of B[j][k] x; of a missing one, -A[j][k]. A may be
// null. With a step, x is 1 above it, and else 0.
Finding add_sparse_lines(const SparseRows& X, const double* A, const double* B, const double* step,
                         std::size_t n_classes, double* joint);

// Weights of lines in 16 bits, which find the most probable class of most rows of counts.
//
//     B[j][k] = middle[j] + step (q[j][k] + e),  |e| <= 1/2 and |q| <= 1023
//
// What a middle adds is the same for all classes: they are ranked by step * sum of x[j] q[j][k],
// whole numbers that are added without rounding. Where the first class leads by more than that and
// the rounding of doubles can be wrong, doubles rank it first, too; other rows are left to them.

class LineScreen {
  public:
    static constexpr std::size_t most_classes = 64;

    // B by column and class: finite numbers, of at most `most_classes` classes.
    LineScreen(const double* B, std::size_t n_columns, std::size_t n_classes);

    // labels[i]: the class that is first by constant + sum of B x, or -1 where doubles must decide.
    // A row whose cells are not all counts is left to them.
    Finding label(const SparseRows& X, const double* constant, std::int64_t* labels) const;

    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_classes() const { return n_classes_; }

  private:
    std::size_t n_columns_, n_classes_, stride_;
    double step_, greatest_ = 0.0;          // the greatest |B|
    std::unique_ptr<std::int16_t[]> held_;  // with room to begin at a line of the cache
    std::int16_t* weights_;
};

}  // namespace naively
