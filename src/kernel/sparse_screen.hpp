// Weights of lines in 16 bits, which find the most probable class of most rows of counts.
//
//     B[j][k] = middle[j] + step (q[j][k] + e),  |e| <= 1/2 and |q| <= 1023
//
// What a middle adds is the same for all classes: they are ranked by step * sum of x[j] q[j][k],
// whole numbers that are added without rounding. Where the first class leads by more than that and
// the rounding of doubles can be wrong, doubles rank it first, too; other rows are left to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sparse.hpp"

namespace naively {

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
