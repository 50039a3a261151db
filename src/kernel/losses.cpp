#include "losses.hpp"

#include <algorithm>

#include "exp.hpp"
#include "log.hpp"
#include "registers.hpp"

namespace naively {
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
