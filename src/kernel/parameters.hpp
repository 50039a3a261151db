// Reads the parameters of Gaussians off the moments of classes and columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "moments.hpp"

namespace naively {

// Adds up the classes, column by column: in all of them together,
//
//     m2 = sum_k m2_k + sum_k w_k (mean_k - mean)^2
void pool(const ConstMomentsView& moments, std::size_t n_classes, std::size_t n_columns,
          const MomentsView& out);

// Cells, each of some weight in some class, of `n_columns` columns.
struct CellsOfRows {
    const double* values;
    const std::int32_t* codes;
    const double* weights;
    std::size_t n_rows;
};

// The moments of each row's own class without the row, by row and column; zero where nothing is
// left, meaningless where the cell is missing. There is no rest in `out`.
void moments_without(const CellsOfRows& rows, const ConstMomentsView& moments,
                     std::size_t n_columns, const MomentsView& out);

// How variances are smoothed: by a part of each column's own, or of the largest column's.
struct Smoothing {
    double part;
    bool by_column;
    double ddof;
};

// The variances of classes and columns, m2 / (w - ddof) + epsilon. `epsilon` holds one number for
// each column; if smoothing is not by column, they are equal. False, with nothing that counts
// written, where that is not the whole story: a class has too few cells, or a variance is nothing
// that a double holds well.
bool plain_variances(const ConstMomentsView& moments, std::size_t n_classes, std::size_t n_columns,
                     const Smoothing& smoothing, double* variance, double* epsilon);

struct Gaussians {
    const double *mean, *variance, *weight;  // by class and column
};

// A, B and mu by column and class, the weights folded in. False where these differ between the
// classes of a column, or where B would be no ordinary double.
bool plain_quadratics(const Gaussians& gaussians, std::size_t n_classes, std::size_t n_columns,
                      double* A, double* B, double* mu);

}  // namespace naively
