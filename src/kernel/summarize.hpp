// One pass over rows: the moments of every column in every class.
//
// Rows are taken in blocks that stay in the cache. Within a block, class k and column j keep
// the sums of d and of d^2, where d = x - shift and the shift is the value in the first row
// of the class. Then, with w the weight of the cells,
//
//     mean = shift + sum / w        m2 = squares - sum^2 / w
//
// The subtraction loses at most a factor squares / m2 of accuracy. Where that factor exceeds
// 32 (the first row was an outlier), the block is read again with the mean as the shift: the
// corrected two-pass algorithm. Blocks add up by Chan's formula.
//
// Blocks depend on the number of rows and classes alone, so the result does too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "moments.hpp"
#include "table.hpp"

namespace naively {

enum class Status { ok, not_finite };

// Adds the rows of X to `out`, an array of n_classes x X.n_columns statistics, and their
// weight to `class_weight`. codes[i] is the class of row i. NaN is a missing cell. A row whose
// weight is zero is left out. `weights` may be null: every row weighs 1.
//
// Status::not_finite: X holds infinity, or numbers so large that their variance does.
Status summarize(const Table& X, const std::int32_t* codes, const double* weights,
                 std::size_t n_classes, double* class_weight, const MomentsView& out);

// a += b and a -= b for n statistics; false where a mean or an m2 is not finite any more.
bool add(const MomentsView& a, const ConstMomentsView& b, std::size_t n);
bool subtract(const MomentsView& a, const ConstMomentsView& b, std::size_t n);

// The largest mean, without its sign.
double largest_mean(const ConstMomentsView& a, std::size_t n);

}  // namespace naively
