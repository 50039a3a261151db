#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exp_log.hpp"
#include "labels.hpp"
#include "registers.hpp"
#include "simd.hpp"
#include "terms.hpp"

namespace naively {
namespace {

constexpr std::size_t rows_of_tile = 32;
constexpr double largest_feature = 1e100;  // the square of a sum of such is a double
constexpr double largest_distance = 0x1p999;
constexpr std::uint32_t missing = std::numeric_limits<std::uint32_t>::max();

// f of a tile, row by row, as columns of rows_of_tile lanes: tile[j][i]
void load_tile(const double* f, std::size_t rows, std::size_t p, double* NAIVELY_RESTRICT tile) {
    for (std::size_t j = 0; j < p; ++j) {
        for (std::size_t i = 0; i < rows; ++i) tile[j * rows_of_tile + i] = f[i * p + j];
        for (std::size_t i = rows; i < rows_of_tile; ++i) tile[j * rows_of_tile + i] = 0.0;
    }
}

// sum[i] = sum over j < n of row[j] tile[j][i]
NAIVELY_INLINE void dot(const double* row, std::size_t n, const double* tile,
                        double* NAIVELY_RESTRICT sum) {
    for (std::size_t i = 0; i < rows_of_tile; ++i) sum[i] = 0.0;
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < rows_of_tile; ++i)
            sum[i] += row[j] * tile[j * rows_of_tile + i];
}

// terms[i] = A - B log(1 + s |G tile - g|^2), where g = G mean
NAIVELY_CLONES void students_of_class(const double* G, const double* g, std::size_t p, double A,
                                      double B, double s, const double* tile,
                                      double* NAIVELY_RESTRICT terms) {
    double square[rows_of_tile] = {}, y[rows_of_tile];
    for (std::size_t l = 0; l < p; ++l) {
        dot(G + l * p, l + 1, tile, y);
        for (std::size_t i = 0; i < rows_of_tile; ++i) square[i] += (y[i] - g[l]) * (y[i] - g[l]);
    }
    for (std::size_t i = 0; i < rows_of_tile; ++i)
        terms[i] = A - B * log_of_one_plus(std::min(s * square[i], largest_distance));
}

NAIVELY_CLONES void project_tile(const double* tile, std::size_t p, const double* column,
                                 double* NAIVELY_RESTRICT sum) {
    dot(column, p, tile, sum);
}

}  // namespace

Status standardize(const Table& X, const double* mean, const double* scale, double* out) {
    const std::size_t p = X.n_columns;
    double x[rows_of_tile];
    for (std::size_t row = 0; row < X.n_rows; row += rows_of_tile) {
        const std::size_t rows = std::min(rows_of_tile, X.n_rows - row);
        for (std::size_t j = 0; j < p; ++j) {
            X.pack_columns(row, rows, j, 1, x, rows_of_tile);
            if (has_infinity(x, rows)) return Status::not_finite;
            for (std::size_t i = 0; i < rows; ++i) {
                const double f = (x[i] - mean[j]) * scale[j];
                const double within = std::max(std::min(f, largest_feature), -largest_feature);
                out[(row + i) * p + j] = x[i] == x[i] ? within : 0.0;
            }
        }
    }
    return Status::ok;
}

void project(const double* f, std::size_t n, std::size_t p, const double* W,
             std::size_t n_directions, double* z) {
    const AlignedArray tile = aligned_array(p * rows_of_tile);
    std::vector<double> column(p);
    for (std::size_t row = 0; row < n; row += rows_of_tile) {
        const std::size_t rows = std::min(rows_of_tile, n - row);
        load_tile(f + row * p, rows, p, tile.get());
        for (std::size_t r = 0; r < n_directions; ++r) {
            double sum[rows_of_tile];
            for (std::size_t j = 0; j < p; ++j) column[j] = W[j * n_directions + r];
            project_tile(tile.get(), p, column.data(), sum);
            for (std::size_t i = 0; i < rows; ++i) z[(row + i) * n_directions + r] += sum[i];
        }
    }
}

void add_multivariate_students(const double* f, const MultivariateStudents& terms,
                               const Joint& joint) {
    const std::size_t K = joint.n_classes, p = terms.p;
    const AlignedArray tile = aligned_array(p * rows_of_tile);
    const AlignedArray found = aligned_array(K * rows_of_tile);
    std::vector<double> g(K * p);
    for (std::size_t k = 0; k < K; ++k)
        for (std::size_t l = 0; l < p; ++l)
            for (std::size_t j = 0; j <= l; ++j)
                g[k * p + l] += terms.G[(k * p + l) * p + j] * terms.mean[k * p + j];
    for (std::size_t row = 0; row < joint.n_rows; row += rows_of_tile) {
        const std::size_t rows = std::min(rows_of_tile, joint.n_rows - row);
        load_tile(f + row * p, rows, p, tile.get());
        for (std::size_t k = 0; k < K; ++k)
            students_of_class(terms.G + k * p * p, g.data() + k * p, p, terms.A[k], terms.B[k],
                              terms.s[k], tile.get(), found.get() + k * rows_of_tile);
        for (std::size_t i = 0; i < rows; ++i) {
            double mean = 0.0, *target = joint.values + (row + i) * K;
            if (terms.weights != nullptr)
                for (std::size_t k = 0; k < K; ++k) mean += found[k * rows_of_tile + i];
            mean /= static_cast<double>(K);
            for (std::size_t k = 0; k < K; ++k) {
                const double term = found[k * rows_of_tile + i];
                target[k] += terms.weights == nullptr ? term : terms.weights[k] * (term - mean);
            }
        }
    }
}

namespace {

// Where some rows are on the axes: between bin `low` and the next one, at `share` of the way.
class Positions {
  public:
    Positions(const Table& numbers, const Table& codes, const PairAxes& axes)
        : numbers_(numbers), codes_(codes), axes_(axes),
          low_((numbers.n_columns + codes.n_columns) * rows_of_tile), share_(low_.size()) {}

    bool load(std::size_t row, std::size_t rows) {
        for (std::size_t j = 0; j < numbers_.n_columns; ++j) load_number(j, row, rows);
        for (std::size_t j = 0; j < codes_.n_columns; ++j)
            if (!load_code(j, row, rows)) return false;
        return true;
    }
    std::uint32_t low(std::size_t axis, std::size_t i) const {
        return low_[axis * rows_of_tile + i];
    }
    double share(std::size_t axis, std::size_t i) const { return share_[axis * rows_of_tile + i]; }

  private:
    void load_number(std::size_t j, std::size_t row, std::size_t rows) {
        const double* knots = axes_.knots + axes_.knot_offsets[j];
        const auto n =
            static_cast<std::uint32_t>(axes_.knot_offsets[j + 1] - axes_.knot_offsets[j]);
        double x[rows_of_tile];
        numbers_.pack_columns(row, rows, j, 1, x, rows_of_tile);
        for (std::size_t i = 0; i < rows; ++i) {
            std::uint32_t at = 0;
            for (std::uint32_t m = 1; m + 1 < n; ++m) at += x[i] >= knots[m];
            const double a = 0.5 * knots[at], b = n > 1 ? 0.5 * knots[at + 1] : a;
            const double way = n > 1 ? (0.5 * x[i] - a) / (b - a) : 0.0;
            const bool there = x[i] == x[i];
            low_[j * rows_of_tile + i] = there ? at : missing;
            share_[j * rows_of_tile + i] = there ? std::max(std::min(way, 1.0), 0.0) : 0.0;
        }
    }
    bool load_code(std::size_t j, std::size_t row, std::size_t rows) {
        const std::int32_t* bins = axes_.bins + axes_.bin_offsets[j];
        const auto size =
            static_cast<std::uint32_t>(axes_.bin_offsets[j + 1] - axes_.bin_offsets[j]);
        std::uint32_t slots[rows_of_tile];
        if (!read_column(codes_.column(j).from(row), rows, size, slots)) return false;
        const std::size_t axis = (numbers_.n_columns + j) * rows_of_tile;
        for (std::size_t i = 0; i < rows; ++i) {
            low_[axis + i] =
                slots[i] == size ? missing : static_cast<std::uint32_t>(bins[slots[i]]);
            share_[axis + i] = 0.0;
        }
        return true;
    }

    const Table &numbers_, &codes_;
    const PairAxes axes_;
    std::vector<std::uint32_t> low_;
    std::vector<double> share_;
};

// The four lines that a cell is between, and how much each counts.
struct Corners {
    std::size_t line[4];
    double part[4];

    Corners(std::size_t a, double s, std::size_t n_a, std::size_t b, double t, std::size_t n_b) {
        const std::size_t next_a = std::min(a + 1, n_a - 1), next_b = std::min(b + 1, n_b - 1);
        line[0] = a * n_b + b, part[0] = (1 - s) * (1 - t);
        line[1] = a * n_b + next_b, part[1] = (1 - s) * t;
        line[2] = next_a * n_b + b, part[2] = s * (1 - t);
        line[3] = next_a * n_b + next_b, part[3] = s * t;
    }
};

}  // namespace

bool add_pairs(const Table& numbers, const Table& codes, const PairAxes& axes,
               const PairTables& tables, const Joint& joint) {
    Positions positions(numbers, codes, axes);
    const std::size_t K = joint.n_classes;
    for (std::size_t row = 0; row < joint.n_rows; row += rows_of_tile) {
        const std::size_t rows = std::min(rows_of_tile, joint.n_rows - row);
        if (!positions.load(row, rows)) return false;
        for (std::size_t pair = 0; pair < tables.n_pairs; ++pair) {
            const auto a = static_cast<std::size_t>(tables.axes[2 * pair]);
            const auto b = static_cast<std::size_t>(tables.axes[2 * pair + 1]);
            const auto n_a = static_cast<std::size_t>(tables.n_bins[a]);
            const auto n_b = static_cast<std::size_t>(tables.n_bins[b]);
            const double* values =
                tables.values + static_cast<std::size_t>(tables.offsets[pair]) * K;
            for (std::size_t i = 0; i < rows; ++i) {
                const std::uint32_t at_a = positions.low(a, i), at_b = positions.low(b, i);
                if (at_a == missing || at_b == missing) continue;
                const Corners corners(at_a, positions.share(a, i), n_a, at_b, positions.share(b, i),
                                      n_b);
                double* target = joint.values + (row + i) * K;
                for (std::size_t k = 0; k < K; ++k) {
                    double term = 0.0;
                    for (std::size_t c = 0; c < 4; ++c)
                        term += corners.part[c] * values[corners.line[c] * K + k];
                    target[k] += term;
                }
            }
        }
    }
    return true;
}

// --- which pairs are worth a term
// -----------------------------------------------------------------

namespace {

constexpr double strengths[] = {4.0, 16.0, 64.0, 256.0, 1024.0};
constexpr double margin_rows = 2.0;    // that the shares of all classes are worth
constexpr double pull = 10.0;          // of a weight
constexpr double least_base = 1e-300;  // of a prior: the log gamma of less overflows

// log Gamma(x + n) - log Gamma(x)
double log_gamma(double x) {
    double product = 1.0;
    for (; x < 8.0; x += 1.0) product *= x;
    const double r = 1.0 / x, r2 = r * r;
    const double series =
        r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 / 1188))));
    return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series - std::log(product);
}

double log_rising(double x, double n) {
    if (n <= 8.0 && n == std::floor(n)) {
        double product = 1.0;
        for (double i = 0.0; i < n; i += 1.0) product *= x + i;
        return std::log(product);
    }
    return log_gamma(x + n) - log_gamma(x);
}

double log_ratio(double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : 0.0; }

// The table of one pair, as PairTable of naively/interactions/pairs.py has it.
class Judge {
  public:
    Judge(const BinnedRows& rows, const double* p) : rows_(rows), p_(p), terms_(rows.n_classes) {}

    double score(std::size_t a, std::size_t b) {
        tally(a, b);
        expect();
        choose_strength();
        fill();
        return judged(a, b);
    }

  private:
    std::size_t cell(std::size_t k, std::size_t i, std::size_t j) const {
        return (k * A_ + i) * B_ + j;
    }

    void tally(std::size_t a, std::size_t b) {
        const std::size_t K = rows_.n_classes, n = rows_.n_rows;
        A_ = static_cast<std::size_t>(rows_.n_bins[a]);
        B_ = static_cast<std::size_t>(rows_.n_bins[b]);
        counts_.assign(K * A_ * B_, 0.0);
        of_a_.assign(K * A_, 0.0), of_b_.assign(K * B_, 0.0), of_class_.assign(K, 0.0);
        q_a_.assign(A_, 0.0), q_b_.assign(B_, 0.0);
        const std::int32_t *bins_a = rows_.bins + a * n, *bins_b = rows_.bins + b * n;
        for (std::size_t i = 0; i < n; ++i) {
            if (bins_a[i] < 0 || bins_b[i] < 0) continue;
            const auto k = static_cast<std::size_t>(rows_.codes[i]);
            const auto at = static_cast<std::size_t>(bins_a[i]);
            const auto beside = static_cast<std::size_t>(bins_b[i]);
            const double w = rows_.weight[i];
            counts_[cell(k, at, beside)] += w;
            of_a_[k * A_ + at] += w, of_b_[k * B_ + beside] += w, of_class_[k] += w;
            q_a_[at] += w, q_b_[beside] += w;
        }
        double total = 0.0;
        for (const double w : of_class_) total += w;
        total = std::max(total, 1e-300);
        for (double& q : q_a_) q /= total;
        for (double& q : q_b_) q /= total;
    }

    void expect() {
        expected_.resize(counts_.size());
        for (std::size_t k = 0; k < rows_.n_classes; ++k) {
            const double all = of_class_[k] + margin_rows;
            for (std::size_t i = 0; i < A_; ++i) {
                const double pa = (of_a_[k * A_ + i] + margin_rows * q_a_[i]) / all;
                for (std::size_t j = 0; j < B_; ++j)
                    expected_[cell(k, i, j)] =
                        pa * ((of_b_[k * B_ + j] + margin_rows * q_b_[j]) / all);
            }
        }
    }

    void choose_strength() {
        double best = -std::numeric_limits<double>::infinity();
        alpha_ = strengths[0];
        for (const double alpha : strengths) {
            double found = 0.0;
            for (std::size_t c = 0; c < counts_.size(); ++c)
                if (counts_[c] > 0)
                    found += log_rising(std::max(alpha * expected_[c], least_base), counts_[c]);
            for (const double n : of_class_) found -= log_rising(alpha, n);
            if (found > best) best = found, alpha_ = alpha;
        }
    }

    void fill() {
        values_.resize(counts_.size());
        const std::size_t cells = A_ * B_;
        for (std::size_t c = 0; c < counts_.size(); ++c)
            values_[c] = log_ratio(counts_[c] + alpha_ * expected_[c],
                                   (of_class_[c / cells] + alpha_) * expected_[c]);
    }

    // The value of the row's own cell without the row, less that with it.
    double change(std::size_t k, std::size_t a, std::size_t b, double own) const {
        const double rest = std::max(of_class_[k] - own, 0.0), all = rest + margin_rows;
        const double pa = (std::max(of_a_[k * A_ + a] - own, 0.0) + margin_rows * q_a_[a]) / all;
        const double pb = (std::max(of_b_[k * B_ + b] - own, 0.0) + margin_rows * q_b_[b]) / all;
        const double e = pa * pb, count = std::max(counts_[cell(k, a, b)] - own, 0.0);
        return log_ratio(count + alpha_ * e, (rest + alpha_) * e) - values_[cell(k, a, b)];
    }

    static double own_share(std::int32_t own, std::int32_t low, double share) {
        return own == low ? 1 - share : own == low + 1 ? share : 0.0;
    }

    double judged(std::size_t a, std::size_t b) {
        const std::size_t n = rows_.n_rows, K = rows_.n_classes;
        double gain = 0.0, spread = pull;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t at = a * n + i, beside = b * n + i;
            if (rows_.bins[at] < 0 || rows_.bins[beside] < 0) continue;  // terms of 0
            const double s = rows_.share[at], t = rows_.share[beside];
            const Corners corners(static_cast<std::size_t>(rows_.low[at]), s, A_,
                                  static_cast<std::size_t>(rows_.low[beside]), t, B_);
            double mean = 0.0;
            for (std::size_t k = 0; k < K; ++k) {
                const double* values = values_.data() + k * A_ * B_;
                double term = 0.0;
                for (std::size_t c = 0; c < 4; ++c)
                    term += corners.part[c] * values[corners.line[c]];
                terms_[k] = term;
            }
            const auto own = static_cast<std::size_t>(rows_.codes[i]);
            const double share = own_share(rows_.bins[at], rows_.low[at], s) *
                                 own_share(rows_.bins[beside], rows_.low[beside], t);
            if (share > 0)
                terms_[own] += share * change(own, static_cast<std::size_t>(rows_.bins[at]),
                                              static_cast<std::size_t>(rows_.bins[beside]),
                                              std::min(rows_.weight[i], 1.0));
            for (std::size_t k = 0; k < K; ++k) mean += terms_[k];
            mean /= static_cast<double>(K);
            double expected = 0.0, squares = 0.0;
            for (std::size_t k = 0; k < K; ++k) {
                const double c = terms_[k] - mean, p = p_[i * K + k];
                expected += p * c, squares += p * c * c;
            }
            gain += rows_.weight[i] * (terms_[own] - mean - expected);
            spread += rows_.weight[i] * (squares - expected * expected);
        }
        return gain * std::fabs(gain) / (2 * spread);
    }

    const BinnedRows& rows_;
    const double* p_;
    std::size_t A_ = 0, B_ = 0;
    double alpha_ = 0.0;
    std::vector<double> counts_, of_a_, of_b_, of_class_, q_a_, q_b_, expected_, values_, terms_;
};

}  // namespace

void judge_pairs(const BinnedRows& rows, const double* p, std::size_t n_pairs,
                 const std::int32_t* pairs, double* scores) {
    Judge judge(rows, p);
    for (std::size_t i = 0; i < n_pairs; ++i)
        scores[i] = judge.score(static_cast<std::size_t>(pairs[2 * i]),
                                static_cast<std::size_t>(pairs[2 * i + 1]));
}

}  // namespace naively
