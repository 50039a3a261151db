// Centres a term over the classes, as calibration needs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace naively {

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

}  // namespace naively
