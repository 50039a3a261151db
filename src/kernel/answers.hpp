// What is wanted of a tile of rows, read off their joint log-probabilities.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "exp_log.hpp"
#include "gaussian.hpp"
#include "tile.hpp"

namespace naively {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Finds each row's largest joint. Where there are offsets, joint holds distances, and becomes
// absent + offset - distance before.
template <class R>
NAIVELY_INLINE void find_largest_by(std::size_t n_classes, const double* offset,
                                    const double* absent, double* joint, double* best,
                                    double* label) {
    using Lanes = typename R::Lanes;
    for (std::size_t row = 0; row < tile_rows; row += lane_count) {
        Lanes largest = Lanes{} - infinity, at{};
        for (std::size_t k = 0; k < n_classes; ++k) {
            Lanes& line = lanes<R>(joint + k * tile_rows + row);
            if (offset != nullptr) line = lanes<R>(absent + k * tile_rows + row) + offset[k] - line;
            set_where_greater(line, largest, at, Lanes{} + static_cast<double>(k));
            set_where_greater(line, largest, largest, line);
        }
        lanes<R>(best + row) = largest;
        lanes<R>(label + row) = at;
    }
}
NAIVELY_BY_REGISTERS(find_largest)

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
NAIVELY_BY_REGISTERS(exponentiate)

// out[i * n_classes + k] = values[k * tile_rows + i] * factor[i], for a full tile
template <class R>
NAIVELY_INLINE void write_tile_by(const double* values, const double* factor, std::size_t n_classes,
                                  double* out) {
    using Lanes = typename R::Lanes;
    const std::size_t in_lanes = n_classes / lane_count * lane_count;
    for (std::size_t i = 0; i < tile_rows; i += lane_count) {
        for (std::size_t k = 0; k < in_lanes; k += lane_count) {
            Lanes square[lane_count];
            for (std::size_t c = 0; c < lane_count; ++c)
                square[c] = lanes<R>(values + (k + c) * tile_rows + i) * lanes<R>(factor + i);
            transpose(square);
            for (std::size_t r = 0; r < lane_count; ++r)
                store(square[r], out + (i + r) * n_classes + k);
        }
        for (std::size_t r = i; r < i + lane_count; ++r)
            for (std::size_t k = in_lanes; k < n_classes; ++k)
                out[r * n_classes + k] = values[k * tile_rows + r] * factor[r];
    }
}
NAIVELY_BY_REGISTERS(write_tile)

// The answers of rows of a tile, where `joint` is by class and row.
class TileAnswers {
  public:
    TileAnswers(std::size_t n_classes, const Output& output)
        : n_classes_(n_classes), output_(output),
          power_(aligned_array(needs_powers() ? n_classes * tile_rows : 0)) {}

    alignas(64) double best[tile_rows], label[tile_rows];  // of each row, to be found before

    // Joint becomes log-probabilities where those are wanted.
    void write(double* joint, std::size_t row, std::size_t rows) {
        if (output_.want == Want::label)
            for (std::size_t i = 0; i < rows; ++i)
                output_.labels[row + i] = static_cast<std::int64_t>(label[i]);
        else if (output_.values != nullptr)
            write(joint, row, rows, output_.values);
        else
            write(joint, row, rows, output_.short_values);
    }

  private:
    bool needs_powers() const { return output_.want != Want::label && output_.want != Want::joint; }

    template <class T> void write(double* joint, std::size_t row, std::size_t rows, T* out) {
        const std::size_t K = n_classes_;
        if (needs_powers()) exponentiate(K, joint, best, power_.get(), total_, factor_);
        if (needs_powers() && output_.want != Want::proba)  // total_ becomes log p(x)
            for (std::size_t i = 0; i < rows; ++i)
                total_[i] = best[i] == -infinity ? -infinity : best[i] + std::log(total_[i]);
        if (output_.want == Want::evidence) {
            for (std::size_t i = 0; i < rows; ++i) out[row + i] = static_cast<T>(total_[i]);
            return;
        }
        if (output_.want == Want::log_proba)
            for (std::size_t at = 0; at < K * tile_rows; ++at) joint[at] -= total_[at % tile_rows];
        if (output_.want != Want::proba) std::fill_n(factor_, tile_rows, 1.0);
        const double* values = output_.want == Want::proba ? power_.get() : joint;
        if (std::is_same_v<T, double> && rows == tile_rows)
            return write_tile(values, factor_, K, output_.values + row * K);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t k = 0; k < K; ++k)
                out[(row + i) * K + k] = static_cast<T>(values[k * tile_rows + i] * factor_[i]);
    }

    const std::size_t n_classes_;
    const Output output_;
    const AlignedArray power_;
    alignas(64) double total_[tile_rows], factor_[tile_rows];
};

}  // namespace naively
