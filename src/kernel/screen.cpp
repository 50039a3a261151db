#include "screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace naively {
namespace {

constexpr double rounding = 1.01 * 0x1p-24;  // and what is of second order
constexpr double smallest_scale = 1e-30;     // below, floats lose digits
constexpr float nowhere = 3e38F;             // the cost of a class that cannot be
constexpr float far = 1e37F;                 // the cost from which floats may overflow
constexpr std::size_t short_lane_count = 2 * lane_count;

// target = (tile - centre) unit, rounded to floats
NAIVELY_CLONES void round_tile(const double* tile, std::size_t columns, const double* centre,
                               const double* unit, float* NAIVELY_RESTRICT target) {
    for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < wide_tile_rows; ++i)
            target[j * wide_tile_rows + i] =
                static_cast<float>((tile[j * wide_tile_rows + i] - centre[j]) * unit[j]);
}

// The same from rows, where they are. Reads up to 7 numbers behind the columns of each.
template <class R, class T>
NAIVELY_INLINE void round_rows_by(const T* x, std::size_t stride, std::size_t columns,
                                  const double* centre, const double* unit, float* target) {
    for (std::size_t row = 0; row < wide_tile_rows; row += short_lane_count)
        for (std::size_t j = 0; j < columns; j += lane_count) {
            typename R::HalfLanes rows[short_lane_count];
            for (std::size_t r = 0; r < short_lane_count; ++r) {
                typename R::Lanes value;
                naively::load(x + (row + r) * stride + j, value);
                narrow((value - lanes<R>(centre + j)) * lanes<R>(unit + j), rows[r]);
            }
            typename R::ShortLanes across[lane_count];
            transpose(rows, across);
            for (std::size_t c = 0; c < lane_count; ++c)
                lanes<R>(target + (j + c) * wide_tile_rows + row) = across[c];
        }
}
NAIVELY_BY_REGISTERS(round_rows)

template <class R> NAIVELY_INLINE void add_distances_by(const Step<float>& step, std::size_t band) {
    add_distances_by_lanes<R, false>(step, band);
}
NAIVELY_BY_REGISTERS(add_distances)

template <class R>
NAIVELY_INLINE void add_costs_of_present_by(const Step<float>& step, std::size_t band) {
    add_distances_by_lanes<R, true>(step, band);
}
NAIVELY_BY_REGISTERS(add_costs_of_present)

NAIVELY_CLONES void add_up(const float* part, std::size_t n, float* NAIVELY_RESTRICT total) {
    for (std::size_t at = 0; at < n; ++at) total[at] += part[at];
}

// Each row's lowest and second lowest cost, and the class of the lowest.
struct Ranking {
    alignas(64) float best[wide_tile_rows], second[wide_tile_rows], label[wide_tile_rows];
};

template <class R>
NAIVELY_INLINE void rank_by(const float* distance, std::size_t n_classes, const float* offset,
                            Ranking& ranking) {
    using ShortLanes = typename R::ShortLanes;
    for (std::size_t row = 0; row < wide_tile_rows; row += short_lane_count) {
        ShortLanes best, second, label{}, k{};
        fill(nowhere, best);
        fill(nowhere, second);
        for (std::size_t at = 0; at < n_classes; ++at) {
            const ShortLanes cost = lanes<R>(distance + at * wide_tile_rows + row) - offset[at];
            ShortLanes loser = cost;
            set_where_less(cost, best, loser, best);
            set_where_less(loser, second, second, loser);
            set_where_less(cost, best, label, k);
            set_where_less(cost, best, best, cost);
            k = k + 1.0F;
        }
        lanes<R>(ranking.best + row) = best;
        lanes<R>(ranking.second + row) = second;
        lanes<R>(ranking.label + row) = label;
    }
}
NAIVELY_BY_REGISTERS(rank)

// Writes each row's label. Returns whether all of them are certain.
NAIVELY_CLONES bool settle(const Ranking& ranking, std::size_t rows, double slack, double either,
                           const double* constant, std::int64_t* labels) {
    std::int64_t doubts = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const double best = ranking.best[i], second = ranking.second[i];
        const auto k = static_cast<std::int32_t>(ranking.label[i]);
        const double bounds = slack * (std::fabs(best) + std::fabs(second)) + either;
        doubts += !(best < far) | !(second - best > bounds + 4.0 * constant[k]);
        labels[i] = k;
    }
    return doubts == 0;
}

}  // namespace

Screen::Screen(std::size_t n_classes, std::size_t n_columns, std::size_t band,
               const double* parameters, const double* log_norm, const double* offset)
    : n_classes_(n_classes), n_columns_(n_columns), band_(band),
      n_bands_((n_classes + band - 1) / band), centre_(aligned_array(n_columns + lane_count)),
      unit_(aligned_array(n_columns + lane_count)),
      parameters_(aligned_array<float>(n_bands_ * n_columns * 2 * band)),
      blank_(aligned_array<float>(n_bands_ * n_columns * band)), offset_(n_classes),
      constant_(n_classes, 1e-30) {
    const std::size_t n_tiles = (n_columns + tile_columns - 1) / tile_columns;
    slack_ = rounding * static_cast<double>(20 + tile_columns + n_tiles);
    usable_ = n_classes < (std::size_t{1} << 24);  // which floats can count
    for (std::size_t j = 0; j < n_columns; ++j) set_column(j, parameters, log_norm);
    set_offsets(offset);
}

void Screen::set_column(std::size_t j, const double* parameters, const double* log_norm) {
    const double share = 1.0 / static_cast<double>(n_classes_);
    const auto mean = [&](std::size_t k) { return parameters[place(k, j, n_columns_, band_, 2)]; };
    const auto scale = [&](std::size_t k) {
        return parameters[place(k, j, n_columns_, band_, 2) + band_];
    };
    double largest = 0.0, norm = 0.0, widest = 0.0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
        centre_[j] += share * mean(k);
        norm += share * log_norm[place(k, j, n_columns_, band_, 1)];
        largest = std::max(largest, scale(k));
    }
    unit_[j] = largest > 0.0 ? std::sqrt(largest) : 1.0;
    for (std::size_t k = 0; k < n_classes_ && largest > 0.0; ++k) {
        const std::size_t at = place(k, j, n_columns_, band_, 1);
        const double m = (mean(k) - centre_[j]) * unit_[j];
        const double s = scale(k) / largest;
        const double blank = norm - log_norm[at];
        usable_ = usable_ && s >= smallest_scale && std::isfinite(static_cast<float>(m));
        float* cell = parameters_.get() + place(k, j, n_columns_, band_, 2);
        cell[0] = static_cast<float>(m);
        cell[band_] = static_cast<float>(s);
        blank_[at] = static_cast<float>(blank);
        constant_[k] += rounding * 2.0 * m * m * s;
        widest = std::max(widest, std::fabs(blank));
    }
    most_blank_ += widest;
}

void Screen::set_offsets(const double* offset) {
    const double largest = *std::max_element(offset, offset + n_classes_);
    usable_ = usable_ && std::isfinite(largest);
    double widest = 0.0;
    for (std::size_t k = 0; k < n_classes_; ++k) {
        if (!std::isfinite(offset[k])) {
            offset_[k] = -nowhere;
            continue;
        }
        constant_[k] += 0x1p-50 * std::max(std::fabs(offset[k]), std::fabs(largest));
        offset_[k] = static_cast<float>(offset[k] - largest + 1.01 * constant_[k]);
        widest = std::max(widest, largest - offset[k]);
    }
    usable_ = usable_ && widest < far;
}

Screen::Work::Work(const Screen& screen, const Table& X)
    : screen_(screen), X_(X), packed_(aligned_array(tile_columns * wide_tile_rows)),
      tile_(aligned_array<float>(tile_columns * wide_tile_rows)),
      part_(aligned_array<float>(screen.n_bands_ * screen.band_ * wide_tile_rows)),
      distance_(aligned_array<float>(screen.n_bands_ * screen.band_ * wide_tile_rows)) {}

bool Screen::Work::label(std::size_t row, std::int64_t* labels) {
    const std::size_t rows = std::min(wide_tile_rows, X_.n_rows - row);
    measure(row);
    if (decide(rows, labels)) return true;
    const auto is_nan = [](float d) { return d != d; };
    if (missing_ || std::none_of(distance_.get(), distance_.get() + rows, is_nan)) return false;
    missing_ = true;  // from here on, look at each cell
    measure(row);
    return decide(rows, labels);
}

void Screen::Work::measure(std::size_t row) {
    const Screen& s = screen_;
    const std::size_t size = s.n_bands_ * s.band_ * wide_tile_rows;
    if (s.n_columns_ == 0) std::fill_n(distance_.get(), size, 0.0F);
    for (std::size_t column = 0; column < s.n_columns_; column += tile_columns) {
        const std::size_t columns = std::min(tile_columns, s.n_columns_ - column);
        load(row, column, columns);
        ahead_.aim_behind(X_, row, wide_tile_rows, column);
        const Step<float> step{tile_.get(),
                               columns,
                               s.n_columns_,
                               s.n_bands_,
                               s.parameters_.get() + column * 2 * s.band_,
                               s.blank_.get() + column * s.band_,
                               column > 0 ? part_.get() : distance_.get(),
                               true,
                               &ahead_};
        missing_ ? add_costs_of_present(step, s.band_) : add_distances(step, s.band_);
        if (column > 0) add_up(part_.get(), size, distance_.get());
    }
}

void Screen::Work::load(std::size_t row, std::size_t column, std::size_t columns) {
    const double* centre = screen_.centre_.get() + column;
    const double* unit = screen_.unit_.get() + column;
    const auto round = [&](auto zero) {
        using T = decltype(zero);
        round_rows(X_.plain_row<T>(row) + column, X_.plain_stride<T>(), columns, centre, unit,
                   tile_.get());
    };
    if (X_.reads_behind<double>(row + wide_tile_rows)) return round(double{});
    if (X_.reads_behind<float>(row + wide_tile_rows)) return round(float{});
    const std::size_t rows = std::min(wide_tile_rows, X_.n_rows - row);
    if (rows < wide_tile_rows) std::fill_n(packed_.get(), tile_columns * wide_tile_rows, 0.0);
    X_.pack_columns(row, rows, column, columns, packed_.get(), wide_tile_rows);
    round_tile(packed_.get(), columns, centre, unit, tile_.get());
}

bool Screen::Work::decide(std::size_t rows, std::int64_t* labels) const {
    const Screen& s = screen_;
    Ranking ranking;
    rank(distance_.get(), s.n_classes_, s.offset_.data(), ranking);
    const double either = missing_ ? 4.0 * s.slack_ * s.most_blank_ : 0.0;
    return settle(ranking, rows, s.slack_, either, s.constant_.data(), labels);
}

}  // namespace naively
