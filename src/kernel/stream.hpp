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
#include <cmath>
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

// The sums that a stream of single rows keeps, for three kinds of naive Bayes.

struct GaussianOptions {
    double var_smoothing;
    bool by_column;  // smooth each column by its own variance
};

// Weight, mean and squared deviations by class and column, and log densities of Gaussians:
//
//     -log(2 pi v) / 2 - (x - mean)^2 / 2 v,    v = m2 / w + epsilon
//
// epsilon is a part of the largest variance of all rows. Where a class has no cell in a column, it
// borrows the mean and variance of all rows; where there are none, the term is left out.
class MomentStatistics final : public RowStatistics {
  public:
    explicit MomentStatistics(const GaussianOptions& options) : options_(options) {}
    void grow(std::size_t n_classes, std::size_t n_columns) override;
    void clear() override;
    void add(const StreamRow& row) override;
    bool remove(const StreamRow& row, const Removal& how) override;
    bool may_leave(double left, double noise, const StreamRow& row) const override;
    void empty(std::size_t k) override;
    void multiply(double factor) override;
    bool add_terms(const StreamRow& row, const ClassWeights& weights, double* joint) override;
    bool is_plain(double x) const override { return x > -1e60 && x < 1e60; }
    // Weight, mean, m2 and rest.
    std::size_t n_tables() const override { return 4; }
    std::size_t width(std::size_t) const override { return columns_.size(); }
    double get(std::size_t table, std::size_t k, std::size_t j, double scale) const override;
    void set(std::size_t table, std::size_t k, std::size_t j, double value) override;

  private:
    void changed(std::size_t j) { stale_[j] = 1, any_stale_ = true; }
    struct Cell : Moments {
        double largest_m2 = 0.0;  // that rows were removed from
    };
    struct Column {  // all classes together
        double mean = 0.0, variance = -1.0;
    };
    void refresh();
    Column pooled(std::size_t j) const;

    const GaussianOptions options_;
    std::vector<std::vector<Cell>> by_class_;
    std::vector<Column> columns_;
    std::vector<unsigned char> stale_;
    bool any_stale_ = false;
    double largest_ = 0.0;
};

enum class CountTerms { multinomial, complement, presence };

struct CountOptions {
    CountTerms terms;
    double alpha;
    double threshold;  // of presence
};

// Running counts of entries, such as words, and the terms of the models that read them.
//
//     multinomial  sum of x_j (log(N_kj + a) - log(N_k + A)),            A = a times the entries
//     complement   the same, negated, of what all other classes hold
//     presence     sum of log p_kj for entries in the row and log(1 - p_kj) for all others,
//                  p_kj = (D_kj + a) / (W_kj + 2a)
//
// N counts occurrences, D the rows that hold an entry, W those in which it is not missing.
class CountStatistics final : public RowStatistics {
  public:
    explicit CountStatistics(const CountOptions& options) : options_(options) {}
    void grow(std::size_t n_classes, std::size_t n_columns) override;
    void clear() override;
    void add(const StreamRow& row) override;
    bool remove(const StreamRow& row, const Removal& how) override;
    bool may_leave(double left, double noise, const StreamRow& row) const override;
    void empty(std::size_t k) override;
    void multiply(double factor) override;
    bool add_terms(const StreamRow& row, const ClassWeights& weights, double* joint) override;
    bool is_plain(double x) const override {
        return x < 1e60 && x > (is_presence() ? -1e60 : -1e-300);
    }
    bool is_kept(double x) const override {
        return is_presence() ? !(x <= options_.threshold) : x != 0.0 && x == x;
    }
    double absent() const override { return 0.0; }

    // Counts; and the weight of missing cells, which only presence asks for.
    std::size_t n_tables() const override { return is_presence() ? 2 : 1; }
    std::size_t width(std::size_t) const override { return n_columns_; }
    double get(std::size_t table, std::size_t k, std::size_t j, double scale) const override {
        return scale * (table == 0 ? counts_[at(k, j)] : missing(k, j));
    }
    void set(std::size_t table, std::size_t k, std::size_t j, double value) override;

  private:
    double missing(std::size_t k, std::size_t j) const {
        return missing_.empty() ? 0.0 : missing_[at(k, j)];
    }
    bool is_presence() const { return options_.terms == CountTerms::presence; }
    std::size_t at(std::size_t k, std::size_t j) const { return j * capacity_ + k; }
    double amount(const StreamRow& row, std::size_t i) const;
    void change(std::size_t k, std::size_t j, double by);
    void change_missing(std::size_t k, std::size_t j, double by);
    void forget_logs(std::size_t k, std::size_t j);
    double log_count(std::size_t k, std::size_t j, double scale);
    void add_shares(const StreamRow& row, double scale, double* joint);
    void add_presence(const StreamRow& row, const ClassWeights& weights, double* joint);
    // The numerator of absence, and of both together.
    double absence(std::size_t k, std::size_t j, const ClassWeights& weights, double& whole) const;
    double log_absence(std::size_t k, const ClassWeights& weights);

    const CountOptions options_;
    std::size_t n_classes_ = 0, n_columns_ = 0, capacity_ = 1;
    // By column, then class, with room for more classes. Logarithms are NaN until they are asked
    // for. Nothing is missing, as a rule: then there is no table of it.
    std::vector<double> counts_, logs_, missing_;
    std::vector<double> total_;   // by class
    std::vector<double> column_;  // by column, all classes together
    std::vector<double> base_;    // by class: the terms of a row that holds nothing
    std::vector<unsigned char> stale_;
};

constexpr double most_codes = 16777216.0;

// Running weights of categories that are coded 0, 1, 2, ..., and their smoothed shares:
//
//     (w_kc + a) / (w_k + a n)    of n categories, of which a class without cells has equal shares
class CodeStatistics final : public RowStatistics {
  public:
    explicit CodeStatistics(double alpha) : alpha_(alpha) {}
    void grow(std::size_t n_classes, std::size_t n_columns) override;
    void clear() override;
    void add(const StreamRow& row) override;
    bool remove(const StreamRow& row, const Removal& how) override;
    bool may_leave(double left, double noise, const StreamRow& row) const override;
    void empty(std::size_t k) override;
    void multiply(double factor) override;
    bool add_terms(const StreamRow& row, const ClassWeights& weights, double* joint) override;
    bool is_plain(double x) const override {
        return x >= 0.0 && x < most_codes && x == std::floor(x);
    }

    // A table for each column, as wide as its codes.
    std::size_t n_tables() const override { return columns_.size(); }
    std::size_t width(std::size_t column) const override { return columns_[column].n_codes; }
    double get(std::size_t column, std::size_t k, std::size_t code, double scale) const override {
        return scale * weight(k, column, code);
    }
    void set(std::size_t column, std::size_t k, std::size_t code, double value) override {
        if (value > 0.0) add_weight(k, column, code, value);
    }

  private:
    double weight(std::size_t k, std::size_t j, std::size_t code) const;
    void add_weight(std::size_t k, std::size_t j, std::size_t code, double weight);
    struct Column {
        std::vector<std::vector<double>> weights;  // by class and code
        std::vector<double> total;                 // by class
        std::size_t n_codes = 0;                   // one more than the highest with weight
    };
    void drop_empty(std::size_t j);

    const double alpha_;
    std::vector<Column> columns_;
    std::size_t n_classes_ = 0;
};

}  // namespace naively
