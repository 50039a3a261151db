// Finds the most probable class in single precision, and knows when that is enough.
//
// Columns are centred and scaled, in double precision, before they are rounded to floats, so
// that every scale is at most 1. With u = 2^-24, the distance D that comes out differs from the
// true one by at most
//
//     u ((10 + n) D + 2 M)      where M = sum_j mean_j^2 scale_j of the class
//
// and n counts the sums that a term takes part in: the columns of a tile, and the tiles.
// (Rounding of x and mean: 2u|d|(|x| + |mean| + |d|) scale, with |x| <= |d| + |mean| and
// 2|d||mean| <= d^2 + mean^2; three more roundings of each product; one per sum.)
//
// A class costs D - offset, its offset being log p(k) - sum log_norm, less the largest of all
// classes. So offsets are at most 0, D and |offset| together are the cost, and a few roundings
// more take the bound to u (20 + n) cost + 2uM. A missing cell costs -log_norm, less the mean
// of the column's, which all classes share. Where it comes to B at most for all columns, D,
// |offset| and the missing cells together are at most |cost| + 2B.
//
// The bound grows with the cost. So if it leaves the cheapest class ahead of the second, it
// leaves it ahead of all, and double precision would say the same: the row is decided. The
// others are left to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tile.hpp"

namespace naively {

class Screen {
  public:
    // Parameters (means, then scales) and log_norm are kept by band and column, as those of
    // `GaussianModel`; offsets by class. A column of scale 0 contributes nothing.
    Screen(std::size_t n_classes, std::size_t n_columns, std::size_t band, const double* parameters,
           const double* log_norm, const double* offset);

    // Whether floats can hold the parameters at all.
    bool usable() const { return usable_; }

    class Work;

  private:
    void set_column(std::size_t j, const double* parameters, const double* log_norm);
    void set_offsets(const double* offset);

    std::size_t n_classes_, n_columns_, band_, n_bands_;
    AlignedArray centre_, unit_;    // per column
    Aligned<float> parameters_;     // per band and column: the means, then the scales
    Aligned<float> blank_;          // per band and column: what a missing cell costs
    std::vector<float> offset_;     // per class; it includes the class's 2uM
    std::vector<double> constant_;  // per class
    double slack_, most_blank_ = 0.0;
    bool usable_ = true;
};

// The working memory of one call.
class Screen::Work {
  public:
    Work(const Screen& screen, const Table& X);

    // Labels a tile of rows; false if one of them is not decided.
    bool label(std::size_t row, std::int64_t* labels);

  private:
    void measure(std::size_t row);
    void load(std::size_t row, std::size_t column, std::size_t columns);
    bool decide(std::size_t rows, std::int64_t* labels) const;

    const Screen& screen_;
    const Table& X_;
    AlignedArray packed_;
    Aligned<float> tile_, part_, distance_;
    Ahead ahead_;
    bool missing_ = false;
};

}  // namespace naively
