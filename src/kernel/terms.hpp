// Terms of a score: each function adds, to the joint log-probabilities of some rows,
//
//     joint[i][k] += sum over columns j of term_jk(x_ij)
//
// where joint has n_rows lines of n_classes numbers. A missing cell (NaN) adds nothing, and
// neither does a class and column of which a parameter is NaN. A row's sum is taken in the order of
// the columns and does not depend on its neighbours.
//
// All return Status::not_finite if X holds infinity; joint is spoilt then.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gaussian.hpp"
#include "table.hpp"

namespace naively {

struct Joint {
    double* values;
    std::size_t n_rows, n_classes;
};

// Parameters are by column, then class. So are weights: where there are any, the terms of a cell
// are centred over the classes before they are weighed, w (term - mean of the classes' terms).
//
// Student: A - B log(1 + z^2) with z = (x - mu) s. Where z^2 would overflow, log(1 + z^2) is
// 2 log|z|: the term is finite for every finite x.
Status add_students(const Table& X, const double* A, const double* B, const double* mu,
                    const double* s, const Joint& joint, const double* weights = nullptr);

// Quadratic: A - B (s (x - mu))^2, where s is 1 unless it is given. The square's part is at most
// 1e300, so that the sum is finite; where that of every class is more, all are taken down by one
// factor, so that the nearest class stays the nearest.
Status add_quadratics(const Table& X, const double* A, const double* B, const double* mu,
                      const Joint& joint, const double* weights = nullptr,
                      const double* s = nullptr);

// Line: A + B x; a cell below `lowest` adds nothing. One so far that x, or B x of a class, would be
// beyond 1e300 counts as the farthest that is not.
Status add_lines(const Table& X, const double* A, const double* B, double lowest,
                 const Joint& joint);

// Piecewise linear: knots[j][0 .. n_knots - 1] ascend, and values[j][m][k] is the term at knot m.
// Constant outside. Equal knots make a jump, where the value is that of the first of them.
Status add_pieces(const Table& X, std::size_t n_knots, const double* knots, const double* values,
                  const Joint& joint);

// The terms of rows in their own classes, between the middles of bins, had they not been seen.
// `knots` and `values` hold three tables: of the bin before that of a cell, of its own, and of the
// bin after; the former by column and bin, the latter by class, column and bin.
struct NearbyBins {
    std::size_t n_bins, n_classes;
    const double *cuts, *knots, *values;
};

// out[i * n_columns + j]; 0 where a cell is missing.
void left_out_of_bins(const Table& X, const std::int32_t* codes, const NearbyBins& bins,
                      double* out);

// One term per category: values[offsets[j] + code][k], see labels.hpp. False if a code has no
// category; joint is spoilt then.
bool add_tables(const Table& X, const std::int64_t* offsets, const double* values,
                const Joint& joint);

// Terms of several cells of a row: see naively/families/joint_forms.py for the formulas.

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

// Reads off what is wanted: labels (the first of the largest), log_proba, proba or evidence. Where
// all of a row is -infinity, its label is 0, its evidence -infinity and its probabilities NaN.
void finish(const double* joint, std::size_t n_rows, std::size_t n_classes, const Output& output);

// Centres a term over the classes, as calibration needs it.

// A term by row and class; in the class of a row, it is replaced by what it would be had the row
// not been seen. `own` stands `step` apart.
struct JudgedTerm {
    const double* values;
    const double* own;
    std::ptrdiff_t step;
    const std::int32_t* codes;
    std::size_t n_rows, n_classes;
};

// out[k * apart + i] = d_ik - mean over l of d_il, where d_ik = max(term_ik - max_l term_il,
// -floor). Minus infinity counts as the least term of the row that is finite; where there is none,
// d is 0.
void centre_term(const JudgedTerm& term, double floor, double* out, std::size_t apart);

// The scores of many models on the same rows, from their joint log-probabilities,
//
//     joint_kc(x_i) = offset_kc - distance_kic
//
// of class k by candidate c, without a table of probabilities. Candidates stand side by side, so
// that the lanes of a register are candidates.

enum class Score { log_loss, hits, brier };

struct Candidates {
    std::size_t n_classes, n_rows, n_candidates;
    const double* offset;    // by class and candidate
    const double* distance;  // by class, row and candidate
};

// Adds to total[c] the sum over rows of -log p(y), [y is the first of the most probable classes],
// or sum_k (p_k - [k = y])^2, each times the weight of its row.
void add_scores(const Candidates& given, const Labelled& rows, Score score, double* total);

}  // namespace naively
