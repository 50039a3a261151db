// Scores rows with a Gaussian naive Bayes model.
//
//     joint_k(x) = constant_k + sum_j A_kj - B_kj (s_kj (x_j - mu_kj))^2
//
// where for Gaussians A = -log(2 pi sigma^2) / 2, B = 1 / (2 sigma^2) and s = 1. Here B is called
// the scale, -A the log_norm, and the constant the log_prior. A missing cell (NaN) leaves its term
// out, for every class: that is the exact marginal.
//
// Rows are packed 16 at a time into columns, so that the lanes of a register are rows: no
// sum crosses lanes, every row is summed in the order of its columns, and its result does
// not depend on its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace naively {

enum class Want { label, joint, log_proba, proba, evidence };

// What is wanted of each row, and where it goes: `labels` holds one index a row; `values`
// one number a row for evidence (log p(x)) and n_classes a row for the others.
struct Output {
    Want want;
    std::int64_t* labels = nullptr;
    double* values = nullptr;
    float* short_values = nullptr;
};

class GaussianModel {
  public:
    // All arrays by column, then class; the constants by class. Where B is not positive, the term
    // is left out. With s, each square is taken of a scaled difference, which is slow: for B that
    // would be no ordinary double without it.
    GaussianModel(std::size_t n_classes, std::size_t n_columns, const double* A, const double* B,
                  const double* mu, const double* s, const double* constant);

    // Ties go to the first class. Status::not_finite: X holds infinity.
    Status score(const Table& X, const Output& output) const;

    std::size_t n_classes() const { return n_classes_; }
    std::size_t n_columns() const { return n_columns_; }

  private:
    friend class Scorer;

    // Classes are kept in bands of `band_`, which the inner loop takes side by side.
    std::size_t n_classes_, n_columns_, band_, n_bands_;
    std::vector<double> parameters_;  // per band and column: the means, then the scales
    std::vector<double> log_norm_;    // per band and column
    std::vector<double> log_prior_;
    std::vector<double> offset_;  // log_prior - sum_j log_norm
    // By class, then column: the roots of the scales, where a scale would be no ordinary double.
    std::vector<double> root_;
};

}  // namespace naively
