// Tallies: the weight of each class in each category of a column, or in each bin of its numbers.
//
// Weights add up in the order of the rows; without weights, counts are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "registers.hpp"
#include "table.hpp"

namespace naively {

// out[k][offsets[j] + c] += the weight of the rows of class k with code c in column j, where
// offsets[0] = 0 and the last of them is the length of a line of `out`. Codes: see labels.hpp.
// False if a code has no category; out is spoilt then.
bool tally(const Table& X, const Labelled& rows, const std::int64_t* offsets, double* out);

// out[k][j][b] += the weight of the rows of class k whose number in column j is above b of the
// column's n_bins - 1 ascending edges. NaN is a missing cell. False if X holds infinity; out is
// spoilt then.
bool tally_bins(const Table& X, const Labelled& rows, const double* edges, std::size_t n_bins,
                double* out);

// The bin of a number among ascending edges: how many edges are below it.
//
// The edges stand in the order of a binary tree, level by level, filled up with infinity to
// 2^depth - 1 of them: at node i the search goes on at 2i, or at 2i + 1 if the edge there is below
// x, and after `depth` steps it is at 2^depth + bin. No branch depends on the data; where there are
// permutations of registers (AVX-512), trees of up to 127 edges live in sixteen of them.

class Search {
  public:
    // The edges ascend, equal ones and infinity allowed.
    Search(const double* edges, std::size_t n_edges);

    // bin[i] for x[i], which is finite, or `missing()` where it is NaN.
    void find(const double* x, std::size_t n, std::uint32_t* bin) const;

    // Above every bin.
    std::uint32_t missing() const { return std::uint32_t{1} << depth_; }

  private:
    unsigned depth_ = 0;
    AlignedArray tree_;
};

// Scatter: the products of all pairs of columns, around the mean of each class.
//
//     d = x - centre, and 0 where a cell is missing
//     mean_k = sum of w d / N_k        C_k = sum of w (d - mean_k) (d - mean_k)^T
//
// Rows are taken in tiles that stay in the cache. Within a tile, the rows of a class are added to
// its products a rectangle of them at a time, which stays in registers. Products are those of
// differences from a shift, the mean of the first rows of the class; in the end, with delta the
// distance of the mean from it, C_k = P_k - N_k delta delta^T. The subtraction loses at most a
// factor of 1 + delta^2 / variance.

// Writes the weight of each class, its mean (class by column), and C: of each class the columns
// (0, 0), (0, 1), ... (1, 1), (1, 2), ... All must be zero before, and stay so for a class without
// rows.
void scatter(const Table& X, const Labelled& rows, const double* centre, double* weight,
             double* mean, double* products);

// The scatter of classes: their weights, means (class by column) and products, as above.
template <class Double> struct ScatterArrays {
    Double *weight, *mean, *products;
};

// Adds b, of n classes, class c of which is class places[c] of a. By the formula of Chan, Golub and
// LeVeque (1979), C = C_a + C_b + w_a w_b / (w_a + w_b) delta delta^T. False if a is not finite any
// more.
bool add_scatter(const ScatterArrays<double>& a, const ScatterArrays<const double>& b,
                 const std::int64_t* places, std::size_t n, std::size_t p);

}  // namespace naively
