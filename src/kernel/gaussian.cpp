#include "gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "memory.hpp"
#include "scoring.hpp"

namespace naively {
namespace {

constexpr std::size_t rows_worth_a_screen = 256;

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

Screen GaussianModel::screen() const {
    const std::size_t size = n_classes_ * n_columns_;
    std::vector<double> mean(size), scale(size), log_norm(size);
    for (std::size_t k = 0; k < n_classes_; ++k)
        for (std::size_t j = 0; j < n_columns_; ++j) {
            const double* cell = parameters_.data() + place(k, j, n_columns_, band_, 2);
            mean[k * n_columns_ + j] = cell[0];
            scale[k * n_columns_ + j] = cell[band_];
            log_norm[k * n_columns_ + j] = log_norm_[place(k, j, n_columns_, band_, 1)];
        }
    return {n_classes_,   n_columns_,      band_,         mean.data(),
            scale.data(), log_norm.data(), offset_.data()};
}

// The working memory of one call.
class Scorer {
  public:
    Scorer(const GaussianModel& model, const Table& X, const Output& output)
        : model_(model), X_(X), output_(output), size_(model.n_bands_ * model.band_ * tile_rows),
          tile_(aligned_array(tile_columns * tile_rows)), joint_(aligned_array(size_)),
          absent_(aligned_array(size_)), power_(aligned_array(needs_powers() ? size_ : 0)) {}

    Status run() {
        if (output_.want == Want::label && X_.n_rows >= rows_worth_a_screen &&
            model_.root_.empty()) {
            const Screen screen = model_.screen();
            if (screen.usable()) return run_behind(screen);
        }
        return score_rows(0, X_.n_rows) ? Status::ok : Status::not_finite;
    }

  private:
    bool needs_powers() const { return output_.want != Want::label && output_.want != Want::joint; }
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
        finish_joint(model_.n_classes_, model_.offset_.data(), absent_.get(), joint_.get(), best_,
                     label_);
        if (had_missing_)
            for (std::size_t i = 0; i < rows; ++i)
                if (is_empty(row + i)) leave_to_priors(i);
        if (output_.want != Want::joint && output_.want != Want::evidence)
            for (std::size_t i = 0; i < rows; ++i)
                if (best_[i] == -infinity) rescue(row + i, i);
        if (needs_powers())
            exponentiate(model_.n_classes_, joint_.get(), best_, power_.get(), total_, factor_);
        write(row, rows);
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
        pack_columns(X_, row, rows, column, columns, tile_.get());
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

    void write(std::size_t row, std::size_t rows) {
        if (output_.want == Want::label)
            for (std::size_t i = 0; i < rows; ++i)
                output_.labels[row + i] = static_cast<std::int64_t>(label_[i]);
        else if (output_.values != nullptr)
            write_values(row, rows, output_.values);
        else
            write_values(row, rows, output_.short_values);
    }

    template <class T> void write_values(std::size_t row, std::size_t rows, T* out) {
        const std::size_t K = model_.n_classes_;
        if (output_.want != Want::joint && output_.want != Want::proba)  // total_ becomes log p(x)
            for (std::size_t i = 0; i < rows; ++i)
                total_[i] = best_[i] == -infinity ? -infinity : best_[i] + std::log(total_[i]);
        if (output_.want == Want::evidence) {
            for (std::size_t i = 0; i < rows; ++i) out[row + i] = static_cast<T>(total_[i]);
            return;
        }
        if (output_.want == Want::log_proba)
            for (std::size_t at = 0; at < K * tile_rows; ++at) joint_[at] -= total_[at % tile_rows];
        if (output_.want != Want::proba) std::fill_n(factor_, tile_rows, 1.0);
        const double* values = output_.want == Want::proba ? power_.get() : joint_.get();
        if (std::is_same_v<T, double> && rows == tile_rows)
            return write_tile(values, factor_, K, output_.values + row * K);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t k = 0; k < K; ++k)
                out[(row + i) * K + k] = static_cast<T>(values[k * tile_rows + i] * factor_[i]);
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
    AlignedArray tile_, joint_, absent_, power_;
    alignas(64) double best_[tile_rows], label_[tile_rows], total_[tile_rows], factor_[tile_rows];
    Ahead ahead_;
    bool had_missing_ = false;  // in this tile
    bool careful_ = false;      // since cells were missing
};

Status GaussianModel::score(const Table& X, const Output& output) const {
    return Scorer(*this, X, output).run();
}

}  // namespace naively
