// A tile of rows, packed by columns, and the squared distances of its rows to the classes.
//
//     distance_k(x) = sum_j (x_j - mean_kj)^2 scale_kj
//
// The lanes of a register are rows, so no sum crosses lanes; classes are taken in bands of up
// to five side by side, which keeps the sums in registers. While a tile is worked on, the
// memory of one to come is asked for, a few lines at a time: into the second cache, since the
// first one is full of the tile at hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "registers.hpp"
#include "table.hpp"

namespace naively {

constexpr std::size_t tile_rows = 16;  // of doubles: what is worked on stays in the first cache
constexpr std::size_t wide_tile_rows = 32;  // of floats
constexpr std::size_t tile_columns = 64;
constexpr std::size_t widest_band = 5;
constexpr std::size_t columns_between = 8;  // two requests for memory
constexpr std::size_t far_rows = 128;  // how far below memory is asked for, into the second cache

template <class T> constexpr std::size_t rows_of = sizeof(T) == 4 ? wide_tile_rows : tile_rows;

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
    // At the tile that comes after the one at a row and a column, beside it; or, of a table that is
    // one tile wide, at a tile below it.
    void aim_behind(const Table& X, std::size_t row, std::size_t rows, std::size_t column) {
        const std::size_t next = column + tile_columns;
        const std::size_t below = row + (X.n_columns > tile_columns ? rows : far_rows);
        n_ = lines_ = at_ = 0;
        if (next < X.n_columns)
            aim(X, row, std::min(rows, X.n_rows - row), next,
                std::min(tile_columns, X.n_columns - next));
        else if (below < X.n_rows)
            aim(X, below, std::min(rows, X.n_rows - below), 0, std::min(tile_columns, X.n_columns));
    }

    // How many cache lines to ask for at a time, so that `times` times are enough.
    std::size_t share(std::size_t times) const { return lines_ / times + 1; }

    NAIVELY_INLINE void ask(std::size_t lines) {
        for (std::size_t left = lines; left > 0 && at_ < n_; --left) {
            NAIVELY_PREFETCH_FAR(segments_[at_].data + offset_);
            offset_ += 64;
            if (offset_ >= segments_[at_].bytes) ++at_, offset_ = 0;
        }
    }

  private:
    void aim(const Table& X, std::size_t row, std::size_t rows, std::size_t column,
             std::size_t columns) {
        n_ = X.segments(row, rows, column, columns, segments_);
        lines_ = 0;
        for (std::size_t s = 0; s < n_; ++s) lines_ += segments_[s].bytes / 64 + 1;
        at_ = 0, offset_ = 0;
    }

    Segment segments_[wide_tile_rows > tile_columns ? wide_tile_rows : tile_columns];
    std::size_t n_ = 0, lines_ = 0, at_ = 0, offset_ = 0;
};

// T is double, or float for the screen.
template <class T> struct Step {
    const T* tile;          // columns x rows
    std::size_t columns;    // of the tile
    std::size_t n_columns;  // of the model
    std::size_t bands;
    const T* parameters;  // of the tile's first column in the first band: the means, the scales
    const T* blank;       // what a missing cell counts for
    T* distance;          // classes x rows
    bool first;           // of the tiles of these rows: what stands there is overwritten
    Ahead* ahead;

    // How many cache lines of the next tile to ask for with every few columns.
    std::size_t share(std::size_t lanes_of) const {
        const std::size_t groups = (columns + columns_between - 1) / columns_between;
        return ahead->share(bands * (rows_of<T> / lanes_of) * groups);
    }
};

template <class R, bool missing, std::size_t width, class T>
NAIVELY_INLINE void add_distances_of_band(const Step<T>& step) {
    using V = std::remove_reference_t<decltype(lanes<R>(step.distance))>;
    constexpr std::size_t lanes_of = sizeof(V) / sizeof(T), rows = rows_of<T>;
    const std::size_t share = step.share(lanes_of);
    for (std::size_t band = 0; band < step.bands; ++band) {
        const T* parameters = step.parameters + band * step.n_columns * 2 * width;
        const T* blank = step.blank + band * step.n_columns * width;
        for (std::size_t row = 0; row < rows; row += lanes_of) {
            T* distance = step.distance + band * width * rows + row;
            V sum[width];
            for (std::size_t c = 0; c < width; ++c)
                sum[c] = step.first ? V{} : lanes<R>(distance + c * rows);
            for (std::size_t j = 0; j < step.columns;) {
                step.ahead->ask(share);
                const std::size_t end = std::min(step.columns, j + columns_between);
                for (; j < end; ++j) {
                    const T* mean = parameters + j * 2 * width;
                    const T* scale = mean + width;
                    const V x = lanes<R>(step.tile + j * rows + row);
                    for (std::size_t c = 0; c < width; ++c) {
                        const V d = x - mean[c];
                        V term = d * scale[c] * d;
                        if constexpr (missing) set_where_missing(x, term, blank[j * width + c]);
                        sum[c] += term;
                    }
                }
            }
            for (std::size_t c = 0; c < width; ++c) lanes<R>(distance + c * rows) = sum[c];
        }
    }
}

template <class R, bool missing, class T>
NAIVELY_INLINE void add_distances_by_lanes(const Step<T>& step, std::size_t band) {
    switch (band) {
        case 1: return add_distances_of_band<R, missing, 1>(step);
        case 2: return add_distances_of_band<R, missing, 2>(step);
        case 3: return add_distances_of_band<R, missing, 3>(step);
        case 4: return add_distances_of_band<R, missing, 4>(step);
        default: return add_distances_of_band<R, missing, 5>(step);
    }
}

// Whether every number is finite: zero times NaN or infinity is not zero.
template <class R, class T> NAIVELY_INLINE bool all_finite(const T* numbers, std::size_t n) {
    using V = std::remove_const_t<std::remove_reference_t<decltype(lanes<R>(numbers))>>;
    V probe{};
    for (std::size_t at = 0; at < n; at += sizeof(V) / sizeof(T))
        probe += lanes<R>(numbers + at) * T{0};
    bool finite = true;
    for (std::size_t i = 0; i < sizeof(V) / sizeof(T); ++i) finite &= probe[i] == T{0};
    return finite;
}

}  // namespace naively
