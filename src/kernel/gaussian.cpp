#include "gaussian.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "aligned.hpp"
#include "exp.hpp"

namespace naively {
namespace {

constexpr std::size_t tile_rows = 32;
constexpr std::size_t tile_columns = 64;
constexpr std::size_t widest_band = 5;
constexpr double two_pi = 6.283185307179586476925286766559;
constexpr double infinity = std::numeric_limits<double>::infinity();

// What the inner loop works on: a tile of rows, and a band of classes side by side.
struct Step {
    const double* tile;
    std::size_t columns;    // of the tile
    std::size_t n_columns;  // of the model
    std::size_t bands;
    const double* parameters;  // of the tile's first column, in the first band
    const double* log_norm;
    double* distance;
    double* absent;
    const char* const* ahead;  // where the next tile lies, to be asked for along the way
    std::size_t n_ahead;
};

// distance[k][i] += (x - mean)^2 scale over the columns of the tile; where the cell is missing,
// absent[k][i] += log_norm instead.
template <std::size_t width, bool missing> NAIVELY_INLINE void add_distances(const Step& step) {
    for (std::size_t band = 0; band < step.bands; ++band) {
        const double* parameters = step.parameters + band * step.n_columns * 2 * width;
        const double* log_norm = step.log_norm + band * step.n_columns * width;
        for (std::size_t row = 0; row < tile_rows; row += lane_count) {
            const std::size_t part = band * (tile_rows / lane_count) + row / lane_count;
            const std::size_t parts = step.bands * (tile_rows / lane_count);
            for (std::size_t at = step.n_ahead * part / parts;
                 at < step.n_ahead * (part + 1) / parts; ++at)
                NAIVELY_PREFETCH(step.ahead[at]);
            double* distance = step.distance + band * width * tile_rows + row;
            double* absent = step.absent + band * width * tile_rows + row;
            Lanes sum[width], left_out[width];
            for (std::size_t c = 0; c < width; ++c) {
                sum[c] = lanes(distance + c * tile_rows);
                if (missing) left_out[c] = lanes(absent + c * tile_rows);
            }
            for (std::size_t j = 0; j < step.columns; ++j) {
                const double* mean = parameters + j * 2 * width;
                const double* scale = mean + width;
                const Lanes x = lanes(step.tile + j * tile_rows + row);
                for (std::size_t c = 0; c < width; ++c) {
                    const Lanes d = x - mean[c];
                    Lanes term = d * scale[c] * d;
                    if (missing) {
                        zero_where_missing(x, term);
                        Lanes norm = Lanes{} + log_norm[j * width + c];
                        zero_where_present(x, norm);
                        left_out[c] += norm;
                    }
                    sum[c] += term;
                }
            }
            for (std::size_t c = 0; c < width; ++c) {
                lanes(distance + c * tile_rows) = sum[c];
                if (missing) lanes(absent + c * tile_rows) = left_out[c];
            }
        }
    }
}

template <bool missing>
NAIVELY_INLINE void add_distances_in_bands(const Step& step, std::size_t width) {
    switch (width) {
        case 1: return add_distances<1, missing>(step);
        case 2: return add_distances<2, missing>(step);
        case 3: return add_distances<3, missing>(step);
        case 4: return add_distances<4, missing>(step);
        default: return add_distances<5, missing>(step);
    }
}
NAIVELY_CLONES void add_distances_plain(const Step& step, std::size_t width) {
    add_distances_in_bands<false>(step, width);
}
NAIVELY_CLONES void add_distances_missing(const Step& step, std::size_t width) {
    add_distances_in_bands<true>(step, width);
}

// Columns cost a band about 2 operations a class and a few more: as many as two classes.
std::size_t best_band(std::size_t n_classes) {
    const auto cost = [&](std::size_t w) { return (n_classes + w - 1) / w * (4 * w + 3); };
    std::size_t best = 1;
    for (std::size_t width = 2; width <= widest_band; ++width)
        if (cost(width) <= cost(best)) best = width;
    return best;
}

NAIVELY_CLONES void pack_columns(const Table& X, std::size_t row, std::size_t rows,
                                 std::size_t column, std::size_t columns, double* tile) {
    X.pack_columns(row, rows, column, columns, tile, tile_rows);
}

// Whether any cell is NaN or infinite: zero times it is not zero.
NAIVELY_CLONES bool is_finite(const double* tile, std::size_t columns) {
    Lanes probe{};
    for (std::size_t at = 0; at < columns * tile_rows; at += lane_count)
        probe += lanes(tile + at) * 0.0;
    bool finite = true;
    for (std::size_t i = 0; i < lane_count; ++i) finite &= probe[i] == 0.0;
    return finite;
}

// Turns distances into joint log-probabilities, and finds each row's largest.
NAIVELY_CLONES void finish_joint(std::size_t n_classes, const double* offset, const double* absent,
                                 double* NAIVELY_RESTRICT joint, double* NAIVELY_RESTRICT best,
                                 double* NAIVELY_RESTRICT label) {
    for (std::size_t i = 0; i < tile_rows; ++i) best[i] = -infinity, label[i] = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const double index = static_cast<double>(k);
        double* NAIVELY_RESTRICT line = joint + k * tile_rows;
        for (std::size_t i = 0; i < tile_rows; ++i) {
            const double value = (offset[k] - absent[k * tile_rows + i]) - line[i];
            line[i] = value;
            const bool better = value > best[i];
            best[i] = better ? value : best[i];
            label[i] = better ? index : label[i];
        }
    }
}

// proba[k][i] = exp(joint[k][i] - best[i]), and their total over the classes.
NAIVELY_CLONES void exponentiate(std::size_t n_classes, const double* joint, const double* best,
                                 double* NAIVELY_RESTRICT proba, double* NAIVELY_RESTRICT total) {
    for (std::size_t i = 0; i < tile_rows; ++i) total[i] = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < tile_rows; ++i) {
            const double p = exp_of_negative(joint[k * tile_rows + i] - best[i]);
            proba[k * tile_rows + i] = p;
            total[i] += p;
        }
}

}  // namespace

GaussianModel::GaussianModel(std::size_t n_classes, std::size_t n_columns, const double* mean,
                             const double* variance, const double* log_prior)
    : n_classes_(n_classes), n_columns_(n_columns), band_(best_band(n_classes)),
      n_bands_((n_classes + band_ - 1) / band_), parameters_(n_bands_ * n_columns * 2 * band_),
      log_norm_(n_bands_ * n_columns * band_), log_prior_(log_prior, log_prior + n_classes),
      offset_(log_prior, log_prior + n_classes) {
    for (std::size_t k = 0; k < n_classes; ++k) {
        double norms = 0.0;
        for (std::size_t j = 0; j < n_columns; ++j) {
            const double given = variance[k * n_columns + j];
            if (std::isnan(given)) continue;
            const double sigma2 = std::max(given, DBL_MIN);
            const double log_norm = 0.5 * (std::log(two_pi) + std::log(sigma2));
            double* cell = parameters_.data() + place(k, j);
            cell[0] = mean[k * n_columns + j];
            cell[band_] = 0.5 / sigma2;
            log_norm_[(k / band_ * n_columns + j) * band_ + k % band_] = log_norm;
            norms += log_norm;
        }
        offset_[k] -= norms;
    }
}

// The working memory of one call.
class Scorer {
  public:
    Scorer(const GaussianModel& model, const Table& X, const Output& output)
        : model_(model), X_(X), output_(output), size_(model.n_bands_ * model.band_ * tile_rows),
          tile_(aligned_array(tile_columns * tile_rows)), joint_(aligned_array(size_)),
          absent_(aligned_array(size_)), proba_(aligned_array(needs_proba() ? size_ : 0)) {
        std::fill_n(tile_.get(), tile_columns * tile_rows, 0.0);
        std::fill_n(absent_.get(), size_, 0.0);
    }

    Status run() {
        for (std::size_t row = 0; row < X_.n_rows; row += tile_rows) {
            const std::size_t rows = std::min(tile_rows, X_.n_rows - row);
            if (!measure(row, rows)) return Status::not_finite;
            finish_joint(model_.n_classes_, model_.offset_.data(), absent_.get(), joint_.get(),
                         best_, label_);
            if (output_.want != Want::joint && output_.want != Want::evidence)
                for (std::size_t i = 0; i < rows; ++i)
                    if (best_[i] == -infinity) rescue(row + i, i);
            if (needs_proba())
                exponentiate(model_.n_classes_, joint_.get(), best_, proba_.get(), total_);
            write(row, rows);
        }
        return Status::ok;
    }

  private:
    bool needs_proba() const { return output_.want != Want::label && output_.want != Want::joint; }

    // Fills joint_ with the distances of a tile of rows; false if a cell is infinite.
    bool measure(std::size_t row, std::size_t rows) {
        const GaussianModel& m = model_;
        std::fill_n(joint_.get(), size_, 0.0);
        if (had_missing_) std::fill_n(absent_.get(), size_, 0.0);
        had_missing_ = false;
        if (rows < tile_rows) std::fill_n(tile_.get(), tile_columns * tile_rows, 0.0);
        for (std::size_t column = 0; column < m.n_columns_; column += tile_columns) {
            const std::size_t columns = std::min(tile_columns, m.n_columns_ - column);
            look_ahead(row, rows, column, columns);
            const Step step{tile_.get(),
                            columns,
                            m.n_columns_,
                            m.n_bands_,
                            m.parameters_.data() + column * 2 * m.band_,
                            m.log_norm_.data() + column * m.band_,
                            joint_.get(),
                            absent_.get(),
                            ahead_.data(),
                            ahead_.size()};
            pack_columns(X_, row, rows, column, columns, tile_.get());
            if (is_finite(tile_.get(), columns)) {
                add_distances_plain(step, m.band_);
                continue;
            }
            double* end = tile_.get() + columns * tile_rows;
            if (std::any_of(tile_.get(), end, [](double x) { return std::isinf(x); })) return false;
            had_missing_ = true;
            add_distances_missing(step, m.band_);
        }
        return true;
    }

    void look_ahead(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
        ahead_.clear();
        if (column + columns < X_.n_columns)
            X_.addresses(row, rows, column + columns,
                         std::min(tile_columns, X_.n_columns - column - columns), ahead_);
        else if (row + rows < X_.n_rows)
            X_.addresses(row + rows, std::min(tile_rows, X_.n_rows - row - rows), 0,
                         std::min(tile_columns, X_.n_columns), ahead_);
    }

    void write(std::size_t row, std::size_t rows) {
        if (output_.want == Want::label)
            for (std::size_t i = 0; i < rows; ++i)
                output_.labels[row + i] = static_cast<std::int64_t>(label_[i]);
        else if (output_.values != nullptr)
            write_values(row, rows, output_.values);
        else
            write_values(row, rows, output_.short_values);
    }

    template <class T> void write_values(std::size_t row, std::size_t rows, T* out) const {
        const std::size_t K = model_.n_classes_;
        const auto put = [&](auto value) {
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t k = 0; k < K; ++k)
                    out[(row + i) * K + k] = static_cast<T>(value(k * tile_rows + i, i));
        };
        double evidence[tile_rows];
        if (output_.want != Want::joint && output_.want != Want::proba)
            for (std::size_t i = 0; i < rows; ++i)
                evidence[i] = best_[i] == -infinity ? -infinity : best_[i] + std::log(total_[i]);
        switch (output_.want) {
            case Want::joint: put([&](std::size_t at, std::size_t) { return joint_[at]; }); break;
            case Want::proba:
                put([&](std::size_t at, std::size_t i) { return proba_[at] / total_[i]; });
                break;
            case Want::log_proba:
                put([&](std::size_t at, std::size_t i) { return joint_[at] - evidence[i]; });
                break;
            default:
                for (std::size_t i = 0; i < rows; ++i) out[row + i] = static_cast<T>(evidence[i]);
        }
    }

    // Every class's joint overflowed to -infinity (the row is some 1e154 standard deviations
    // away). Their distances differ by nothing or by more than any double: compares them with
    // a common power of two taken out, and leaves the tied nearest classes to what remains,
    // log p(k) - sum log_norm.
    void rescue(std::size_t row, std::size_t i) {
        const std::size_t K = model_.n_classes_;
        std::vector<double> distance(K, 0.0);
        int largest = std::numeric_limits<int>::min();
        for (std::size_t k = 0; k < K; ++k)
            each_term(row, k, [&](double, int exponent) { largest = std::max(largest, exponent); });
        for (std::size_t k = 0; k < K; ++k)
            each_term(row, k, [&](double mantissa, int exponent) {
                distance[k] += std::ldexp(mantissa, exponent - largest);
            });
        double nearest = infinity;
        for (std::size_t k = 0; k < K; ++k)
            if (model_.log_prior_[k] != -infinity) nearest = std::min(nearest, distance[k]);
        for (std::size_t k = 0; k < K; ++k) {
            const double rest = model_.offset_[k] - absent_[k * tile_rows + i];
            const double value = distance[k] == nearest ? rest : -infinity;
            joint_[k * tile_rows + i] = value;
            if (value > best_[i]) best_[i] = value, label_[i] = static_cast<double>(k);
        }
    }

    // f(mantissa, exponent) of (x - mean)^2 scale / 4, for each present cell of a row.
    template <class F> void each_term(std::size_t row, std::size_t k, F f) const {
        if (model_.log_prior_[k] == -infinity) return;
        for (std::size_t j = 0; j < model_.n_columns_; ++j) {
            const double* cell = model_.parameters_.data() + model_.place(k, j);
            const double x = X_.cell(row, j);
            int d_exponent = 0, scale_exponent = 0;
            const double d = std::frexp(0.5 * x - 0.5 * cell[0], &d_exponent);
            const double scale = std::frexp(cell[model_.band_], &scale_exponent);
            if (d == d && d * scale != 0.0) f(d * d * scale, 2 * d_exponent + scale_exponent);
        }
    }

    const GaussianModel& model_;
    const Table& X_;
    const Output output_;
    const std::size_t size_;
    AlignedArray tile_, joint_, absent_, proba_;
    double best_[tile_rows], label_[tile_rows], total_[tile_rows];
    std::vector<const char*> ahead_;
    bool had_missing_ = false;
};

Status GaussianModel::score(const Table& X, const Output& output) const {
    return Scorer(*this, X, output).run();
}

}  // namespace naively
