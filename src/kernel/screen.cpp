#include "screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace naively {
namespace {

constexpr double rounding = 0x1p-24;
constexpr double slack = 1.01 * rounding * (10.0 + tile_columns);  // of the distance
constexpr double smallest_scale = 1e-30;                           // below, floats lose digits
constexpr double infinity = std::numeric_limits<double>::infinity();

// target = (tile - centre) unit, rounded to floats
NAIVELY_CLONES void round_tile(const double* tile, std::size_t columns, const double* centre,
                               const double* unit, float* NAIVELY_RESTRICT target) {
    for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < tile_rows; ++i)
            target[j * tile_rows + i] =
                static_cast<float>((tile[j * tile_rows + i] - centre[j]) * unit[j]);
}

NAIVELY_CLONES bool finite(const float* tile, std::size_t n) {
    return all_finite<ShortLanes>(tile, n);
}

NAIVELY_CLONES void add_distances(const Step<float>& step, std::size_t band) {
    add_distances_by_lanes<ShortLanes>(step, band);
}

NAIVELY_CLONES void add_up(const float* part, std::size_t n, double* NAIVELY_RESTRICT total) {
    for (std::size_t at = 0; at < n; ++at) total[at] += static_cast<double>(part[at]);
}

// Labels eight rows; returns whether the first `rows` of them are decided.
NAIVELY_INLINE bool decide_lanes(const double* distance, std::size_t n_classes,
                                 const double* offset, const double* constant, std::size_t rows,
                                 std::int64_t* labels) {
    Lanes best = Lanes{} - infinity, upper_of_best = best, lower_of_best = best, other = best;
    Lanes label{};
    for (std::size_t k = 0; k < n_classes; ++k) {
        const Lanes d = lanes(distance + k * tile_rows);
        const Lanes joint = Lanes{} + offset[k] - d;
        const Lanes bound = d * slack + constant[k];
        const Lanes upper = joint + bound, lower = joint - bound;
        Lanes loser = upper;
        set_where_greater(joint, best, loser, upper_of_best);
        set_where_greater(loser, other, other, loser);
        set_where_greater(joint, best, upper_of_best, upper);
        set_where_greater(joint, best, lower_of_best, lower);
        set_where_greater(joint, best, label, Lanes{} + static_cast<double>(k));
        set_where_greater(joint, best, best, joint);
    }
    bool decided = true;
    for (std::size_t i = 0; i < rows; ++i) {
        decided &= other[i] < lower_of_best[i];
        labels[i] = static_cast<std::int64_t>(label[i]);
    }
    return decided;
}

NAIVELY_CLONES bool decide_tile(const double* distance, std::size_t n_classes, const double* offset,
                                const double* constant, std::size_t rows, std::int64_t* labels) {
    bool decided = true;
    for (std::size_t row = 0; row < rows; row += lane_count)
        decided &= decide_lanes(distance + row, n_classes, offset, constant,
                                std::min(lane_count, rows - row), labels + row);
    return decided;
}

}  // namespace

Screen::Screen(std::size_t n_classes, std::size_t n_columns, std::size_t band, const double* mean,
               const double* scale, const double* offset)
    : n_classes_(n_classes), n_columns_(n_columns), band_(band),
      n_bands_((n_classes + band - 1) / band), centre_(n_columns), unit_(n_columns),
      parameters_(aligned_array<float>(n_bands_ * n_columns * 2 * band)),
      offset_(offset, offset + n_classes), constant_(n_classes, 1e-30) {
    for (std::size_t k = 0; k < n_classes; ++k)  // the rounding of offset - D
        if (std::isfinite(offset[k])) constant_[k] += 0x1p-50 * std::fabs(offset[k]);
    for (std::size_t j = 0; j < n_columns; ++j) {
        double largest = 0.0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            centre_[j] += mean[k * n_columns + j] / static_cast<double>(n_classes);
            largest = std::max(largest, scale[k * n_columns + j]);
        }
        unit_[j] = std::sqrt(largest);
        for (std::size_t k = 0; k < n_classes && largest > 0.0; ++k) {
            const double m = (mean[k * n_columns + j] - centre_[j]) * unit_[j];
            const double s = scale[k * n_columns + j] / largest;
            usable_ = usable_ && s >= smallest_scale && std::isfinite(static_cast<float>(m));
            float* cell = parameters_.get() + place(k, j, n_columns, band, 2);
            cell[0] = static_cast<float>(m);
            cell[band] = static_cast<float>(s);
            constant_[k] += 1.01 * rounding * 2.0 * m * m * s;
        }
    }
}

Screen::Work::Work(const Screen& screen)
    : screen_(screen), tile_(aligned_array<float>(tile_columns * tile_rows)),
      part_(aligned_array<float>(screen.n_bands_ * screen.band_ * tile_rows)),
      distance_(aligned_array(screen.n_bands_ * screen.band_ * tile_rows)) {}

void Screen::Work::start() {
    std::fill_n(distance_.get(), screen_.n_bands_ * screen_.band_ * tile_rows, 0.0);
}

bool Screen::Work::add(const double* tile, std::size_t column, std::size_t columns, Ahead* ahead) {
    const Screen& s = screen_;
    round_tile(tile, columns, s.centre_.data() + column, s.unit_.data() + column, tile_.get());
    if (!finite(tile_.get(), columns * tile_rows)) return false;
    const std::size_t size = s.n_bands_ * s.band_ * tile_rows;
    std::fill_n(part_.get(), size, 0.0F);
    add_distances({tile_.get(), columns, s.n_columns_, s.n_bands_,
                   s.parameters_.get() + column * 2 * s.band_, part_.get(), ahead},
                  s.band_);
    add_up(part_.get(), size, distance_.get());
    return true;
}

bool Screen::Work::decide(std::size_t rows, std::int64_t* labels) {
    return decide_tile(distance_.get(), screen_.n_classes_, screen_.offset_.data(),
                       screen_.constant_.data(), rows, labels);
}

}  // namespace naively
