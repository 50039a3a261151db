#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "moments.hpp"
#include "registers.hpp"

namespace naively {
namespace {

constexpr std::size_t packed_rows = 64;
constexpr std::size_t least_block = 1024;
constexpr std::size_t rows_of_a_class = 128;               // in a run of rows, about
constexpr std::size_t least_width = 64;                    // of a tile of rows, in columns
constexpr std::size_t state_bytes = std::size_t{1} << 18;  // what a block should keep: L2 holds it
constexpr std::size_t most_state_bytes = std::size_t{1} << 19;  // beyond, classes are taken apart
constexpr int shift_attempts = 16;      // rows in which to look for a present cell
constexpr int ordinary_exponent = 64;   // of the largest weight
constexpr int largest_exponent = 1000;  // of a unit that can be multiplied and divided by

constexpr double worst_cancellation = 32.0;

// The four lines of a class.
struct Lines {
    double *shift, *sum, *squares, *cells;
};

NAIVELY_CLONES bool all_finite(const double* sum, const double* squares, std::size_t n) {
    long long wrong = 0;
    for (std::size_t j = 0; j < n; ++j)
        wrong |= !(std::fabs(sum[j]) <= DBL_MAX) | !(std::fabs(squares[j]) <= DBL_MAX);
    return wrong == 0;
}

NAIVELY_INLINE bool cancels(double w, double sum, double squares) {
    return squares > worst_cancellation * (squares - sum * (sum / w));  // false where w is zero
}
NAIVELY_CLONES bool any_cancels(const Lines& lines, std::size_t n) {
    long long any = 0;
    for (std::size_t j = 0; j < n; ++j)
        any |= cancels(lines.cells[j], lines.sum[j], lines.squares[j]);
    return any != 0;
}

template <class V>
NAIVELY_INLINE void add_at(const MomentsOf<V>& b, const MomentsView& out, std::size_t i) {
    MomentsOf<V> a;
    out.get(i, a);
    add(b, a);
    out.set(i, a);
}

// Adds the moments that sums amount to. V is Lanes or double. The sums are of weights divided by
// `unit`.
template <class V>
NAIVELY_INLINE void add_moments_at(const Lines& lines, double unit, const MomentsView& out,
                                   std::size_t j) {
    MomentsOf<V> found;
    V shift, sum, squares;
    load(lines.cells + j, found.weight);
    load(lines.shift + j, shift);
    load(lines.sum + j, sum);
    load(lines.squares + j, squares);
    const V share = sum / found.weight;
    found.m2 = squares - sum * share;
    set_where_greater(V{}, found.m2, found.m2, V{});
    add_exactly<V>(shift, share, found.mean, found.rest);
    found.weight = found.weight * unit;
    found.m2 = found.m2 * unit;
    add_at(found, out, j);
}
template <class R>
NAIVELY_INLINE void add_moments_by(const Lines& lines, double unit, const MomentsView& out,
                                   std::size_t n) {
    using Lanes = typename R::Lanes;
    std::size_t j = 0;
    for (; j + lane_count <= n; j += lane_count) add_moments_at<Lanes>(lines, unit, out, j);
    for (; j < n; ++j) add_moments_at<double>(lines, unit, out, j);
}
NAIVELY_BY_REGISTERS(add_moments)

template <class V>
NAIVELY_INLINE void add_all_at(const MomentsView& a, const ConstMomentsView& b, std::size_t i) {
    MomentsOf<V> one;
    b.get(i, one);
    add_at(one, a, i);
}
NAIVELY_CLONES void add_all(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    std::size_t i = 0;
    for (; i + lane_count <= n; i += lane_count) add_all_at<Lanes>(a, b, i);
    for (; i < n; ++i) add_all_at<double>(a, b, i);
}

// Adds rows to the sums of their classes: of d and of d^2, where d = x - shift.
//
// Rows of numbers are taken where they are. Columns are taken eight at a time, and eight rows
// of them turned round in registers. Either way a class and column meets its rows in their
// order, so the sums have the same bits.

// Per class, four lines of `width` columns (a multiple of the lanes): shift, sum, squares, cells.
struct State {
    std::size_t width;
    AlignedArray values;

    State(std::size_t n_classes, std::size_t width)
        : width(width), values(aligned_array(n_classes * 4 * width)) {}
    double* shift(std::size_t k) const { return values.get() + (4 * k + 0) * width; }
    double* sum(std::size_t k) const { return values.get() + (4 * k + 1) * width; }
    double* squares(std::size_t k) const { return values.get() + (4 * k + 2) * width; }
    double* cells(std::size_t k) const { return values.get() + (4 * k + 3) * width; }
};

// What is added up, where, and how: `codes` and `weights` begin with the first row; without
// weights each row weighs 1.
struct Sums {
    const std::int32_t* codes;
    const double* weights;
    bool missing;
    double* state;
    std::size_t width;
};

// One row's cells in eight columns, the first of which has its shift here.
template <class R, bool weighted, bool missing>
NAIVELY_INLINE void add_cells(const typename R::Lanes& x, double w, double* shift,
                              std::size_t width) {
    using Lanes = typename R::Lanes;
    Lanes d = x - lanes<R>(shift);
    if (missing) {
        typename R::Mask present;
        find_present(x, present);
        zero_unless(present, d);
        Lanes cell = Lanes{} + w;
        zero_unless(present, cell);
        lanes<R>(shift + 3 * width) += cell;
    }
    const Lanes wd = weighted ? d * w : d;
    lanes<R>(shift + width) += wd;
    lanes<R>(shift + 2 * width) += wd * d;
}

// Rows of doubles or floats. Behind the last column of each, memory must be readable up to a
// multiple of the lanes: what stands there is added up too, in places that are never looked at.
template <class T> struct RowLines {
    const T* x;
    std::size_t stride;
    std::size_t columns;
    std::size_t count;
};

constexpr std::size_t bytes_ahead = 12288;  // in front of the sums, into the second-level cache

template <class R, bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const RowLines<T>& lines, const Sums& sums) {
    const auto [x, stride, columns, count] = lines;
    const auto [codes, weights, _, state, width] = sums;
    const std::size_t later = (bytes_ahead / (columns * sizeof(T)) + 1) * stride;
    for (std::size_t i = 0; i < count; ++i) {
        const double w = weighted ? weights[i] : 1.0;
        if (weighted && w == 0.0) continue;
        const T* from = x + i * stride;
        double* shift = state + static_cast<std::size_t>(codes[i]) * 4 * width;
        for (std::size_t j = 0; j < columns; j += lane_count) {
            NAIVELY_PREFETCH_FAR(from + later + j);
            typename R::Lanes cells;
            load(from + j, cells);
            add_cells<R, weighted, missing>(cells, w, shift + j, width);
        }
    }
}

// The same for rows of one class, the state's only one, wherever they are: `order` lists them,
// and `rows_ahead` more.
template <class T> struct ListedLines {
    RowLines<T> lines;
    const std::uint32_t* order;
};

constexpr std::size_t rows_ahead = 8;

template <class R, bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const ListedLines<T>& listed, const Sums& sums) {
    const auto [x, stride, columns, count] = listed.lines;
    const auto [codes, weights, _, state, width] = sums;
    const std::uint32_t* order = listed.order;
    for (std::size_t i = 0; i < count; ++i) {
        const T* from = x + order[i] * stride;
        const T* later = x + order[i + rows_ahead] * stride;
        const double w = weighted ? weights[order[i]] : 1.0;
        for (std::size_t j = 0; j < columns; j += lane_count) {
            NAIVELY_PREFETCH_FAR(later + j);
            typename R::Lanes cells;
            load(from + j, cells);
            add_cells<R, weighted, missing>(cells, w, state + j, width);
        }
    }
}

// Eight columns of doubles or floats; the last of them may be one and the same.
template <class T> struct ColumnLines {
    const T* x[lane_count];
    std::size_t count;
};

constexpr std::size_t lines_ahead = 16;  // of each column

template <class R, bool weighted, bool missing>
NAIVELY_INLINE void add_square(typename R::Lanes (&square)[lane_count], std::size_t i,
                               std::size_t rows, const Sums sums) {
    const auto [codes, weights, _, state, width] = sums;
    transpose(square);
    for (std::size_t r = 0; r < rows; ++r) {
        const double w = weighted ? weights[i + r] : 1.0;
        if (weighted && w == 0.0) continue;
        double* shift = state + static_cast<std::size_t>(codes[i + r]) * 4 * width;
        add_cells<R, weighted, missing>(square[r], w, shift, width);
    }
}

template <class R, bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const ColumnLines<T>& given_lines, const Sums& given) {
    const ColumnLines<T> lines = given_lines;
    constexpr std::size_t later = lines_ahead * 64 / sizeof(T);
    const Sums sums = given;
    std::size_t i = 0;
    for (; i + lane_count <= lines.count; i += lane_count) {
        typename R::Lanes square[lane_count];
        for (std::size_t l = 0; l < lane_count; ++l) {
            NAIVELY_PREFETCH_FAR(lines.x[l] + i + later);
            load(lines.x[l] + i, square[l]);
        }
        add_square<R, weighted, missing>(square, i, lane_count, sums);
    }
    if (i == lines.count) return;
    typename R::Lanes square[lane_count];
    for (std::size_t l = 0; l < lane_count; ++l) {
        T rest[lane_count]{};
        std::memcpy(rest, lines.x[l] + i, (lines.count - i) * sizeof(T));
        load(rest, square[l]);
    }
    add_square<R, weighted, missing>(square, i, lines.count - i, sums);
}

template <class R, class L>
NAIVELY_INLINE void accumulate_lines_by(const L& lines, const Sums& sums) {
    if (sums.weights == nullptr)
        sums.missing ? accumulate<R, false, true>(lines, sums)
                     : accumulate<R, false, false>(lines, sums);
    else
        sums.missing ? accumulate<R, true, true>(lines, sums)
                     : accumulate<R, true, false>(lines, sums);
}

NAIVELY_BY_REGISTERS(accumulate_lines)

// The rectangle of X that is being summarized: rows [row, row + rows) and so for columns.
struct Block {
    std::size_t row, rows, column, columns;
};

class Summarizer {
  public:
    Summarizer(const Table& X, const Labelled& rows, const MomentsView& out)
        : X_(X), codes_(rows.codes), unit_(unit_of(rows.weights, X.n_rows)),
          divided_(divided(rows.weights, X.n_rows, unit_)),
          weights_(divided_.empty() ? rows.weights : divided_.data()), n_classes_(rows.n_classes),
          out_(out), by_class_(is_better_by_class(X, n_classes_)),
          width_(column_tile(X, by_class_ ? 1 : n_classes_)),
          run_rows_(rows_of_a_class * n_classes_), state_(by_class_ ? 1 : n_classes_, width_),
          runs_(run_rows_ < least_block ? n_classes_ : 0, width_), weight_(n_classes_),
          attempts_(n_classes_), tile_(aligned_array(packed_rows * std::max(lane_count, width_))) {}

    Status run(double* class_weight) {
        const std::size_t step = std::max(least_block, run_rows_);
        for (std::size_t row = 0; row < X_.n_rows; row += step) {
            const std::size_t rows = std::min(step, X_.n_rows - row);
            weigh(row, rows);
            if (by_class_) sort(row, rows);
            for (std::size_t k = 0; k < n_classes_; ++k) class_weight[k] += weight_[k] * unit_;
            for (std::size_t column = 0; column < X_.n_columns; column += width_) {
                const Block block{row, rows, column, std::min(width_, X_.n_columns - column)};
                if (!(by_class_ ? summarize_by_class(block) : summarize_block(block)))
                    return Status::not_finite;
            }
        }
        return Status::ok;
    }

  private:
    // Products with weights far from 1 would underflow or overflow. Those are divided by a power
    // of two, which takes no digits from them; the sums are multiplied by it in the end.
    static double unit_of(const double* weights, std::size_t n) {
        int exponent = 0;
        if (weights != nullptr && n > 0)
            std::frexp(*std::max_element(weights, weights + n), &exponent);
        return std::abs(exponent) <= ordinary_exponent
                   ? 1.0
                   : std::ldexp(1.0, std::clamp(exponent, -largest_exponent, largest_exponent));
    }
    static std::vector<double> divided(const double* weights, std::size_t n, double unit) {
        if (unit == 1.0) return {};
        std::vector<double> found(weights, weights + n);
        for (double& weight : found) weight /= unit;
        return found;
    }

    // Columns can be taken eight at a time, rows better not.
    static std::size_t column_tile(const Table& X, std::size_t n_classes) {
        const std::size_t fits =
            state_bytes / (4 * sizeof(double) * std::max<std::size_t>(1, n_classes));
        const std::size_t padded = (X.n_columns + lane_count - 1) / lane_count * lane_count;
        const std::size_t least = X.has_row_lines() ? least_width : lane_count;
        return std::min(padded, std::max(least, fits / lane_count * lane_count));
    }

    // The sums of very many classes do not stay in the cache, if rows are taken in their order.
    static bool is_better_by_class(const Table& X, std::size_t n_classes) {
        return (X.has_plain_rows<double>() || X.has_plain_rows<float>()) &&
               4 * sizeof(double) * n_classes * column_tile(X, n_classes) > most_state_bytes &&
               X.n_rows < (std::size_t{1} << 32);
    }

    double row_weight(std::size_t i) const { return weights_ == nullptr ? 1.0 : weights_[i]; }

    void weigh(std::size_t row, std::size_t rows) {
        if (weights_ == nullptr) return count(row, rows);
        std::fill(weight_.begin(), weight_.end(), 0.0);
        for (std::size_t i = row; i < row + rows; ++i)
            weight_[static_cast<std::size_t>(codes_[i])] += weights_[i];
    }

    // In two tables by turns: the next row is often of the same class, and would have to wait.
    void count(std::size_t row, std::size_t rows) {
        counts_.assign(2 * n_classes_, 0);
        std::uint32_t* even = counts_.data();
        std::uint32_t* odd = even + n_classes_;
        const std::int32_t* codes = codes_ + row;
        for (std::size_t i = 0; i + 1 < rows; i += 2) ++even[codes[i]], ++odd[codes[i + 1]];
        if (rows % 2 == 1) ++even[codes[rows - 1]];
        for (std::size_t k = 0; k < n_classes_; ++k)
            weight_[k] = static_cast<double>(even[k]) + static_cast<double>(odd[k]);
    }

    bool summarize_block(const Block& block) {
        start(block);
        accumulate_block(block);
        if (!missing_ && !is_finite(block)) {  // NaN, most likely: from here on, look at each cell
            missing_ = true;
            start(block);
            accumulate_block(block);
        }
        if (missing_ && !is_finite(block)) return false;
        bool moved = false;
        for (std::size_t k = 0; k < n_classes_; ++k)
            if (attempts_[k] > 0) moved |= improve_shifts(block, k, k);
        if (moved) accumulate_block(block);
        for (std::size_t k = 0; k < n_classes_; ++k)
            if (attempts_[k] > 0) finish(block, k, k);
        return true;
    }

    // Takes each class's first row as its shift. Where a cell of it is missing, one of the
    // next rows of the class gives it, or else it is zero.
    void start(const Block& block) {
        std::fill(attempts_.begin(), attempts_.end(), 0);
        const int wanted = missing_ ? shift_attempts : 1;
        std::size_t open = n_classes_;
        for (std::size_t i = block.row; i < block.row + block.rows && open > 0; ++i) {
            if (row_weight(i) == 0.0) continue;
            const std::size_t k = static_cast<std::size_t>(codes_[i]);
            if (attempts_[k] == wanted) continue;
            if (take_shift(block, i, attempts_[k]++ == 0, state_.shift(k))) attempts_[k] = wanted;
            if (attempts_[k] == wanted) --open;
        }
        if (!missing_) return;
        for (std::size_t k = 0; k < n_classes_; ++k) zero_missing(state_.shift(k));
    }

    // Takes a row as the shift, or what is still missing of it; returns whether it is complete.
    bool take_shift(const Block& block, std::size_t i, bool first, double* shift) const {
        if (first) X_.pack_rows(i, 1, block.column, block.columns, shift, width_);
        bool complete = true;
        for (std::size_t j = 0; j < block.columns && missing_; ++j) {
            if (std::isnan(shift[j])) shift[j] = X_.cell(i, block.column + j);
            complete = complete && !std::isnan(shift[j]);
        }
        return complete;
    }

    void zero_missing(double* shift) const {
        std::replace_if(shift, shift + width_, [](double x) { return std::isnan(x); }, 0.0);
    }

    // Adds up runs of rows, and then the runs: short sums round less.
    void accumulate_block(const Block& block) {
        const bool one_run = block.rows <= run_rows_;
        clear(state_);
        if (!one_run) clear(runs_);
        for (std::size_t done = 0; done < block.rows; done += run_rows_) {
            const std::size_t rows = std::min(run_rows_, block.rows - done);
            const Block run{block.row + done, rows, block.column, block.columns};
            X_.has_row_lines() ? accumulate_rows(run) : accumulate_columns(run);
            if (!one_run) add_and_clear(state_, runs_);
        }
        if (!one_run) add_and_clear(runs_, state_);
    }

    void clear(State& sums) const {
        for (std::size_t k = 0; k < n_classes_; ++k)
            if (attempts_[k] > 0) std::fill_n(sums.sum(k), 3 * width_, 0.0);
    }

    void add_and_clear(State& from, State& to) const {
        for (std::size_t k = 0; k < n_classes_; ++k) {
            if (attempts_[k] == 0) continue;
            double* NAIVELY_RESTRICT source = from.sum(k);
            double* NAIVELY_RESTRICT target = to.sum(k);
            for (std::size_t i = 0; i < 3 * width_; ++i) target[i] += source[i], source[i] = 0.0;
        }
    }

    // The sums of rows from one on, and of columns from one on.
    Sums sums_from(std::size_t row, std::size_t j = 0) const {
        return {codes_ + row, weights_ == nullptr ? nullptr : weights_ + row, missing_,
                state_.values.get() + j, width_};
    }

    void accumulate_rows(const Block& block) {
        std::size_t done = 0;
        if (X_.has_plain_rows<double>())
            done = take_in_place<double>(block);
        else if (X_.has_plain_rows<float>())
            done = take_in_place<float>(block);
        for (; done < block.rows; done += packed_rows) {
            const std::size_t row = block.row + done;
            const std::size_t rows = std::min(packed_rows, block.rows - done);
            X_.pack_rows(row, rows, block.column, block.columns, tile_.get(), width_);
            accumulate_lines(RowLines<double>{tile_.get(), width_, block.columns, rows},
                             sums_from(row));
        }
    }

    // Reads rows where they are, but for the table's last: behind them, 7 numbers must follow.
    template <class T> std::size_t take_in_place(const Block& block) {
        const std::size_t end = X_.end_of_readable<T>();
        const std::size_t rows = std::min(block.rows, end - std::min(end, block.row));
        accumulate_lines(plain_lines<T>(block.row, block, rows), sums_from(block.row));
        return rows;
    }

    template <class T>
    RowLines<T> plain_lines(std::size_t row, const Block& block, std::size_t rows) const {
        return {X_.plain_row<T>(row) + block.column, X_.plain_stride<T>(), block.columns, rows};
    }

    void accumulate_columns(const Block& block) {
        for (std::size_t j = 0; j < block.columns; j += lane_count) {
            const Block group{block.row, block.rows, block.column + j,
                              std::min(lane_count, block.columns - j)};
            if (has_plain_columns<double>(group))
                take_columns<double>(group, j);
            else if (has_plain_columns<float>(group))
                take_columns<float>(group, j);
            else
                pack_and_take_columns(group, j);
        }
    }

    template <class T> bool has_plain_columns(const Block& group) const {
        bool plain = true;
        for (std::size_t l = 0; l < group.columns; ++l)
            plain = plain && X_.column(group.column + l).is_plain<T>();
        return plain;
    }

    // The columns of a group, up to eight, whose first is column j of the state.
    template <class T> void take_columns(const Block& group, std::size_t j) {
        ColumnLines<T> lines{{}, group.rows};
        for (std::size_t l = 0; l < lane_count; ++l) {
            const Line line = X_.column(group.column + std::min(l, group.columns - 1));
            lines.x[l] = reinterpret_cast<const T*>(line.from(group.row).data);
        }
        accumulate_lines(lines, sums_from(group.row, j));
    }

    void pack_and_take_columns(const Block& group, std::size_t j) {
        for (std::size_t done = 0; done < group.rows; done += packed_rows) {
            const std::size_t row = group.row + done;
            ColumnLines<double> lines{{}, std::min(packed_rows, group.rows - done)};
            X_.pack_columns(row, lines.count, group.column, group.columns, tile_.get(),
                            packed_rows);
            for (std::size_t l = 0; l < lane_count; ++l)
                lines.x[l] = tile_.get() + std::min(l, group.columns - 1) * packed_rows;
            accumulate_lines(lines, sums_from(row, j));
        }
    }

    // Lists the rows of each class, in their order, but for those without weight.
    void sort(std::size_t row, std::size_t rows) {
        first_.assign(n_classes_ + 1, 0);
        order_.resize(rows + rows_ahead);
        for (std::size_t i = row; i < row + rows; ++i)
            if (row_weight(i) != 0.0) ++first_[static_cast<std::size_t>(codes_[i]) + 1];
        for (std::size_t k = 0; k < n_classes_; ++k) first_[k + 1] += first_[k];
        next_.assign(first_.begin(), first_.end());
        for (std::size_t i = row; i < row + rows; ++i)
            if (row_weight(i) != 0.0)
                order_[next_[static_cast<std::size_t>(codes_[i])]++] =
                    static_cast<std::uint32_t>(i);
        std::fill_n(order_.begin() + static_cast<std::ptrdiff_t>(first_[n_classes_]), rows_ahead,
                    static_cast<std::uint32_t>(row));
    }

    bool summarize_by_class(const Block& block) {
        for (std::size_t k = 0; k < n_classes_; ++k) {
            if (first_[k] == first_[k + 1]) continue;
            accumulate_class(block, k, true);
            if (!missing_ && !is_finite(block, 0)) {
                missing_ = true;
                accumulate_class(block, k, true);
            }
            if (missing_ && !is_finite(block, 0)) return false;
            if (improve_shifts(block, k, 0)) accumulate_class(block, k, false);
            finish(block, k, 0);
        }
        return true;
    }

    void accumulate_class(const Block& block, std::size_t k, bool fresh) {
        const std::uint32_t* rows = order_.data() + first_[k];
        const std::size_t count = first_[k + 1] - first_[k];
        double* shift = state_.shift(0);
        if (fresh) {
            const std::size_t attempts =
                missing_ ? std::min<std::size_t>(count, shift_attempts) : 1;
            for (std::size_t i = 0; i < attempts && !take_shift(block, rows[i], i == 0, shift);)
                ++i;
            if (missing_) zero_missing(shift);
        }
        std::fill_n(state_.sum(0), 3 * width_, 0.0);
        if (X_.has_plain_rows<double>())
            take_listed<double>(block, rows, count);
        else
            take_listed<float>(block, rows, count);
    }

    template <class T>
    void take_listed(const Block& block, const std::uint32_t* rows, std::size_t count) {
        constexpr std::int32_t only = 0;
        std::size_t n = count;
        while (n > 0 && rows[n - 1] >= X_.end_of_readable<T>()) --n;
        accumulate_lines(ListedLines<T>{plain_lines<T>(0, block, n), rows},
                         Sums{nullptr, weights_, missing_, state_.values.get(), width_});
        for (; n < count; ++n) {
            const double w = row_weight(rows[n]);
            X_.pack_rows(rows[n], 1, block.column, block.columns, tile_.get(), width_);
            accumulate_lines(RowLines<double>{tile_.get(), width_, block.columns, 1},
                             Sums{&only, weights_ == nullptr ? nullptr : &w, missing_,
                                  state_.values.get(), width_});
        }
    }

    bool is_finite(const Block& block) const {
        bool finite = true;
        for (std::size_t k = 0; k < n_classes_; ++k)
            if (attempts_[k] > 0) finite &= is_finite(block, k);
        return finite;
    }
    bool is_finite(const Block& block, std::size_t slot) const {
        return all_finite(state_.sum(slot), state_.squares(slot), block.columns);
    }

    // The sums of class k, and the weights of its cells.
    Lines lines_of(const Block& block, std::size_t k, std::size_t slot) const {
        if (!missing_) std::fill_n(state_.cells(slot), block.columns, weight_[k]);
        return {state_.shift(slot), state_.sum(slot), state_.squares(slot), state_.cells(slot)};
    }

    // Where squares / m2 is too large, moves the shift to the mean. The other shifts stay, so
    // that reading the block again gives those columns the same bits.
    bool improve_shifts(const Block& block, std::size_t k, std::size_t slot) const {
        const Lines lines = lines_of(block, k, slot);
        if (!any_cancels(lines, block.columns)) return false;
        for (std::size_t j = 0; j < block.columns; ++j)
            if (cancels(lines.cells[j], lines.sum[j], lines.squares[j]))
                lines.shift[j] += lines.sum[j] / lines.cells[j];
        return true;
    }

    void finish(const Block& block, std::size_t k, std::size_t slot) const {
        const std::size_t first = k * X_.n_columns + block.column;
        add_moments(lines_of(block, k, slot), unit_, out_.offset(first), block.columns);
    }

    const Table& X_;
    const std::int32_t* codes_;
    const double unit_;                  // of weights
    const std::vector<double> divided_;  // weights, where the unit is not 1
    const double* weights_;
    const std::size_t n_classes_;
    const MomentsView out_;
    const bool by_class_;
    const std::size_t width_;
    const std::size_t run_rows_;
    State state_;
    State runs_;                  // sums over the runs of a block, where it has several
    std::vector<double> weight_;  // of each class, in this block of rows
    std::vector<std::uint32_t> counts_;
    std::vector<int> attempts_;              // how many rows the class's shift was looked for in
    std::vector<std::uint32_t> order_;       // rows, class by class
    std::vector<std::size_t> first_, next_;  // of each class, in the order
    AlignedArray tile_;
    bool missing_ = false;
};

}  // namespace

Status summarize(const Table& X, const Labelled& rows, double* class_weight,
                 const MomentsView& out) {
    return Summarizer(X, rows, out).run(class_weight);
}

bool add(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    add_all(a, b, n);
    return all_finite(a.mean, a.m2, n);
}

double largest_mean(const ConstMomentsView& a, std::size_t n) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(a.mean[i]));
    return largest;
}

bool subtract(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        Moments left, removed;
        a.get(i, left);
        b.get(i, removed);
        a.set(i, left -= removed);
    }
    return all_finite(a.mean, a.m2, n);
}

}  // namespace naively
