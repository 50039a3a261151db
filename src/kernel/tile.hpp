// A tile of rows, packed by columns, and the squared distances of its rows to the classes.
//
//     distance_k(x) = sum_j (x_j - mean_kj)^2 scale_kj
//
// The lanes of a register are rows, so no sum crosses lanes; classes are taken in bands of up
// to five side by side, which keeps the sums in registers. While a tile is worked on, the
// memory of the next one is asked for, a few lines at a time.
#pragma once

#include <cstddef>

#include "aligned.hpp"
#include "table.hpp"

namespace naively {

constexpr std::size_t tile_rows = 32;
constexpr std::size_t tile_columns = 64;
constexpr std::size_t widest_band = 5;

// A column costs a band two products a class, and about as much again as two classes do.
inline std::size_t best_band(std::size_t n_classes) {
    const auto cost = [&](std::size_t w) { return (n_classes + w - 1) / w * (4 * w + 3); };
    std::size_t best = 1;
    for (std::size_t width = 2; width <= widest_band; ++width)
        if (cost(width) <= cost(best)) best = width;
    return best;
}

// Where class k and column j stand among parameters kept by band and column: `per_class`
// numbers for each class of the band, the first of all classes first.
inline std::size_t place(std::size_t k, std::size_t j, std::size_t n_columns, std::size_t band,
                         std::size_t per_class) {
    return (k / band * n_columns + j) * per_class * band + k % band;
}

// The memory under the next tile.
class Ahead {
  public:
    void aim(const Table& X, std::size_t row, std::size_t rows, std::size_t column,
             std::size_t columns) {
        n_ = X.segments(row, rows, column, columns, segments_);
        lines_ = 0;
        for (std::size_t s = 0; s < n_; ++s) lines_ += segments_[s].bytes / 64 + 1;
        at_ = 0, offset_ = 0;
    }
    void aim_nowhere() { n_ = lines_ = at_ = 0; }

    // Asks for one of `parts` equal parts of it.
    NAIVELY_INLINE void ask(std::size_t parts) {
        for (std::size_t left = lines_ / parts + 1; left > 0 && at_ < n_; --left) {
            NAIVELY_PREFETCH(segments_[at_].data + offset_);
            offset_ += 64;
            if (offset_ >= segments_[at_].bytes) ++at_, offset_ = 0;
        }
    }

  private:
    Segment segments_[tile_rows > tile_columns ? tile_rows : tile_columns];
    std::size_t n_ = 0, lines_ = 0, at_ = 0, offset_ = 0;
};

// T is double, or float for the screen.
template <class T> struct Step {
    const T* tile;          // columns x tile_rows
    std::size_t columns;    // of the tile
    std::size_t n_columns;  // of the model
    std::size_t bands;
    const T* parameters;  // of the tile's first column in the first band: the means, the scales
    T* distance;          // classes x tile_rows
    Ahead* ahead;
};

template <class V, std::size_t width, class T>
NAIVELY_INLINE void add_distances_of_band(const Step<T>& step) {
    constexpr std::size_t lanes_of = sizeof(V) / sizeof(T);
    for (std::size_t band = 0; band < step.bands; ++band) {
        const T* parameters = step.parameters + band * step.n_columns * 2 * width;
        for (std::size_t row = 0; row < tile_rows; row += lanes_of) {
            step.ahead->ask(step.bands * (tile_rows / lanes_of));
            T* distance = step.distance + band * width * tile_rows + row;
            V sum[width];
            for (std::size_t c = 0; c < width; ++c) sum[c] = lanes(distance + c * tile_rows);
            for (std::size_t j = 0; j < step.columns; ++j) {
                const T* mean = parameters + j * 2 * width;
                const T* scale = mean + width;
                const V x = lanes(step.tile + j * tile_rows + row);
                for (std::size_t c = 0; c < width; ++c) {
                    const V d = x - mean[c];
                    sum[c] += d * scale[c] * d;
                }
            }
            for (std::size_t c = 0; c < width; ++c) lanes(distance + c * tile_rows) = sum[c];
        }
    }
}

template <class V, class T>
NAIVELY_INLINE void add_distances_by_lanes(const Step<T>& step, std::size_t band) {
    switch (band) {
        case 1: return add_distances_of_band<V, 1>(step);
        case 2: return add_distances_of_band<V, 2>(step);
        case 3: return add_distances_of_band<V, 3>(step);
        case 4: return add_distances_of_band<V, 4>(step);
        default: return add_distances_of_band<V, 5>(step);
    }
}

// Whether every number is finite: zero times NaN or infinity is not zero.
template <class V, class T> NAIVELY_INLINE bool all_finite(const T* numbers, std::size_t n) {
    V probe{};
    for (std::size_t at = 0; at < n; at += sizeof(V) / sizeof(T))
        probe += lanes(numbers + at) * T{0};
    bool finite = true;
    for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) finite &= probe[i] == T{0};
    return finite;
}

}  // namespace naively
