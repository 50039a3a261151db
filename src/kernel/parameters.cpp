#include <algorithm>
#include <cmath>
#include <vector>

#include "moments.hpp"
#include "simd.hpp"

namespace naively {
namespace {

constexpr double least_variance = 0x1p-1040;  // of less, squares have lost too many digits
constexpr double small_variance = 0x1p-1000;  // whose inverse is still an ordinary double
constexpr double rounding_of_weight = 1e-12;  // below, a difference is rounding
constexpr double rounding_of_m2 = 1e-10;
constexpr double log_two_pi = 1.8378770664093453;

// total[j] = sum over k of part(k * n_columns + j, j), class after class.
template <class Part>
NAIVELY_INLINE void add_up(std::size_t n_classes, std::size_t n_columns, double* total, Part part) {
    std::fill_n(total, n_columns, 0.0);
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t j = 0; j < n_columns; ++j) {
            const double term = part(k * n_columns + j, j);
            total[j] = k == 0 ? term : total[j] + term;
        }
}

}  // namespace

void pool(const ConstMomentsView& moments, std::size_t n_classes, std::size_t n_columns,
          const MomentsView& out) {
    const auto share = [&](std::size_t at, std::size_t j) {
        return moments.weight[at] / (out.weight[j] > 0.0 ? out.weight[j] : 1.0);
    };
    const auto delta = [&](std::size_t at, std::size_t j) {
        return (moments.mean[at] - out.mean[j]) + moments.rest[at];
    };
    const auto squared = [&](std::size_t at, std::size_t j) {
        const double w = moments.weight[at], d = w > 0.0 ? delta(at, j) - out.rest[j] : 0.0;
        return moments.m2[at] + w * d * d;
    };
    add_up(n_classes, n_columns, out.weight,
           [&](std::size_t at, std::size_t) { return moments.weight[at]; });
    add_up(n_classes, n_columns, out.mean,
           [&](std::size_t at, std::size_t j) { return share(at, j) * moments.mean[at]; });
    add_up(n_classes, n_columns, out.rest,  // the shift of a mean that was rounded
           [&](std::size_t at, std::size_t j) { return share(at, j) * delta(at, j); });
    add_up(n_classes, n_columns, out.m2, squared);
    for (std::size_t j = 0; j < n_columns; ++j) {
        const double nearest = out.mean[j] + out.rest[j];
        out.rest[j] -= nearest - out.mean[j];
        out.mean[j] = nearest;
    }
}

NAIVELY_CLONES static void row_without(const double* x, double own, const ConstMomentsView& of,
                                       std::size_t n, const MomentsView& out) {
    for (std::size_t j = 0; j < n; ++j) {
        const double others = of.weight[j] - own;
        const bool left = others > rounding_of_weight * of.weight[j];
        const double part = left ? own / others : 0.0;
        const double delta = (of.mean[j] - x[j]) + of.rest[j];
        const double lost = delta * delta * (of.weight[j] * part);
        const double kept = lost < of.m2[j] ? of.m2[j] - lost : 0.0;
        out.weight[j] = left ? others : 0.0;
        out.mean[j] = left ? of.mean[j] + delta * part : 0.0;
        out.m2[j] = left && kept >= rounding_of_m2 * of.m2[j] ? kept : 0.0;
    }
}

void moments_without(const CellsOfRows& rows, const ConstMomentsView& moments,
                     std::size_t n_columns, const MomentsView& out) {
    for (std::size_t i = 0; i < rows.n_rows; ++i)
        row_without(rows.values + i * n_columns, rows.weights[i],
                    moments.offset(static_cast<std::size_t>(rows.codes[i]) * n_columns), n_columns,
                    out.offset(i * n_columns));
}

bool plain_variances(const ConstMomentsView& moments, std::size_t n_classes, std::size_t n_columns,
                     const Smoothing& smoothing, double* variance, double* epsilon) {
    std::vector<double> kept(4 * n_columns);
    const MomentsView whole{kept.data(), kept.data() + n_columns, kept.data() + 2 * n_columns,
                            kept.data() + 3 * n_columns};
    pool(moments, n_classes, n_columns, whole);
    double largest = 0.0;
    for (std::size_t j = 0; j < n_columns; ++j) {
        epsilon[j] = whole.m2[j] / whole.weight[j];
        if (!std::isfinite(epsilon[j])) return false;
        largest = std::max(largest, epsilon[j]);
    }
    bool plain = true;
    for (std::size_t j = 0; j < n_columns; ++j) {
        epsilon[j] = smoothing.part * (smoothing.by_column ? epsilon[j] : largest);
        plain &= whole.m2[j] >= least_variance * whole.weight[j] || epsilon[j] >= least_variance;
    }
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t j = 0; j < n_columns; ++j) {
            const std::size_t at = k * n_columns + j;
            const double free = moments.weight[at] - smoothing.ddof;
            variance[at] = moments.m2[at] / free + epsilon[j];
            plain &= moments.weight[at] > 0.0 && free > 0.0 && std::isfinite(variance[at]);
        }
    return plain;
}

bool plain_quadratics(const Gaussians& gaussians, std::size_t n_classes, std::size_t n_columns,
                      double* A, double* B, double* mu) {
    bool plain = true;
    for (std::size_t j = 0; j < n_columns; ++j)
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::size_t from = k * n_columns + j, to = j * n_classes + k;
            const double variance = gaussians.variance[from], weight = gaussians.weight[from];
            plain &= variance >= small_variance && variance <= 1 / small_variance;
            plain &= weight == gaussians.weight[j];
            A[to] = weight * (-0.5 * (log_two_pi + std::log(variance)));
            B[to] = weight * (0.5 / variance);
            mu[to] = gaussians.mean[from];
        }
    return plain;
}

}  // namespace naively
