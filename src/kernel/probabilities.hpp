// Probabilities of the rows of a tile, from their joint log-probabilities.
#pragma once

#include <cstddef>

#include "exp.hpp"
#include "tile.hpp"

namespace naively {

// power[k][i] = exp(joint[k][i] - best[i]), total[i] the sum of them over classes, share[i] = 1 /
// total[i]
template <class R>
NAIVELY_INLINE void exponentiate_by(std::size_t n_classes, const double* joint, const double* best,
                                    double* power, double* total, double* share) {
    using Lanes = typename R::Lanes;
    for (std::size_t row = 0; row < tile_rows; row += lane_count) {
        Lanes sum{};
        for (std::size_t k = 0; k < n_classes; ++k) {
            Lanes& p = lanes<R>(power + k * tile_rows + row);
            exp_of_negative(lanes<R>(joint + k * tile_rows + row) - lanes<R>(best + row), p);
            sum += p;
        }
        lanes<R>(total + row) = sum;
        lanes<R>(share + row) = (Lanes{} + 1.0) / sum;
    }
}
NAIVELY_BY_REGISTERS(void, exponentiate,
                     (std::size_t n_classes, const double* joint, const double* best, double* power,
                      double* total, double* share),
                     (n_classes, joint, best, power, total, share))

}  // namespace naively
