#include <algorithm>
#include <vector>

#include "sparse.hpp"

namespace naively {
namespace {

constexpr double rounding = 1e-12;  // of the weight of a class

// The lines of one class: weight, mean, m2 and rest.
struct ClassMoments {
    double *weight, *mean, *m2, *rest;
};

class MomentCounter {
  public:
    MomentCounter(const SparseRows& X, const Labelled& rows, const double* class_weight,
                  double* out)
        : X_(X), rows_(rows), class_weight_(class_weight), out_(out),
          reader_(X, {true, true, true, nullptr}) {}

    Finding run(const std::uint32_t* order, std::size_t n) {
        for (std::size_t start = 0; start < n;) {
            const std::int32_t k = rows_.codes[order[start]];
            std::size_t end = start;
            while (end < n && rows_.codes[order[end]] == k) ++end;
            const Finding found = measure(order + start, end - start, static_cast<std::size_t>(k));
            if (found.problem != Problem::none) return found;
            start = end;
        }
        return {};
    }

  private:
    ClassMoments lines(std::size_t k) const {
        const std::size_t size = rows_.n_classes * X_.n_columns;
        double* first = out_ + k * X_.n_columns;
        return {first, first + size, first + 2 * size, first + 3 * size};
    }

    template <class F> Finding each(const std::uint32_t* order, std::size_t n, F add) {
        for (std::size_t at = 0; at < n; ++at) {
            const std::size_t row = order[at];
            const double w = rows_.weight(row);
            if (w == 0.0) continue;
            const Problem problem = reader_.read(row);
            if (problem != Problem::none) return {problem, row};
            const Cells& cells = reader_.cells;
            for (std::size_t i = 0; i < cells.n; ++i) add(w, cells.places[i], cells.values[i]);
        }
        return {};
    }

    // The cells of a class that are held: their weight and mean first, then what deviates from it.
    Finding measure(const std::uint32_t* order, std::size_t n, std::size_t k) {
        const ClassMoments of = lines(k);
        missing_.clear();
        for (std::size_t at = 0; at < n; ++at) {
            const double w = rows_.weight(order[at]);
            if (w == 0.0) continue;
            const Problem problem = reader_.read(order[at]);
            if (problem != Problem::none) return {problem, order[at]};
            add_first(of, w);
        }
        for (std::size_t j = 0; j < X_.n_columns; ++j)
            if (of.weight[j] > 0.0) of.mean[j] /= of.weight[j];
        const Finding found = each(order, n, [&](double w, std::uint32_t place, double x) {
            const double d = x - of.mean[place];
            of.m2[place] += w * d * d;
            of.rest[place] += w * d;
        });
        finish(of, class_weight_[k]);
        return found;
    }

    void add_first(const ClassMoments& of, double w) {
        const Cells& cells = reader_.cells;
        for (std::size_t i = 0; i < cells.n; ++i) {
            of.weight[cells.places[i]] += w;
            of.mean[cells.places[i]] += w * cells.values[i];
        }
        if (reader_.missing.empty()) return;
        missing_.resize(X_.n_columns);
        for (const std::uint32_t place : reader_.missing) missing_[place] += w;
    }

    // The zeros come in by Chan's formula.
    void finish(const ClassMoments& of, double whole) const {
        for (std::size_t j = 0; j < X_.n_columns; ++j) {
            double zeros = whole - of.weight[j] - (missing_.empty() ? 0.0 : missing_[j]);
            if (zeros < rounding * whole) zeros = 0.0;
            const double w = of.weight[j], total = w + zeros;
            if (w > 0.0) {
                const double delta = of.rest[j] / w, mean = of.mean[j] + delta;
                of.m2[j] = std::max(0.0, of.m2[j] - w * delta * delta);
                of.m2[j] += mean * mean * (w * (zeros / total));
                of.mean[j] = zeros == 0.0 ? mean : mean * (w / total);
            }
            of.weight[j] = total;
            of.rest[j] = 0.0;
        }
    }

    const SparseRows& X_;
    const Labelled& rows_;
    const double* const class_weight_;
    double* const out_;
    RowReader reader_;
    std::vector<double> missing_;  // of one class; empty where none is
};

}  // namespace

Finding add_sparse_moments(const SparseRows& X, const Labelled& rows, const double* class_weight,
                           const std::uint32_t* order, std::size_t n, double* out) {
    return MomentCounter(X, rows, class_weight, out).run(order, n);
}

}  // namespace naively
