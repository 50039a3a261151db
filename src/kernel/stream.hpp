// Running statistics of a stream of single rows, from which predictions are read directly.
//
// A row is a list of cells: columns and numbers; cells that are missing, or counts of 0, are not in
// it. `RowStatistics` keeps the sums of one kind of naive Bayes, adds a row in time that depends on
// its cells alone, and adds up the terms of a row without reading a model first: what is kept
// besides the sums is recomputed only where a row changed it.
//
// Weights are kept as multiples of a scale, which `Stream` owns: to let everything count less, only
// the scale changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "moments.hpp"

namespace naively {

struct StreamRow {
    std::size_t code = 0;  // of its class
    double weight = 1.0;   // a multiple of the scale
    std::vector<std::uint32_t> columns;
    std::vector<double> cells;

    void clear() {
        columns.clear();
        cells.clear();
    }
    // Orders the cells by their columns.
    void sort();
    bool operator==(const StreamRow& b) const {
        const auto same = [](double x, double y) { return x == y || (x != x && y != y); };
        return code == b.code && columns == b.columns &&
               std::equal(cells.begin(), cells.end(), b.cells.begin(), b.cells.end(), same);
    }
};

// The weight of the rows of each class, of which each counts `scale`.
struct ClassWeights {
    std::vector<double> stored;
    double scale = 1.0;

    double of(std::size_t k) const { return stored[k] * scale; }
};

// How a row is removed: a weight that is left, of no more than `noise`, is but rounding. Of a row
// that certainly was added, what would be below zero is rounding, too.
struct Removal {
    double noise = 0.0;
    bool certain = false;
};

class RowStatistics {
  public:
    virtual ~RowStatistics() = default;
    // Makes room; new classes and columns have no weight.
    virtual void grow(std::size_t n_classes, std::size_t n_columns) = 0;
    virtual void clear() = 0;
    virtual void add(const StreamRow& row) = 0;
    // Leaves everything as it is, and returns false, where the row cannot have been added.
    virtual bool remove(const StreamRow& row, const Removal& how) = 0;
    // Whether its class can have this weight left without the row: no column of it weighs more.
    virtual bool may_leave(double left, double noise, const StreamRow& row) const = 0;
    // Removes what rounding has left of a class without rows.
    virtual void empty(std::size_t k) = 0;
    virtual void multiply(double factor) = 0;
    // Adds the terms of a row to those of each class. False where the numbers are so large or so
    // small that a model must be read with care.
    virtual bool add_terms(const StreamRow& row, const ClassWeights& weights, double* joint) = 0;
    // Whether a number may be learned, or asked about.
    virtual bool is_plain(double x) const = 0;
    // Whether a row keeps such a cell.
    virtual bool is_kept(double x) const { return x == x; }
    // The sums are tables by class: of so many columns each, whose weights count `scale`.
    virtual std::size_t n_tables() const = 0;
    virtual std::size_t width(std::size_t table) const = 0;
    virtual double get(std::size_t table, std::size_t k, std::size_t j, double scale) const = 0;
    virtual void set(std::size_t table, std::size_t k, std::size_t j, double value) = 0;
    // The cell of a column that is not in a row.
    virtual double absent() const { return std::numeric_limits<double>::quiet_NaN(); }
};

// a - b, which is 0 where that is but rounding; below 0 where b was never part of a, unless it
// certainly was.
inline double weight_left(double a, double b, const Removal& how) {
    const double left = a - b;
    if (how.certain && left < 0.0) return 0.0;
    const double rounding = std::max(how.noise, (left > 0.0 ? weight_noise : weight_shortfall) * a);
    return left <= rounding && left >= -rounding ? 0.0 : left;
}

// Class weights, a scale, statistics, and the rows of a window.
class Stream {
  public:
    Stream(std::unique_ptr<RowStatistics> statistics, double decay, std::size_t window)
        : statistics_(std::move(statistics)), decay_(decay), window_(window) {}
    void grow(std::size_t n_classes, std::size_t n_columns);
    void clear();
    void learn(StreamRow& row);
    // False where the row cannot have been learned, or is no longer in the window: a weight would
    // be below zero, or a class would weigh less than one of its columns.
    bool forget(StreamRow& row);
    // Log prior and terms; false where a model must be read with care. Priors are the classes'
    // shares, or equal for all classes that have weight.
    bool joint(const StreamRow& row, bool priors, double* out);

    RowStatistics& statistics() { return *statistics_; }
    const RowStatistics& statistics() const { return *statistics_; }
    double scale() const { return weights_.scale; }
    ClassWeights& weights() { return weights_; }
    const std::deque<StreamRow>& rows() const { return rows_; }
    void keep(const StreamRow& row) { rows_.push_back(row); }
    // Forgets the oldest rows that are too many for the window.
    void trim();
    // Whether the statistics hold more than the rows of the window.
    void set_from_elsewhere(bool given) { from_elsewhere_ = given; }

  private:
    double total() const;
    void age();
    void add(const StreamRow& row);
    Removal removal(std::size_t k, bool certain);
    bool remove(const StreamRow& row, const Removal& how);
    void leave(std::deque<StreamRow>::const_iterator at);
    void sum_up_window();

    std::unique_ptr<RowStatistics> statistics_;
    const double decay_;
    const std::size_t window_;  // 0 for all rows
    ClassWeights weights_;
    std::vector<double> heaviest_;  // what each class has weighed since it was empty
    std::deque<StreamRow> rows_;
    std::size_t n_removed_ = 0;
    bool from_elsewhere_ = false;
};

}  // namespace naively
