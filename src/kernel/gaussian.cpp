#include "gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "answers.hpp"
#include "registers.hpp"
#include "screen.hpp"
#include "tile.hpp"

namespace naively {
namespace {

constexpr std::size_t rows_worth_a_screen = 256;

template <class R>
NAIVELY_INLINE void add_distances_by(const Step<double>& step, std::size_t band) {
    add_distances_by_lanes<R, false>(step, band);
}
NAIVELY_BY_REGISTERS(add_distances)

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
NAIVELY_BY_REGISTERS(add_distances_missing)

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
NAIVELY_BY_REGISTERS(turn_rows)

template <class R> NAIVELY_INLINE bool finite_by(const double* numbers, std::size_t n) {
    return all_finite<R>(numbers, n);
}
NAIVELY_BY_REGISTERS(finite)

}  // namespace

GaussianModel::GaussianModel(std::size_t n_classes, std::size_t n_columns, const double* A,
                             const double* B, const double* mu, const double* s,
                             const double* constant)
    : n_classes_(n_classes), n_columns_(n_columns), band_(best_band(n_classes)),
      n_bands_((n_classes + band_ - 1) / band_), parameters_(n_bands_ * n_columns * 2 * band_),
      log_norm_(n_bands_ * n_columns * band_), log_prior_(constant, constant + n_classes),
      offset_(constant, constant + n_classes), root_(s == nullptr ? 0 : n_classes * n_columns) {
    for (std::size_t k = 0; k < n_classes; ++k) {
        double norms = 0.0;
        for (std::size_t j = 0; j < n_columns; ++j) {
            const std::size_t at = j * n_classes + k;
            if (!(B[at] > 0.0)) continue;
            double* cell = parameters_.data() + place(k, j, n_columns, band_, 2);
            cell[0] = mu[at];
            cell[band_] = B[at];
            log_norm_[place(k, j, n_columns, band_, 1)] = -A[at];
            norms -= A[at];
            if (s != nullptr) root_[k * n_columns + j] = s[at] * std::sqrt(B[at]);
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
          absent_(aligned_array(size_)), answers_(model.n_classes_, output) {}

    Status run() {
        if (output_.want == Want::label && X_.n_rows >= rows_worth_a_screen &&
            model_.root_.empty()) {
            const GaussianModel& m = model_;
            const Screen screen(m.n_classes_, m.n_columns_, m.band_, m.parameters_.data(),
                                m.log_norm_.data(), m.offset_.data());
            if (screen.usable()) return run_behind(screen);
        }
        return score_rows(0, X_.n_rows) ? Status::ok : Status::not_finite;
    }

  private:
    std::size_t rows_of_tile(std::size_t row) const { return std::min(tile_rows, X_.n_rows - row); }

    // Labels tiles in single precision where that decides. Gives it up where it seldom does.
    Status run_behind(const Screen& screen) {
        Screen::Work work(screen, X_);
        std::size_t tiles = 0, undecided = 0;
        for (std::size_t row = 0; row < X_.n_rows; row += wide_tile_rows, ++tiles) {
            const bool worthwhile = undecided <= tiles / 4 + 4;
            if (worthwhile && work.label(row, output_.labels + row)) continue;
            ++undecided;
            if (!score_rows(row, std::min(row + wide_tile_rows, X_.n_rows)))
                return Status::not_finite;
        }
        return Status::ok;
    }

    bool score_rows(std::size_t row, std::size_t end) {
        for (; row < end; row += tile_rows)
            if (!score_tile(row)) return false;
        return true;
    }

    bool score_tile(std::size_t row) {
        const std::size_t rows = rows_of_tile(row);
        if (!measure(row)) return false;
        find_largest(model_.n_classes_, model_.offset_.data(), absent_.get(), joint_.get(),
                     answers_.best, answers_.label);
        if (had_missing_)
            for (std::size_t i = 0; i < rows; ++i)
                if (is_empty(row + i)) leave_to_priors(i);
        if (output_.want != Want::joint && output_.want != Want::evidence)
            for (std::size_t i = 0; i < rows; ++i)
                if (answers_.best[i] == -infinity) rescue(row + i, i);
        answers_.write(joint_.get(), row, rows);
        return true;
    }

    // Packs a tile, and aims at the next one. Returns its number of columns.
    std::size_t load(std::size_t row, std::size_t column) {
        const std::size_t columns = std::min(tile_columns, X_.n_columns - column);
        if (X_.reads_behind<double>(row + tile_rows))
            turn_rows(X_.plain_row<double>(row) + column, X_.plain_stride<double>(), columns,
                      tile_.get());
        else if (X_.reads_behind<float>(row + tile_rows))
            turn_rows(X_.plain_row<float>(row) + column, X_.plain_stride<float>(), columns,
                      tile_.get());
        else
            pack(row, column, columns);
        ahead_.aim_behind(X_, row, tile_rows, column);
        return columns;
    }

    void pack(std::size_t row, std::size_t column, std::size_t columns) {
        const std::size_t rows = rows_of_tile(row);
        if (rows < tile_rows) std::fill_n(tile_.get(), tile_columns * tile_rows, 0.0);
        X_.pack_columns(row, rows, column, columns, tile_.get(), tile_rows);
    }

    // Fills joint_ with the distances of a tile of rows; false if a cell is infinite.
    bool measure(std::size_t row) {
        if (!model_.root_.empty()) return measure_by_roots(row);
        if (!careful_) {
            add_up(row, [&](const Step<double>& step) {
                add_distances(step, model_.band_);
                return true;
            });
            // What is not finite in a row is not in any class's distance: look at the first.
            if (finite(joint_.get(), tile_rows)) return true;
        }
        return add_up(row, [&](const Step<double>& step) { return add_carefully(step); });
    }

    // The same, cell by cell, where the square of a difference or its scale would underflow or
    // overflow.
    bool measure_by_roots(std::size_t row) {
        const GaussianModel& m = model_;
        std::fill_n(joint_.get(), size_, 0.0);
        std::fill_n(absent_.get(), size_, 0.0);
        had_missing_ = false;
        for (std::size_t i = 0; i < rows_of_tile(row); ++i)
            for (std::size_t j = 0; j < m.n_columns_; ++j) {
                const double x = X_.cell(row + i, j);
                if (std::isinf(x)) return false;
                had_missing_ |= std::isnan(x);
                for (std::size_t k = 0; k < m.n_classes_; ++k) add_by_root(x, k, j, i);
            }
        return true;
    }

    void add_by_root(double x, std::size_t k, std::size_t j, std::size_t i) {
        const GaussianModel& m = model_;
        const double root = m.root_[k * m.n_columns_ + j];
        const double mean = m.parameters_[place(k, j, m.n_columns_, m.band_, 2)];
        const double z = root == 0.0 ? 0.0 : (x - mean) * root;
        if (std::isnan(x))
            absent_[k * tile_rows + i] += m.log_norm_[place(k, j, m.n_columns_, m.band_, 1)];
        else
            joint_[k * tile_rows + i] += z * z;
    }

    // Where cells may be missing or infinite.
    bool add_carefully(const Step<double>& step) {
        const double* end = step.tile + step.columns * tile_rows;
        if (finite(step.tile, step.columns * tile_rows)) {
            add_distances(step, model_.band_);
        } else if (std::any_of(step.tile, end, [](double x) { return std::isinf(x); })) {
            return false;
        } else {
            careful_ = had_missing_ = true;
            add_distances_missing(step, model_.band_, absent_.get());
        }
        return true;
    }

    // add(step) for each tile of columns; false as soon as that is.
    template <class F> bool add_up(std::size_t row, F add) {
        const GaussianModel& m = model_;
        if (m.n_columns_ == 0) std::fill_n(joint_.get(), size_, 0.0);
        if (had_missing_) std::fill_n(absent_.get(), size_, 0.0);
        had_missing_ = false;
        for (std::size_t column = 0; column < m.n_columns_; column += tile_columns) {
            const std::size_t columns = load(row, column);
            const Step<double> step{tile_.get(),
                                    columns,
                                    m.n_columns_,
                                    m.n_bands_,
                                    m.parameters_.data() + column * 2 * m.band_,
                                    m.log_norm_.data() + column * m.band_,
                                    joint_.get(),
                                    column == 0,
                                    &ahead_};
            if (!add(step)) return false;
        }
        return true;
    }

    bool is_empty(std::size_t row) const {
        std::size_t j = 0;
        while (j < X_.n_columns && std::isnan(X_.cell(row, j))) ++j;
        return j == X_.n_columns;
    }

    // Nothing is known of the row. Taking all terms out again would leave their rounding.
    void leave_to_priors(std::size_t i) {
        answers_.best[i] = -infinity;
        for (std::size_t k = 0; k < model_.n_classes_; ++k) set_joint(i, k, model_.log_prior_[k]);
    }

    // The joint of a class; the row's best so far is that of the classes before.
    void set_joint(std::size_t i, std::size_t k, double value) {
        joint_[k * tile_rows + i] = value;
        if (!(value > answers_.best[i])) return;
        answers_.best[i] = value, answers_.label[i] = static_cast<double>(k);
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
            set_joint(i, k, distance[k] == nearest ? rest : -infinity);
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
            double scale = std::frexp(cell[model_.band_], &scale_exponent);
            if (!model_.root_.empty()) {
                scale = std::frexp(model_.root_[k * model_.n_columns_ + j], &scale_exponent);
                scale *= scale, scale_exponent *= 2;
            }
            if (d == d && d * scale != 0.0) f(d * d * scale, 2 * d_exponent + scale_exponent);
        }
    }

    const GaussianModel& model_;
    const Table& X_;
    const Output output_;
    const std::size_t size_;
    AlignedArray tile_, joint_, absent_;
    TileAnswers answers_;
    Ahead ahead_;
    bool had_missing_ = false;  // in this tile
    bool careful_ = false;      // since cells were missing
};

Status GaussianModel::score(const Table& X, const Output& output) const {
    return Scorer(*this, X, output).run();
}

}  // namespace naively
