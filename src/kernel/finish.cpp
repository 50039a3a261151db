#include <algorithm>
#include <cmath>
#include <limits>

#include "answers.hpp"
#include "exp_log.hpp"
#include "registers.hpp"
#include "simd.hpp"
#include "terms.hpp"
#include "tile.hpp"

namespace naively {

void finish(const double* joint, std::size_t n_rows, std::size_t n_classes, const Output& output) {
    const Table X(reinterpret_cast<const char*>(joint),
                  static_cast<std::ptrdiff_t>(n_classes * sizeof(double)), sizeof(double),
                  Kind::f64, n_rows, n_classes);
    const AlignedArray tile = aligned_array(n_classes * tile_rows);
    TileAnswers answers(n_classes, output);
    for (std::size_t row = 0; row < n_rows; row += tile_rows) {
        const std::size_t rows = std::min(tile_rows, n_rows - row);
        if (rows < tile_rows) std::fill_n(tile.get(), n_classes * tile_rows, 0.0);
        X.pack_columns(row, rows, 0, n_classes, tile.get(), tile_rows);
        find_largest(n_classes, nullptr, nullptr, tile.get(), answers.best, answers.label);
        answers.write(tile.get(), row, rows);
    }
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
NAIVELY_BY_REGISTERS(find_powers)

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

void add_scores(const Candidates& given, const Labelled& rows, Score score, double* total) {
    const std::size_t width = (given.n_candidates + lane_count - 1) / lane_count * lane_count;
    const std::size_t size = given.n_classes * width;
    const AlignedArray memory = aligned_array(2 * size + 4 * width);
    double* const joint = memory.get();
    double* const best = joint + 2 * size;
    const Work work{width,           joint, joint + size, best, best + width, best + 2 * width,
                    best + 3 * width};
    for (std::size_t row = 0; row < given.n_rows; ++row) {
        const auto y = static_cast<std::size_t>(rows.codes[row]);
        const double weight = rows.weight(row);
        find_joint(given, row, work);
        if (score != Score::hits) find_powers(given.n_classes, work);
        if (score == Score::log_loss) add_losses(given, work, y, weight, total);
        if (score == Score::hits) add_hits(given, work, y, weight, total);
        if (score == Score::brier) add_squares(given, work, y, weight, total);
    }
}

}  // namespace naively
