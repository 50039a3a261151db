#include "terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exp_log.hpp"
#include "registers.hpp"
#include "tile.hpp"

namespace naively {
namespace {

constexpr double largest_part = 1e300;
constexpr double largest_z = 0x1p499;  // whose square log_of_one_plus takes
constexpr double largest = std::numeric_limits<double>::max();

// A kind of term has `n` parameters. near(x, p) is the formula, for |x| <= limit(p); far(x, p)
// holds for every finite x, and is equal to it bit for bit where both do.
struct Student {
    static constexpr std::size_t n = 4;  // A, B, mu, s

    NAIVELY_INLINE static double near(double x, const double* p) {
        const double z = (x - p[2]) * p[3];
        return p[0] - p[1] * log_of_one_plus(z * z);
    }
    static double far(double x, const double* p) {
        const double d = std::fabs(x - p[2]);
        const double z = d <= largest ? d * p[3] : 2.0 * (std::fabs(0.5 * x - 0.5 * p[2]) * p[3]);
        if (z <= largest_z) return p[0] - p[1] * log_of_one_plus(z * z);
        return p[0] - p[1] * (2.0 * std::log(std::min(z, largest)));
    }
    static double limit(const double* p) {
        return std::min(0.5 * largest_z / p[3], 0.5 * largest) - std::fabs(p[2]);
    }
};

struct Quadratic {
    static constexpr std::size_t n = 4;  // A, B, mu, s

    NAIVELY_INLINE static double near(double x, const double* p) {
        const double z = (x - p[2]) * p[3];
        return p[0] - z * p[1] * z;
    }
    static double far(double x, const double* p) {
        const double d = std::min(std::fabs(x - p[2]), largest);
        const double z = std::min(d * p[3], largest);
        return p[0] - std::max(std::min(z * p[1] * z, largest_part), -largest_part);
    }
    static double limit(const double* p) {
        const double length = std::sqrt(largest_part) / (std::sqrt(std::fabs(p[1])) * p[3]);
        return std::min(0.5 * length, 0.5 * largest) - std::fabs(p[2]);
    }
};

struct Linear {
    static constexpr std::size_t n = 4;  // A, B, lowest, farthest

    NAIVELY_INLINE static double near(double x, const double* p) {
        return x >= p[2] ? p[0] + p[1] * x : 0.0;
    }
    static double far(double x, const double* p) {
        return near(std::max(std::min(x, p[3]), -p[3]), p);
    }
    static double limit(const double* p) { return p[3]; }
};

// sum[k][i] += term_k(x[i]) for a column of a tile; parameters by class
template <class Term>
NAIVELY_INLINE void add_column(const double* x, const double* parameters, std::size_t n_classes,
                               double* NAIVELY_RESTRICT sum) {
    for (std::size_t k = 0; k < n_classes; ++k) {
        const double* p = parameters + k * Term::n;
        for (std::size_t i = 0; i < wide_tile_rows; ++i) {
            const double term = Term::near(x[i], p);
            sum[k * wide_tile_rows + i] += x[i] == x[i] ? term : 0.0;
        }
    }
}
NAIVELY_CLONES void add_near(Student, const double* x, const double* parameters,
                             std::size_t n_classes, double* sum) {
    add_column<Student>(x, parameters, n_classes, sum);
}
NAIVELY_CLONES void add_near(Quadratic, const double* x, const double* parameters,
                             std::size_t n_classes, double* sum) {
    add_column<Quadratic>(x, parameters, n_classes, sum);
}
NAIVELY_CLONES void add_near(Linear, const double* x, const double* parameters,
                             std::size_t n_classes, double* sum) {
    add_column<Linear>(x, parameters, n_classes, sum);
}

template <class Term>
void add_far(Term, const double* x, const double* parameters, std::size_t n_classes, double* sum) {
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < wide_tile_rows; ++i)
            if (!std::isnan(x[i]))
                sum[k * wide_tile_rows + i] += Term::far(x[i], parameters + k * Term::n);
}

// The part of a square is at most 1e300. Where even that of the best class would be more, all are
// taken down by one factor: a row that is far from every class still has a nearest one.
void add_far(Quadratic, const double* x, const double* parameters, std::size_t n_classes,
             double* sum) {
    std::vector<double> root(n_classes);  // of half of each part; with the sign of B
    for (std::size_t i = 0; i < wide_tile_rows; ++i) {
        if (std::isnan(x[i])) continue;
        double best = largest, farthest = 0.0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double* p = parameters + k * Quadratic::n;
            const double half = std::fabs(0.5 * x[i] - 0.5 * p[2]) * p[3];
            const double length = std::min(half * std::sqrt(std::fabs(p[1])), largest);
            root[k] = std::copysign(length, p[1]);
            best = std::min(best, root[k]);
            farthest = std::max(farthest, length);
        }
        const bool all_far = std::fabs(best) > 0.5 * std::sqrt(largest_part);
        const double factor = std::sqrt(largest_part) / farthest;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double* p = parameters + k * Quadratic::n;
            const double part = root[k] * factor * (std::fabs(root[k]) * factor);
            sum[k * wide_tile_rows + i] += all_far ? p[0] - part : Quadratic::far(x[i], p);
        }
    }
}

NAIVELY_CLONES bool exceeds(const double* x, double limit) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < wide_tile_rows; ++i)
        found |= static_cast<std::uint64_t>(std::fabs(x[i]) > limit);
    return found != 0;
}

// sum[k][i] += w[k] (terms[k][i] - their mean over the classes)
NAIVELY_CLONES void add_centred(const double* NAIVELY_RESTRICT terms, const double* w,
                                std::size_t n_classes, double* NAIVELY_RESTRICT sum) {
    double mean[wide_tile_rows] = {};
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < wide_tile_rows; ++i) mean[i] += terms[k * wide_tile_rows + i];
    for (std::size_t i = 0; i < wide_tile_rows; ++i) mean[i] /= static_cast<double>(n_classes);
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < wide_tile_rows; ++i)
            sum[k * wide_tile_rows + i] += w[k] * (terms[k * wide_tile_rows + i] - mean[i]);
}

template <class Term> class Adder {
  public:
    // given[p] is an array by column and class, and so are weights, if there are any.
    Adder(const double* const (&given)[Term::n], std::size_t n_columns, const Joint& joint,
          const double* weights = nullptr)
        : joint_(joint), weights_(weights), parameters_(n_columns * joint.n_classes * Term::n),
          limit_(n_columns), tile_(aligned_array(tile_columns * wide_tile_rows)),
          sum_(aligned_array(joint.n_classes * wide_tile_rows)),
          terms_(aligned_array(weights == nullptr ? 0 : joint.n_classes * wide_tile_rows)) {
        const std::size_t K = joint.n_classes;
        for (std::size_t j = 0; j < n_columns; ++j) {
            limit_[j] = largest;
            for (std::size_t k = 0; k < K; ++k) {
                double* p = parameters_.data() + (j * K + k) * Term::n;
                for (std::size_t at = 0; at < Term::n; ++at) p[at] = given[at][j * K + k];
                if (std::any_of(p, p + Term::n, [](double v) { return std::isnan(v); }))
                    std::fill_n(p, Term::n, 0.0);  // adds nothing
                limit_[j] = std::min(limit_[j], Term::limit(p));
            }
        }
    }

    Status run(const Table& X) {
        for (std::size_t row = 0; row < X.n_rows; row += wide_tile_rows) {
            const std::size_t rows = std::min(wide_tile_rows, X.n_rows - row);
            std::fill_n(sum_.get(), joint_.n_classes * wide_tile_rows, 0.0);
            if (rows < wide_tile_rows) std::fill_n(tile_.get(), tile_columns * wide_tile_rows, 0.0);
            for (std::size_t column = 0; column < X.n_columns; column += tile_columns) {
                const std::size_t columns = std::min(tile_columns, X.n_columns - column);
                X.pack_columns(row, rows, column, columns, tile_.get(), wide_tile_rows);
                for (std::size_t j = 0; j < columns; ++j)
                    if (!add(tile_.get() + j * wide_tile_rows, column + j))
                        return Status::not_finite;
            }
            write(row, rows);
        }
        return Status::ok;
    }

  private:
    bool add(const double* x, std::size_t j) {
        const std::size_t K = joint_.n_classes;
        if (weights_ == nullptr) return add(x, j, sum_.get());
        std::fill_n(terms_.get(), K * wide_tile_rows, 0.0);
        if (!add(x, j, terms_.get())) return false;
        add_centred(terms_.get(), weights_ + j * K, K, sum_.get());
        return true;
    }

    bool add(const double* x, std::size_t j, double* sum) const {
        const std::size_t K = joint_.n_classes;
        const double* parameters = parameters_.data() + j * K * Term::n;
        if (!exceeds(x, limit_[j])) {
            add_near(Term{}, x, parameters, K, sum);
            return true;
        }
        if (std::any_of(x, x + wide_tile_rows, [](double v) { return std::isinf(v); }))
            return false;
        add_far(Term{}, x, parameters, K, sum);
        return true;
    }

    void write(std::size_t row, std::size_t rows) {
        const std::size_t K = joint_.n_classes;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t k = 0; k < K; ++k)
                joint_.values[(row + i) * K + k] += sum_[k * wide_tile_rows + i];
    }

    const Joint joint_;
    const double* const weights_;     // by column and class
    std::vector<double> parameters_;  // by column, class, and parameter
    std::vector<double> limit_;       // of |x|, per column
    AlignedArray tile_, sum_, terms_;
};

}  // namespace

Status add_students(const Table& X, const double* A, const double* B, const double* mu,
                    const double* s, const Joint& joint, const double* weights) {
    return Adder<Student>({A, B, mu, s}, X.n_columns, joint, weights).run(X);
}

Status add_quadratics(const Table& X, const double* A, const double* B, const double* mu,
                      const Joint& joint, const double* weights, const double* s) {
    const std::vector<double> ones(s == nullptr ? X.n_columns * joint.n_classes : 0, 1.0);
    const double* scales = s == nullptr ? ones.data() : s;
    return Adder<Quadratic>({A, B, mu, scales}, X.n_columns, joint, weights).run(X);
}

Status add_lines(const Table& X, const double* A, const double* B, double lowest,
                 const Joint& joint) {
    const std::size_t n_classes = joint.n_classes;
    const std::vector<double> bounds(X.n_columns * n_classes, lowest);
    std::vector<double> farthest(X.n_columns * n_classes);
    for (std::size_t j = 0; j < X.n_columns; ++j) {
        double steepest = 1.0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            steepest = std::max(steepest, std::abs(B[j * n_classes + k]));
        }
        std::fill_n(farthest.data() + j * n_classes, n_classes, largest_part / steepest);
    }
    return Adder<Linear>({A, B, bounds.data(), farthest.data()}, X.n_columns, joint).run(X);
}

}  // namespace naively
