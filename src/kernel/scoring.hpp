// The steps by which a tile of rows is scored in double precision.
#pragma once

#include <cstddef>
#include <limits>

#include "tile.hpp"

namespace naively {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class R>
NAIVELY_INLINE void add_distances_by(const Step<double>& step, std::size_t band) {
    add_distances_by_lanes<R, false>(step, band);
}
NAIVELY_BY_REGISTERS(void, add_distances, (const Step<double>& step, std::size_t band),
                     (step, band))

// The same where cells are missing: absent[k][i] += log_norm for each that is.
template <class R, std::size_t width>
NAIVELY_INLINE void add_distances_of_present(const Step<double>& step, double* absent) {
    using Lanes = typename R::Lanes;
    const std::size_t share = step.ahead->share(step.bands * (tile_rows / lane_count));
    for (std::size_t band = 0; band < step.bands; ++band) {
        const double* parameters = step.parameters + band * step.n_columns * 2 * width;
        const double* norms = step.blank + band * step.n_columns * width;
        for (std::size_t row = 0; row < tile_rows; row += lane_count) {
            step.ahead->ask(share);
            const std::size_t at = band * width * tile_rows + row;
            Lanes sum[width], left_out[width];
            for (std::size_t c = 0; c < width; ++c) {
                sum[c] = step.first ? Lanes{} : lanes<R>(step.distance + at + c * tile_rows);
                left_out[c] = lanes<R>(absent + at + c * tile_rows);
            }
            for (std::size_t j = 0; j < step.columns; ++j) {
                const double* mean = parameters + j * 2 * width;
                const Lanes x = lanes<R>(step.tile + j * tile_rows + row);
                typename R::Mask present;
                find_present(x, present);
                for (std::size_t c = 0; c < width; ++c) {
                    Lanes d = x - mean[c], norm = Lanes{} + norms[j * width + c];
                    zero_unless(present, d);
                    zero_where(present, norm);
                    sum[c] += d * mean[width + c] * d;
                    left_out[c] += norm;
                }
            }
            for (std::size_t c = 0; c < width; ++c) {
                lanes<R>(step.distance + at + c * tile_rows) = sum[c];
                lanes<R>(absent + at + c * tile_rows) = left_out[c];
            }
        }
    }
}

template <class R>
NAIVELY_INLINE void add_distances_missing_by(const Step<double>& step, std::size_t band,
                                             double* absent) {
    switch (band) {
        case 1: return add_distances_of_present<R, 1>(step, absent);
        case 2: return add_distances_of_present<R, 2>(step, absent);
        case 3: return add_distances_of_present<R, 3>(step, absent);
        case 4: return add_distances_of_present<R, 4>(step, absent);
        default: return add_distances_of_present<R, 5>(step, absent);
    }
}
NAIVELY_BY_REGISTERS(void, add_distances_missing,
                     (const Step<double>& step, std::size_t band, double* absent),
                     (step, band, absent))

// tile[j * tile_rows + i] = x[i * stride + j]. Reads one number behind an odd number of columns.
template <class R, class T>
NAIVELY_INLINE void turn_rows_by(const T* x, std::size_t stride, std::size_t columns,
                                 double* tile) {
    using V = typename R::Turned;
    for (std::size_t row = 0; row < tile_rows; row += sizeof(V) / sizeof(double))
        for (std::size_t j = 0; j < columns; j += 2) {
            double* left = tile + j * tile_rows + row;
            turn_two_columns<V>(x + row * stride + j, stride, left, left + tile_rows);
        }
}
NAIVELY_BY_REGISTERS(void, turn_rows,
                     (const double* x, std::size_t stride, std::size_t columns, double* tile),
                     (x, stride, columns, tile))
NAIVELY_BY_REGISTERS(void, turn_rows,
                     (const float* x, std::size_t stride, std::size_t columns, double* tile),
                     (x, stride, columns, tile))

NAIVELY_CLONES static void pack_columns(const Table& X, std::size_t row, std::size_t rows,
                                        std::size_t column, std::size_t columns, double* tile) {
    X.pack_columns(row, rows, column, columns, tile, tile_rows);
}

template <class R> NAIVELY_INLINE bool finite_by(const double* numbers, std::size_t n) {
    return all_finite<R>(numbers, n);
}
NAIVELY_BY_REGISTERS(bool, finite, (const double* numbers, std::size_t n), (numbers, n))

// Turns distances into joint log-probabilities, and finds each row's largest.
template <class R>
NAIVELY_INLINE void finish_joint_by(std::size_t n_classes, const double* offset,
                                    const double* absent, double* joint, double* best,
                                    double* label) {
    using Lanes = typename R::Lanes;
    for (std::size_t row = 0; row < tile_rows; row += lane_count) {
        Lanes largest = Lanes{} - infinity, at{};
        for (std::size_t k = 0; k < n_classes; ++k) {
            Lanes& line = lanes<R>(joint + k * tile_rows + row);
            line = lanes<R>(absent + k * tile_rows + row) + offset[k] - line;
            set_where_greater(line, largest, at, Lanes{} + static_cast<double>(k));
            set_where_greater(line, largest, largest, line);
        }
        lanes<R>(best + row) = largest;
        lanes<R>(label + row) = at;
    }
}
NAIVELY_BY_REGISTERS(void, finish_joint,
                     (std::size_t n_classes, const double* offset, const double* absent,
                      double* joint, double* best, double* label),
                     (n_classes, offset, absent, joint, best, label))

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
NAIVELY_BY_REGISTERS(void, write_tile,
                     (const double* values, const double* factor, std::size_t n_classes,
                      double* out),
                     (values, factor, n_classes, out))

}  // namespace naively
