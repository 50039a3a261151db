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
#pragma once

#include <cstddef>
#include <cstdint>

#include "table.hpp"
#include "tally.hpp"

namespace naively {

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
