#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sparse.hpp"

namespace naively {
namespace {

constexpr std::size_t rows_ahead = 6;    // whose memory is fetched beforehand
constexpr std::size_t cells_ahead = 48;  // of the next row, whose sums are
constexpr std::size_t tile_rows = 32;
constexpr std::size_t strip_columns = 256;
constexpr double largest = std::numeric_limits<double>::max();

void prefetch_sums(const Cells& next, const double* line) {
    for (std::size_t i = 0; i < std::min(next.n, cells_ahead); ++i)
        NAIVELY_PREFETCH_FAR(line + next.places[i]);
}

// A row whose sums have been fetched, and the next one, whose sums are to be.
struct Pair {
    const Cells& row;
    double* sums;
    const Cells& next;
    const double* next_sums;
};

// Adds a row up. Sums are fetched one by one between the additions: many at once would block them.
template <class F> NAIVELY_INLINE void each(const Pair& pair, F amount) {
    const Cells& row = pair.row;
    std::size_t i = 0;
    for (; i + cells_ahead < row.n; ++i) {
        NAIVELY_PREFETCH_FAR(pair.sums + row.places[i + cells_ahead]);
        pair.sums[row.places[i]] += amount(i);
    }
    const std::size_t behind = row.n - i;
    if (behind < cells_ahead) {
        prefetch_sums(pair.next, pair.next_sums);
    } else {
        for (std::size_t at = 0; at < std::min(behind, pair.next.n); ++at, ++i) {
            NAIVELY_PREFETCH_FAR(pair.next_sums + pair.next.places[at]);
            pair.sums[row.places[i]] += amount(i);
        }
    }
    for (; i < row.n; ++i) pair.sums[row.places[i]] += amount(i);
}

// The cells of rows, one by one.
class CellCounter {
  public:
    CellCounter(const SparseRows& X, const Labelled& rows, const Counting& counting)
        : X_(X), rows_(rows), counting_(counting), current_(X, reading(counting)),
          next_(X, reading(counting)) {}

    Finding list(CellList& list) {
        for (std::size_t row = 0; row < X_.n_rows; ++row) {
            const Finding found = load(nullptr, X_.n_rows, row, current_);
            if (found.problem != Problem::none) return found;
            append(row, list);
        }
        return {};
    }

    Finding run(const std::uint32_t* order, std::size_t n) {
        RowReader *current = &current_, *next = &next_;
        Finding found = load(order, n, 0, *current);
        for (std::size_t at = 0; at < n && found.problem == Problem::none; ++at) {
            if (at + 1 < n) found = load(order, n, at + 1, *next);
            add(number(order, at), *current, number(order, std::min(at + 1, n - 1)), *next);
            std::swap(current, next);
        }
        return found;
    }

  private:
    static Reading reading(const Counting& counting) {
        if (counting.measure == Measure::occurrences) return {};
        if (counting.measure == Measure::missing) return {true, true, true, nullptr};
        if (counting.is_distinct) return {false, false, false, nullptr};
        return {true, true, true, &counting.threshold};
    }

    static std::size_t number(const std::uint32_t* order, std::size_t at) {
        return order == nullptr ? at : order[at];
    }

    double* line(std::size_t row) const {
        return counting_.out + static_cast<std::size_t>(rows_.codes[row]) * counting_.stride;
    }

    Finding load(const std::uint32_t* order, std::size_t n, std::size_t at, RowReader& reader) {
        if (at >= n) return {};
        if (at + 2 * rows_ahead < n) {  // rows of one class are far from each other
            const std::size_t far = number(order, at + 2 * rows_ahead);
            NAIVELY_PREFETCH(X_.starts + far);
            NAIVELY_PREFETCH(rows_.codes + far);
        }
        if (at + rows_ahead < n) reader.prefetch(number(order, at + rows_ahead));
        const std::size_t row = number(order, at);
        if (rows_.weight(row) == 0.0) return {};
        return {reader.read(row), row};
    }

    void add(std::size_t row, const RowReader& reader, std::size_t next, const RowReader& ahead) {
        const double w = rows_.weight(row);
        if (w == 0.0) return;
        const Cells& cells = reader.cells;
        const Pair pair{cells, line(row), ahead.cells, line(next)};
        if (counting_.measure == Measure::missing)
            for (const std::uint32_t place : reader.missing) pair.sums[place] += w;
        else if (counting_.measure == Measure::documents)
            each(pair, [&](std::size_t) { return w; });
        else if (rows_.weights == nullptr)
            each(pair, [&](std::size_t i) { return cells.values[i]; });
        else
            each(pair, [&](std::size_t i) { return w * cells.values[i]; });
    }

    void append(std::size_t row, CellList& list) {
        const double w = rows_.weight(row);
        if (w == 0.0) return;
        const auto put = [&](std::uint32_t place, double amount) {
            list.classes[list.n] = rows_.codes[row];
            list.entries[list.n] = place + list.offset;
            list.values[list.n++] = amount;
        };
        const Cells& cells = current_.cells;
        if (counting_.measure == Measure::missing)
            for (const std::uint32_t place : current_.missing) put(place, w);
        else
            for (std::size_t i = 0; i < cells.n; ++i)
                put(cells.places[i],
                    counting_.measure == Measure::documents ? w : w * cells.values[i]);
    }

    const SparseRows& X_;
    const Labelled& rows_;
    const Counting& counting_;
    RowReader current_, next_;
};

// Adds some cells of one row.
NAIVELY_CLONES Problem add_strip(const double* values, std::size_t n, double w, Measure measure,
                                 double threshold, double* NAIVELY_RESTRICT sums) {
    const bool sums_up = measure == Measure::occurrences;  // else only signs may matter
    const double least = sums_up ? 0.0 : -largest, most = sums_up ? largest_count : largest;
    int plain = 1;
    for (std::size_t j = 0; j < n; ++j) plain &= (values[j] >= least) & (values[j] <= most);
    if (plain != 0) {
        if (measure == Measure::occurrences)
            for (std::size_t j = 0; j < n; ++j) sums[j] += w * values[j];
        else if (measure == Measure::documents)
            for (std::size_t j = 0; j < n; ++j) sums[j] += values[j] > threshold ? w : 0.0;
        return Problem::none;
    }
    for (std::size_t j = 0; j < n; ++j) {
        const double x = values[j];
        if (x != x) {
            if (measure == Measure::missing) sums[j] += w;
            continue;
        }
        if (std::abs(x) > most) return Problem::infinite;
        if (x < least) return Problem::negative;
        if (measure == Measure::occurrences) sums[j] += w * x;
        if (measure == Measure::documents && x > threshold) sums[j] += w;
    }
    return Problem::none;
}

}  // namespace

Finding count_sparse(const SparseRows& X, const Labelled& rows, const std::uint32_t* order,
                     std::size_t n, const Counting& counting) {
    return CellCounter(X, rows, counting).run(order, n);
}

Finding list_sparse(const SparseRows& X, const Labelled& rows, const Counting& counting,
                    CellList& list) {
    return CellCounter(X, rows, counting).list(list);
}

void add_listed(const std::int32_t* classes, const std::int64_t* entries, const double* values,
                std::size_t n, std::size_t stride, double* out) {
    const auto sum = [=](std::size_t i) {
        return out + static_cast<std::size_t>(classes[i]) * stride + entries[i];
    };
    for (std::size_t i = 0; i < n; ++i) {
        if (i + cells_ahead < n) NAIVELY_PREFETCH(sum(i + cells_ahead));
        *sum(i) += values[i];
    }
}

Finding count_table(const Table& X, const Labelled& rows, const Counting& counting) {
    alignas(64) double tile[tile_rows * strip_columns];
    for (std::size_t row = 0; row < X.n_rows; row += tile_rows) {
        const std::size_t n = std::min(tile_rows, X.n_rows - row);
        for (std::size_t j = 0; j < X.n_columns; j += strip_columns) {
            const std::size_t columns = std::min(strip_columns, X.n_columns - j);
            X.pack_rows(row, n, j, columns, tile, strip_columns);
            for (std::size_t i = 0; i < n; ++i) {
                const double w = rows.weight(row + i);
                if (w == 0.0) continue;
                double* line = counting.out +
                               static_cast<std::size_t>(rows.codes[row + i]) * counting.stride + j;
                const Problem problem = add_strip(tile + i * strip_columns, columns, w,
                                                  counting.measure, counting.threshold, line);
                if (problem != Problem::none) return {problem, row + i};
            }
        }
    }
    return {};
}

// --- moments -------------------------------------------------------------------------------------

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
