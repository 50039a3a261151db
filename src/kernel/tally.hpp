// Tallies: the weight of each class in each category of a column, or in each bin of its numbers.
//
// Weights add up in the order of the rows; without weights, counts are exact.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace naively
