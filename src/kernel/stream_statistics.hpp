// The sums that a stream of single rows keeps, for three kinds of naive Bayes.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "stream.hpp"

namespace naively {

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
