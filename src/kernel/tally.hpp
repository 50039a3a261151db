// Tallies: the weight of each class in each category of a column, or in each bin of its numbers.
//
// Weights add up in the order of the rows; without weights, counts are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace naively {

// The class of each row, and its weight. `weights` may be null: every row weighs 1. A row of weight
// zero is left out, whatever it holds.
struct Labelled {
    const std::int32_t* codes;
    const double* weights;
    std::size_t n_classes;

    double weight(std::size_t i) const { return weights == nullptr ? 1.0 : weights[i]; }
};

// out[k][offsets[j] + c] += the weight of the rows of class k with code c in column j, where
// offsets[0] = 0 and the last of them is the length of a line of `out`. Codes: see codes.hpp. False
// if a code has no category; out is spoilt then.
bool tally(const Table& X, const Labelled& rows, const std::int64_t* offsets, double* out);

// out[k][j][b] += the weight of the rows of class k whose number in column j is above b of the
// column's n_bins - 1 ascending edges. NaN is a missing cell. False if X holds infinity; out is
// spoilt then.
bool tally_bins(const Table& X, const Labelled& rows, const double* edges, std::size_t n_bins,
                double* out);

// Counts of some columns, each with as many places as there are classes times slots: integers, or
// sums where rows have weights.
//
// A row's neighbour often has the same class and the same slot, and an increment that waits for
// the one before it in the same place takes several times as long. So neighbours count in tables
// of their own, where these are small, which are added up in the end. Sums have one table: their
// order is that of the rows.

class Counts {
  public:
    // `weights` may be null: every row weighs 1.
    Counts(std::size_t columns, std::size_t n_classes, std::size_t slots, const double* weights);

    // What a column takes.
    static std::size_t bytes(std::size_t n_classes, std::size_t slots);

    // Counts rows row, row + 1, ... in their slots; the classes are of these rows. The slots become
    // places.
    void add(std::size_t column, const std::int32_t* classes, std::uint32_t* slots, std::size_t row,
             std::size_t rows);

    // out[k * stride + s] += what was counted of class k in each of the first n slots
    void write(std::size_t column, std::size_t n, double* out, std::size_t stride) const;

    void clear();

  private:
    const std::size_t n_classes_, slots_, places_, tables_;
    const double* weights_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> sums_;
};

// out[i] += sums[i]
void add_sums(const double* sums, std::size_t n, double* out);
void add_sums(const std::uint32_t* sums, std::size_t n, double* out);

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
