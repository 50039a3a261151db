// Running counts of entries, such as words, and the terms of the models that read them.
//
//     multinomial  sum of x_j (log(N_kj + a) - log(N_k + A)),            A = a times the entries
//     complement   the same, negated, of what all other classes hold
//     presence     sum of log p_kj for entries in the row and log(1 - p_kj) for all others,
//                  p_kj = (D_kj + a) / (W_kj + 2a)
//
// N counts occurrences, D the rows that hold an entry, W those in which it is not missing.
#pragma once

#include "stream.hpp"

namespace naively {

enum class CountTerms { multinomial, complement, presence };

struct CountOptions {
    CountTerms terms;
    double alpha;
    double threshold;  // of presence
};

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

    double count(std::size_t k, std::size_t j) const { return counts_[at(k, j)]; }
    double missing(std::size_t k, std::size_t j) const {
        return missing_.empty() ? 0.0 : missing_[at(k, j)];
    }
    void set_count(std::size_t k, std::size_t j, double value);
    void set_missing(std::size_t k, std::size_t j, double value);

  private:
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

}  // namespace naively
