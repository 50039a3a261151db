// Finds the most probable class in single precision, and knows when that is enough.
//
// Columns are centred and scaled, in double precision, before they are rounded to floats, so
// that every scale is at most 1. With u = 2^-24, the distance D that comes out differs from the
// true one by at most
//
//     u ((10 + columns of a tile) D + 2 M)      where M = sum_j mean_j^2 scale_j of the class
//
// (rounding of x and mean: 2u|d|(|x| + |mean| + |d|) scale, with |x| <= |d| + |mean| and
// 2|d||mean| <= d^2 + mean^2; three more roundings of each product; one per sum.) A row whose
// best class is ahead of every other by more than both their bounds is decided: double
// precision would say the same. The others are left to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tile.hpp"

namespace naively {

class Screen {
  public:
    // Arrays by class, then column. A scale of zero is a column without a say.
    Screen(std::size_t n_classes, std::size_t n_columns, std::size_t band, const double* mean,
           const double* scale, const double* offset);

    // Whether floats can hold the parameters at all.
    bool usable() const { return usable_; }

    class Work;

  private:
    std::size_t n_classes_, n_columns_, band_, n_bands_;
    std::vector<double> centre_, unit_;  // per column
    Aligned<float> parameters_;
    std::vector<double> offset_;    // per class
    std::vector<double> constant_;  // 2 u M, per class
    bool usable_ = true;
};

// The working memory of one call.
class Screen::Work {
  public:
    explicit Work(const Screen& screen);

    void start();

    // Adds the distances over some columns of a tile; false if a cell does not fit a float.
    bool add(const double* tile, std::size_t column, std::size_t columns, Ahead* ahead);

    // Labels the rows; false if one of them is not decided.
    bool decide(std::size_t rows, std::int64_t* labels);

  private:
    const Screen& screen_;
    Aligned<float> tile_, part_;
    AlignedArray distance_;
};

}  // namespace naively
