#include "losses.hpp"

#include <algorithm>

#include "aligned.hpp"
#include "exp.hpp"
#include "log.hpp"
#include "simd.hpp"

namespace naively {
namespace {

// What is worked on of one row, by candidate.
struct Work {
    double *joint, *best, *power, *squares, *own;
};

NAIVELY_CLONES void find_joint(const Candidates& g, std::size_t row, const Work& work) {
    const std::size_t C = g.n_candidates;
    for (std::size_t k = 0; k < g.n_classes; ++k) {
        const double* distance = g.distance + (k * g.n_rows + row) * C;
        const double* offset = g.offset + k * C;
        double* joint = work.joint + k * C;
        for (std::size_t c = 0; c < C; ++c) {
            joint[c] = offset[c] - distance[c];
            work.best[c] = k == 0 || joint[c] > work.best[c] ? joint[c] : work.best[c];
        }
    }
}

NAIVELY_CLONES void add_powers(const Candidates& g, const Work& work) {
    const std::size_t C = g.n_candidates;
    std::fill_n(work.power, C, 0.0);
    for (std::size_t k = 0; k < g.n_classes; ++k)
        for (std::size_t c = 0; c < C; ++c)
            work.power[c] += exp_of_negative(work.joint[k * C + c] - work.best[c]);
}

NAIVELY_CLONES void add_losses(const Candidates& g, const Work& work, std::size_t y, double weight,
                               double* NAIVELY_RESTRICT total) {
    const std::size_t C = g.n_candidates;
    for (std::size_t c = 0; c < C; ++c)
        total[c] += weight *
                    (log_of_one_plus(work.power[c] - 1.0) - (work.joint[y * C + c] - work.best[c]));
}

NAIVELY_CLONES void add_hits(const Candidates& g, const Work& work, std::size_t y, double weight,
                             double* NAIVELY_RESTRICT total) {
    const std::size_t C = g.n_candidates;
    for (std::size_t c = 0; c < C; ++c)
        work.own[c] = work.joint[y * C + c] == work.best[c] ? weight : 0.0;
    for (std::size_t k = 0; k < y; ++k)  // ties go to the first class
        for (std::size_t c = 0; c < C; ++c)
            work.own[c] = work.joint[k * C + c] == work.best[c] ? 0.0 : work.own[c];
    for (std::size_t c = 0; c < C; ++c) total[c] += work.own[c];
}

NAIVELY_CLONES void add_squares(const Candidates& g, const Work& work, std::size_t y, double weight,
                                double* NAIVELY_RESTRICT total) {
    const std::size_t C = g.n_candidates;
    std::fill_n(work.squares, C, 0.0);
    for (std::size_t k = 0; k < g.n_classes; ++k) {
        const double truth = k == y ? 1.0 : 0.0;
        for (std::size_t c = 0; c < C; ++c) {
            const double p =
                exp_of_negative(work.joint[k * C + c] - work.best[c]) / work.power[c] - truth;
            work.squares[c] += p * p;
        }
    }
    for (std::size_t c = 0; c < C; ++c) total[c] += weight * work.squares[c];
}

}  // namespace

void add_scores(const Candidates& given, const std::int32_t* codes, const double* weights,
                Score score, double* total) {
    const std::size_t C = given.n_candidates;
    const AlignedArray memory = aligned_array((given.n_classes + 4) * C);
    double* const joint = memory.get();
    double* const rest = joint + given.n_classes * C;
    const Work work{joint, rest, rest + C, rest + 2 * C, rest + 3 * C};
    for (std::size_t row = 0; row < given.n_rows; ++row) {
        const auto y = static_cast<std::size_t>(codes[row]);
        const double weight = weights == nullptr ? 1.0 : weights[row];
        find_joint(given, row, work);
        if (score != Score::hits) add_powers(given, work);
        if (score == Score::log_loss) add_losses(given, work, y, weight, total);
        if (score == Score::hits) add_hits(given, work, y, weight, total);
        if (score == Score::brier) add_squares(given, work, y, weight, total);
    }
}

}  // namespace naively
