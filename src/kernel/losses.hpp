// The scores of many models on the same rows, from their joint log-probabilities,
//
//     joint_kc(x_i) = offset_kc - distance_kic
//
// of class k by candidate c, without a table of probabilities. Candidates stand side by side, so
// that the lanes of a register are candidates.
#pragma once

#include <cstddef>
#include <cstdint>

namespace naively {

enum class Score { log_loss, hits, brier };

struct Candidates {
    std::size_t n_classes, n_rows, n_candidates;
    const double* offset;    // by class and candidate
    const double* distance;  // by class, row and candidate
};

// Adds to total[c] the sum over rows of -log p(y), [y is the first of the most probable classes],
// or sum_k (p_k - [k = y])^2, each times the weight of its row; a null pointer stands for weights
// of 1.
void add_scores(const Candidates& given, const std::int32_t* codes, const double* weights,
                Score score, double* total);

}  // namespace naively
