// Running weights of categories that are coded 0, 1, 2, ..., and their smoothed shares:
//
//     (w_kc + a) / (w_k + a n)    of n categories, of which a class without cells has equal shares
#pragma once

#include "stream.hpp"

namespace naively {

constexpr double most_codes = 16777216.0;

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

    // One more than the highest code that has weight.
    std::size_t n_codes(std::size_t j) const { return columns_[j].n_codes; }
    double weight(std::size_t k, std::size_t j, std::size_t code) const;
    void add_weight(std::size_t k, std::size_t j, std::size_t code, double weight);

  private:
    struct Column {
        std::vector<std::vector<double>> weights;  // by class and code
        std::vector<double> total;                 // by class
        std::size_t n_codes = 0;
    };
    void drop_empty(std::size_t j);

    const double alpha_;
    std::vector<Column> columns_;
    std::size_t n_classes_ = 0;
};

}  // namespace naively
