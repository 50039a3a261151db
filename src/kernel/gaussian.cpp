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

constexpr double two_pi = 6.283185307179586476925286766559;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t rows_worth_a_screen = 256;

NAIVELY_CLONES void add_distances(const Step<double>& step, std::size_t band) {
    add_distances_by_lanes<Lanes>(step, band);
}

// The same where cells are missing: absent[k][i] += log_norm for each that is.
template <std::size_t width>
NAIVELY_INLINE void add_distances_of_present(const Step<double>& step, const double* log_norm,
                                             double* absent) {
    for (std::size_t band = 0; band < step.bands; ++band) {
        const double* parameters = step.parameters + band * step.n_columns * 2 * width;
        const double* norms = log_norm + band * step.n_columns * width;
        for (std::size_t row = 0; row < tile_rows; row += lane_count) {
            step.ahead->ask(step.bands * (tile_rows / lane_count));
            const std::size_t at = band * width * tile_rows + row;
            Lanes sum[width], left_out[width];
            for (std::size_t c = 0; c < width; ++c) {
                sum[c] = lanes(step.distance + at + c * tile_rows);
                left_out[c] = lanes(absent + at + c * tile_rows);
            }
            for (std::size_t j = 0; j < step.columns; ++j) {
                const double* mean = parameters + j * 2 * width;
                const Lanes x = lanes(step.tile + j * tile_rows + row);
                Mask present;
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
                lanes(step.distance + at + c * tile_rows) = sum[c];
                lanes(absent + at + c * tile_rows) = left_out[c];
            }
        }
    }
}

NAIVELY_CLONES void add_distances_missing(const Step<double>& step, std::size_t band,
                                          const double* log_norm, double* absent) {
    switch (band) {
        case 1: return add_distances_of_present<1>(step, log_norm, absent);
        case 2: return add_distances_of_present<2>(step, log_norm, absent);
        case 3: return add_distances_of_present<3>(step, log_norm, absent);
        case 4: return add_distances_of_present<4>(step, log_norm, absent);
        default: return add_distances_of_present<5>(step, log_norm, absent);
    }
}

NAIVELY_CLONES void pack_columns(const Table& X, std::size_t row, std::size_t rows,
                                 std::size_t column, std::size_t columns, double* tile) {
    X.pack_columns(row, rows, column, columns, tile, tile_rows);
}

NAIVELY_CLONES bool finite(const double* tile, std::size_t n) { return all_finite<Lanes>(tile, n); }

// Turns distances into joint log-probabilities, and finds each row's largest.
NAIVELY_CLONES void finish_joint(std::size_t n_classes, const double* offset, const double* absent,
                                 double* joint, double* best, double* label) {
    for (std::size_t row = 0; row < tile_rows; row += lane_count) {
        Lanes largest = Lanes{} - infinity, at{};
        for (std::size_t k = 0; k < n_classes; ++k) {
            Lanes& line = lanes(joint + k * tile_rows + row);
            line = lanes(absent + k * tile_rows + row) + offset[k] - line;
            set_where_greater(line, largest, at, Lanes{} + static_cast<double>(k));
            set_where_greater(line, largest, largest, line);
        }
        lanes(best + row) = largest;
        lanes(label + row) = at;
    }
}

// proba[k][i] = exp(joint[k][i] - best[i]) / total[i], the total being their sum over classes.
NAIVELY_CLONES void exponentiate(std::size_t n_classes, const double* joint, const double* best,
                                 double* NAIVELY_RESTRICT proba, double* NAIVELY_RESTRICT total) {
    for (std::size_t i = 0; i < tile_rows; ++i) total[i] = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < tile_rows; ++i) {
            const double p = exp_of_negative(joint[k * tile_rows + i] - best[i]);
            proba[k * tile_rows + i] = p;
            total[i] += p;
        }
    double share[tile_rows];
    for (std::size_t i = 0; i < tile_rows; ++i) share[i] = 1.0 / total[i];
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < tile_rows; ++i) proba[k * tile_rows + i] *= share[i];
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
            double* cell = parameters_.data() + place(k, j, n_columns, band_, 2);
            cell[0] = mean[k * n_columns + j];
            cell[band_] = 0.5 / sigma2;
            log_norm_[place(k, j, n_columns, band_, 1)] = log_norm;
            norms += log_norm;
        }
        offset_[k] -= norms;
    }
}

Screen GaussianModel::screen() const {
    std::vector<double> mean(n_classes_ * n_columns_), scale(n_classes_ * n_columns_);
    for (std::size_t k = 0; k < n_classes_; ++k)
        for (std::size_t j = 0; j < n_columns_; ++j) {
            const double* cell = parameters_.data() + place(k, j, n_columns_, band_, 2);
            mean[k * n_columns_ + j] = cell[0];
            scale[k * n_columns_ + j] = cell[band_];
        }
    return {n_classes_, n_columns_, band_, mean.data(), scale.data(), offset_.data()};
}

// The working memory of one call.
class Scorer {
  public:
    Scorer(const GaussianModel& model, const Table& X, const Output& output)
        : model_(model), X_(X), output_(output), size_(model.n_bands_ * model.band_ * tile_rows),
          tile_(aligned_array(tile_columns * tile_rows)), joint_(aligned_array(size_)),
          absent_(aligned_array(size_)), proba_(aligned_array(needs_proba() ? size_ : 0)) {}

    Status run() {
        if (output_.want == Want::label && X_.n_rows >= rows_worth_a_screen) {
            const Screen screen = model_.screen();
            if (screen.usable()) return run_behind(screen);
        }
        for (std::size_t row = 0; row < X_.n_rows; row += tile_rows)
            if (!score_tile(row)) return Status::not_finite;
        return Status::ok;
    }

  private:
    bool needs_proba() const { return output_.want != Want::label && output_.want != Want::joint; }
    std::size_t rows_of_tile(std::size_t row) const { return std::min(tile_rows, X_.n_rows - row); }

    // Labels tiles in single precision where that decides. Gives it up where it seldom does.
    Status run_behind(const Screen& screen) {
        Screen::Work work(screen);
        std::size_t tiles = 0, undecided = 0;
        for (std::size_t row = 0; row < X_.n_rows; row += tile_rows, ++tiles) {
            const bool worthwhile = undecided <= tiles / 4 + 4;
            if (worthwhile && screen_tile(row, work)) continue;
            ++undecided;
            if (!score_tile(row)) return Status::not_finite;
        }
        return Status::ok;
    }

    bool screen_tile(std::size_t row, Screen::Work& work) {
        work.start();
        for (std::size_t column = 0; column < X_.n_columns; column += tile_columns) {
            const std::size_t columns = load(row, column);
            if (!work.add(tile_.get(), column, columns, &ahead_)) return false;
        }
        return work.decide(rows_of_tile(row), output_.labels + row);
    }

    bool score_tile(std::size_t row) {
        const std::size_t rows = rows_of_tile(row);
        if (!measure(row)) return false;
        finish_joint(model_.n_classes_, model_.offset_.data(), absent_.get(), joint_.get(), best_,
                     label_);
        if (had_missing_)
            for (std::size_t i = 0; i < rows; ++i)
                if (is_empty(row + i)) leave_to_priors(i);
        if (output_.want != Want::joint && output_.want != Want::evidence)
            for (std::size_t i = 0; i < rows; ++i)
                if (best_[i] == -infinity) rescue(row + i, i);
        if (needs_proba())
            exponentiate(model_.n_classes_, joint_.get(), best_, proba_.get(), total_);
        write(row, rows);
        return true;
    }

    // Packs a tile, and aims at the next one. Returns its number of columns.
    std::size_t load(std::size_t row, std::size_t column) {
        const std::size_t rows = rows_of_tile(row);
        const std::size_t columns = std::min(tile_columns, X_.n_columns - column);
        if (rows < tile_rows) std::fill_n(tile_.get(), tile_columns * tile_rows, 0.0);
        pack_columns(X_, row, rows, column, columns, tile_.get());
        const std::size_t next = column + columns;
        if (next < X_.n_columns)
            ahead_.aim(X_, row, rows, next, std::min(tile_columns, X_.n_columns - next));
        else if (row + rows < X_.n_rows)
            ahead_.aim(X_, row + rows, rows_of_tile(row + rows), 0,
                       std::min(tile_columns, X_.n_columns));
        else
            ahead_.aim_nowhere();
        return columns;
    }

    // Fills joint_ with the distances of a tile of rows; false if a cell is infinite.
    bool measure(std::size_t row) {
        const GaussianModel& m = model_;
        std::fill_n(joint_.get(), size_, 0.0);
        if (had_missing_) std::fill_n(absent_.get(), size_, 0.0);
        had_missing_ = false;
        for (std::size_t column = 0; column < m.n_columns_; column += tile_columns) {
            const std::size_t columns = load(row, column);
            const Step<double> step{tile_.get(),
                                    columns,
                                    m.n_columns_,
                                    m.n_bands_,
                                    m.parameters_.data() + column * 2 * m.band_,
                                    joint_.get(),
                                    &ahead_};
            double* end = tile_.get() + columns * tile_rows;
            if (finite(tile_.get(), columns * tile_rows)) {
                add_distances(step, m.band_);
            } else if (std::any_of(tile_.get(), end, [](double x) { return std::isinf(x); })) {
                return false;
            } else {
                had_missing_ = true;
                add_distances_missing(step, m.band_, m.log_norm_.data() + column * m.band_,
                                      absent_.get());
            }
        }
        return true;
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
            case Want::proba: put([&](std::size_t at, std::size_t) { return proba_[at]; }); break;
            case Want::log_proba:
                put([&](std::size_t at, std::size_t i) { return joint_[at] - evidence[i]; });
                break;
            default:
                for (std::size_t i = 0; i < rows; ++i) out[row + i] = static_cast<T>(evidence[i]);
        }
    }

    bool is_empty(std::size_t row) const {
        std::size_t j = 0;
        while (j < X_.n_columns && std::isnan(X_.cell(row, j))) ++j;
        return j == X_.n_columns;
    }

    // Nothing is known of the row. Taking all terms out again would leave their rounding.
    void leave_to_priors(std::size_t i) {
        best_[i] = -infinity;
        for (std::size_t k = 0; k < model_.n_classes_; ++k) {
            const double value = model_.log_prior_[k];
            joint_[k * tile_rows + i] = value;
            if (value > best_[i]) best_[i] = value, label_[i] = static_cast<double>(k);
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
            const double rest = model_.offset_[k] + absent_[k * tile_rows + i];
            const double value = distance[k] == nearest ? rest : -infinity;
            joint_[k * tile_rows + i] = value;
            if (value > best_[i]) best_[i] = value, label_[i] = static_cast<double>(k);
        }
    }

    // f(mantissa, exponent) of (x - mean)^2 scale / 4, for each present cell of a row.
    template <class F> void each_term(std::size_t row, std::size_t k, F f) const {
        if (model_.log_prior_[k] == -infinity) return;
        for (std::size_t j = 0; j < model_.n_columns_; ++j) {
            const double* cell =
                model_.parameters_.data() + place(k, j, model_.n_columns_, model_.band_, 2);
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
    alignas(64) double best_[tile_rows], label_[tile_rows], total_[tile_rows];
    Ahead ahead_;
    bool had_missing_ = false;
};

Status GaussianModel::score(const Table& X, const Output& output) const {
    return Scorer(*this, X, output).run();
}

}  // namespace naively
