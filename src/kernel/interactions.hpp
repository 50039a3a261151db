// Terms of several cells of a row: see naively/joint_forms.py for the formulas.
//
// A row's sums are taken in a fixed order and do not depend on its neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gaussian.hpp"
#include "table.hpp"
#include "terms.hpp"

namespace naively {

// out[i][j] = (x_ij - mean_j) scale_j, within 1e100 of 0; 0 where a cell is missing.
Status standardize(const Table& X, const double* mean, const double* scale, double* out);

// z[i][r] += sum over j of f[i][j] W[j][r]
void project(const double* f, std::size_t n, std::size_t p, const double* W,
             std::size_t n_directions, double* z);

// Of each class: A - B log(1 + s |G (f - mean)|^2), where G is lower triangular, p by p. Weights
// may be none: where there are any, the terms of a row are centred over the classes before.
struct MultivariateStudents {
    std::size_t p;
    const double *A, *B, *s, *mean, *G, *weights;
};
void add_multivariate_students(const double* f, const MultivariateStudents& terms,
                               const Joint& joint);

// How cells become places in tables of pairs. Numbers come first, and are between two of their
// knots; then categories, each of which has a bin, the last one of a column being for all others.
struct PairAxes {
    const double* knots;  // of column j from knot_offsets[j] on
    const std::int64_t* knot_offsets;
    const std::int32_t* bins;  // of column j from bin_offsets[j] on
    const std::int64_t* bin_offsets;
};

// Tables of pairs of axes, line by line, one number per class: those of pair i start at line
// offsets[i], and have n_bins of its second axis for each bin of its first. Between knots they are
// bilinear.
struct PairTables {
    std::size_t n_pairs;
    const std::int32_t* axes;  // two for each pair
    const std::int32_t* n_bins;
    const std::int64_t* offsets;
    const double* values;
};

// False if a code has no category.
bool add_pairs(const Table& numbers, const Table& codes, const PairAxes& axes,
               const PairTables& tables, const Joint& joint);

// Rows of a sample, cut into bins: arrays by column and row.
struct BinnedRows {
    std::size_t n_rows, n_classes;
    const std::int32_t *bins, *low;  // -1 is missing
    const double* share;
    const std::int32_t* n_bins;
    const std::int32_t* codes;
    const double* weight;
};

// The score of each pair of columns beyond probabilities p (by row and class).
void judge_pairs(const BinnedRows& rows, const double* p, std::size_t n_pairs,
                 const std::int32_t* pairs, double* scores);

}  // namespace naively
