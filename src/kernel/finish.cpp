#include <algorithm>
#include <cmath>
#include <limits>

#include "exp_log.hpp"
#include "memory.hpp"
#include "registers.hpp"
#include "simd.hpp"
#include "terms.hpp"
#include "tile.hpp"

namespace naively {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// joint[k][i] for a tile of rows; `rows` of them are there, and the rest is zero.
NAIVELY_CLONES void pack_tile(const Table& joint, std::size_t row, std::size_t rows, double* tile) {
    if (rows < tile_rows) std::fill_n(tile, joint.n_columns * tile_rows, 0.0);
    joint.pack_columns(row, rows, 0, joint.n_columns, tile, tile_rows);
}

template <class R>
NAIVELY_INLINE void find_largest_by(std::size_t n_classes, const double* joint, double* best,
                                    double* label) {
    using Lanes = typename R::Lanes;
    for (std::size_t row = 0; row < tile_rows; row += lane_count) {
        Lanes largest = Lanes{} - infinity, at{};
        for (std::size_t k = 0; k < n_classes; ++k) {
            const Lanes& line = lanes<R>(joint + k * tile_rows + row);
            set_where_greater(line, largest, at, Lanes{} + static_cast<double>(k));
            set_where_greater(line, largest, largest, line);
        }
        lanes<R>(best + row) = largest;
        lanes<R>(label + row) = at;
    }
}
NAIVELY_BY_REGISTERS(void, find_largest,
                     (std::size_t n_classes, const double* joint, double* best, double* label),
                     (n_classes, joint, best, label))

// The working memory of one call.
class Finisher {
  public:
    Finisher(const double* joint, std::size_t n_rows, std::size_t n_classes, const Output& output)
        : joint_(reinterpret_cast<const char*>(joint),
                 static_cast<std::ptrdiff_t>(n_classes * sizeof(double)), sizeof(double), Kind::f64,
                 n_rows, n_classes),
          output_(output), tile_(aligned_array(n_classes * tile_rows)),
          power_(aligned_array(n_classes * tile_rows)) {}

    void run() {
        for (std::size_t row = 0; row < joint_.n_rows; row += tile_rows) {
            const std::size_t rows = std::min(tile_rows, joint_.n_rows - row);
            pack_tile(joint_, row, rows, tile_.get());
            find_largest(joint_.n_columns, tile_.get(), best_, label_);
            if (output_.want == Want::label)
                for (std::size_t i = 0; i < rows; ++i)
                    output_.labels[row + i] = static_cast<std::int64_t>(label_[i]);
            else if (output_.values != nullptr)
                write(row, rows, output_.values);
            else
                write(row, rows, output_.short_values);
        }
    }

  private:
    template <class T> void write(std::size_t row, std::size_t rows, T* out) {
        const std::size_t K = joint_.n_columns;
        exponentiate(K, tile_.get(), best_, power_.get(), total_, share_);
        for (std::size_t i = 0; i < rows; ++i) {
            const double evidence =
                best_[i] == -infinity ? -infinity : best_[i] + std::log(total_[i]);
            T* line = out + (row + i) * K;
            if (output_.want == Want::evidence)
                out[row + i] = static_cast<T>(evidence);
            else if (output_.want == Want::proba)
                for (std::size_t k = 0; k < K; ++k)
                    line[k] = static_cast<T>(power_[k * tile_rows + i] * share_[i]);
            else
                for (std::size_t k = 0; k < K; ++k)
                    line[k] = static_cast<T>(tile_[k * tile_rows + i] - evidence);
        }
    }

    const Table joint_;
    const Output output_;
    AlignedArray tile_, power_;
    alignas(64) double best_[tile_rows], label_[tile_rows], total_[tile_rows], share_[tile_rows];
};

}  // namespace

void finish(const double* joint, std::size_t n_rows, std::size_t n_classes, const Output& output) {
    Finisher(joint, n_rows, n_classes, output).run();
}

namespace {

constexpr std::size_t chunk = 128;  // rows, whose classes stay in the first-level cache

NAIVELY_CLONES void centre_chunk(double* values, std::size_t apart, std::size_t n_classes,
                                 std::size_t n, double floor) {
    double highest[chunk], least[chunk], mean[chunk];
    for (std::size_t i = 0; i < n; ++i) highest[i] = -infinity, least[i] = infinity, mean[i] = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const double* of_class = values + k * apart;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = of_class[i];
            highest[i] = x > highest[i] ? x : highest[i];
            least[i] = x > -infinity && x < least[i] ? x : least[i];
        }
    }
    for (std::size_t k = 0; k < n_classes; ++k) {
        double* of_class = values + k * apart;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = of_class[i] > -infinity ? of_class[i] : least[i];
            const double d = x - highest[i];
            of_class[i] = highest[i] == -infinity ? 0.0 : d > -floor ? d : -floor;
            mean[i] += of_class[i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) mean[i] /= static_cast<double>(n_classes);
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < n; ++i) values[k * apart + i] -= mean[i];
}

}  // namespace

void centre_term(const JudgedTerm& term, double floor, double* out, std::size_t apart) {
    for (std::size_t start = 0; start < term.n_rows; start += chunk) {
        const std::size_t n = std::min(chunk, term.n_rows - start);
        const double* values = term.values + start * term.n_classes;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < term.n_classes; ++k)
                out[k * apart + start + i] = values[i * term.n_classes + k];
        for (std::size_t i = start; i < start + n; ++i)
            out[static_cast<std::size_t>(term.codes[i]) * apart + i] =
                term.own[static_cast<std::ptrdiff_t>(i) * term.step];
        centre_chunk(out + start, apart, term.n_classes, n, floor);
    }
}

namespace {

// What is worked on of one row, by candidate: `width` numbers, the last of which may stand for
// none.
struct Work {
    std::size_t width;
    double *joint, *power;  // by class, then candidate
    double *best, *total, *squares, *own;
};

NAIVELY_CLONES void find_joint(const Candidates& g, std::size_t row, const Work& work) {
    const std::size_t C = g.n_candidates;
    for (std::size_t k = 0; k < g.n_classes; ++k) {
        const double* distance = g.distance + (k * g.n_rows + row) * C;
        const double* offset = g.offset + k * C;
        double* joint = work.joint + k * work.width;
        for (std::size_t c = 0; c < C; ++c) {
            joint[c] = offset[c] - distance[c];
            work.best[c] = k == 0 || joint[c] > work.best[c] ? joint[c] : work.best[c];
        }
    }
}

// power = exp(joint - best), and their sum over the classes
template <class R> NAIVELY_INLINE void find_powers_by(std::size_t n_classes, const Work& work) {
    for (std::size_t c = 0; c < work.width; c += lane_count) {
        typename R::Lanes total{};
        for (std::size_t at = c; at < n_classes * work.width; at += work.width) {
            auto& power = lanes<R>(work.power + at);
            exp_of_negative(lanes<R>(work.joint + at) - lanes<R>(work.best + c), power);
            total += power;
        }
        lanes<R>(work.total + c) = total;
    }
}
NAIVELY_BY_REGISTERS(void, find_powers, (std::size_t n_classes, const Work& work),
                     (n_classes, work))

NAIVELY_CLONES void add_losses(const Candidates& g, const Work& work, std::size_t y, double weight,
                               double* NAIVELY_RESTRICT total) {
    const double* joint = work.joint + y * work.width;
    for (std::size_t c = 0; c < g.n_candidates; ++c)
        total[c] += weight * (log_of_one_plus(work.total[c] - 1.0) - (joint[c] - work.best[c]));
}

NAIVELY_CLONES void add_hits(const Candidates& g, const Work& work, std::size_t y, double weight,
                             double* NAIVELY_RESTRICT total) {
    const std::size_t C = g.n_candidates;
    const double* joint = work.joint + y * work.width;
    for (std::size_t c = 0; c < C; ++c) work.own[c] = joint[c] == work.best[c] ? weight : 0.0;
    for (std::size_t k = 0; k < y; ++k) {  // ties go to the first class
        const double* earlier = work.joint + k * work.width;
        for (std::size_t c = 0; c < C; ++c)
            work.own[c] = earlier[c] == work.best[c] ? 0.0 : work.own[c];
    }
    for (std::size_t c = 0; c < C; ++c) total[c] += work.own[c];
}

NAIVELY_CLONES void add_squares(const Candidates& g, const Work& work, std::size_t y, double weight,
                                double* NAIVELY_RESTRICT total) {
    const std::size_t C = g.n_candidates;
    std::fill_n(work.squares, C, 0.0);
    for (std::size_t k = 0; k < g.n_classes; ++k) {
        const double truth = k == y ? 1.0 : 0.0;
        const double* power = work.power + k * work.width;
        for (std::size_t c = 0; c < C; ++c) {
            const double p = power[c] / work.total[c] - truth;
            work.squares[c] += p * p;
        }
    }
    for (std::size_t c = 0; c < C; ++c) total[c] += weight * work.squares[c];
}

}  // namespace

void add_scores(const Candidates& given, const std::int32_t* codes, const double* weights,
                Score score, double* total) {
    const std::size_t width = (given.n_candidates + lane_count - 1) / lane_count * lane_count;
    const std::size_t size = given.n_classes * width;
    const AlignedArray memory = aligned_array(2 * size + 4 * width);
    double* const joint = memory.get();
    double* const best = joint + 2 * size;
    const Work work{width,           joint, joint + size, best, best + width, best + 2 * width,
                    best + 3 * width};
    for (std::size_t row = 0; row < given.n_rows; ++row) {
        const auto y = static_cast<std::size_t>(codes[row]);
        const double weight = weights == nullptr ? 1.0 : weights[row];
        find_joint(given, row, work);
        if (score != Score::hits) find_powers(given.n_classes, work);
        if (score == Score::log_loss) add_losses(given, work, y, weight, total);
        if (score == Score::hits) add_hits(given, work, y, weight, total);
        if (score == Score::brier) add_squares(given, work, y, weight, total);
    }
}

}  // namespace naively
