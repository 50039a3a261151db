#include "summarize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "aligned.hpp"

namespace naively {
namespace {

constexpr double worst_cancellation = 32.0;
constexpr std::size_t packed_rows = 64;
constexpr std::size_t least_block = 1024;
constexpr std::size_t rows_of_a_class = 128;               // in a run of rows, about
constexpr std::size_t state_bytes = std::size_t{1} << 18;  // what a block keeps: half of L2
constexpr std::size_t ahead = 12288;  // bytes in front of the sums, into the second-level cache
constexpr int shift_attempts = 16;    // rows in which to look for a present cell

// Per class, four lines of `width` columns (a multiple of the lanes): shift, sum, squares, cells.
struct State {
    std::size_t width;
    AlignedArray values;

    State(std::size_t n_classes, std::size_t width)
        : width(width), values(aligned_array(n_classes * 4 * width)) {}
    double* shift(std::size_t k) { return values.get() + (4 * k + 0) * width; }
    double* sum(std::size_t k) { return values.get() + (4 * k + 1) * width; }
    double* squares(std::size_t k) { return values.get() + (4 * k + 2) * width; }
    double* cells(std::size_t k) { return values.get() + (4 * k + 3) * width; }
};

// Rows of doubles or floats. Behind the last column of each, memory must be readable up to a
// multiple of the lanes: what stands there is added up too, in places that are never looked at.
template <class T> struct Rows {
    const T* x;
    std::size_t stride;
    const std::int32_t* codes;
    const double* weights;
    std::size_t count;
    std::size_t columns;
};

template <bool weighted, bool missing, class T>
NAIVELY_INLINE void accumulate(const Rows<T>& rows, double* state, std::size_t width) {
    const std::size_t later = (ahead / (rows.columns * sizeof(T)) + 1) * rows.stride;
    for (std::size_t i = 0; i < rows.count; ++i) {
        const double w = weighted ? rows.weights[i] : 1.0;
        if (weighted && w == 0.0) continue;
        const T* from = rows.x + i * rows.stride;
        double* shift = state + static_cast<std::size_t>(rows.codes[i]) * 4 * width;
        for (std::size_t j = 0; j < rows.columns; j += lane_count) {
            NAIVELY_PREFETCH_FAR(from + later + j);
            Lanes x;
            load(from + j, x);
            Lanes d = x - lanes(shift + j);
            if (missing) {
                Mask present;
                find_present(x, present);
                zero_unless(present, d);
                Lanes cell = Lanes{} + w;
                zero_unless(present, cell);
                lanes(shift + 3 * width + j) += cell;
            }
            const Lanes wd = weighted ? d * w : d;
            lanes(shift + width + j) += wd;
            lanes(shift + 2 * width + j) += wd * d;
        }
    }
}

template <class T>
NAIVELY_INLINE void accumulate_any(const Rows<T>& rows, double* state, std::size_t width,
                                   bool missing) {
    if (rows.weights == nullptr)
        missing ? accumulate<false, true>(rows, state, width)
                : accumulate<false, false>(rows, state, width);
    else
        missing ? accumulate<true, true>(rows, state, width)
                : accumulate<true, false>(rows, state, width);
}
NAIVELY_CLONES void accumulate_rows(const Rows<double>& rows, double* state, std::size_t width,
                                    bool missing) {
    accumulate_any(rows, state, width, missing);
}
NAIVELY_CLONES void accumulate_rows(const Rows<float>& rows, double* state, std::size_t width,
                                    bool missing) {
    accumulate_any(rows, state, width, missing);
}

NAIVELY_CLONES void pack_rows(const Table& X, std::size_t row, std::size_t rows, std::size_t column,
                              std::size_t columns, double* tile, std::size_t stride) {
    X.pack_rows(row, rows, column, columns, tile, stride);
}

// The rectangle of X that is being summarized: rows [row, row + rows) and so for columns.
struct Block {
    std::size_t row, rows, column, columns;
};

class Summarizer {
  public:
    Summarizer(const Table& X, const std::int32_t* codes, const double* weights,
               std::size_t n_classes, const double* origin, const MomentsView& out)
        : X_(X), codes_(codes), weights_(weights), n_classes_(n_classes), origin_(origin),
          out_(out), width_(column_tile(X.n_columns, n_classes)),
          run_rows_(rows_of_a_class * n_classes), state_(n_classes, width_),
          runs_(run_rows_ < least_block ? n_classes : 0, width_), weight_(n_classes),
          attempts_(n_classes), tile_(aligned_array(packed_rows * width_)) {}

    Status run(double* class_weight) {
        const std::size_t step = std::max(least_block, run_rows_);
        for (std::size_t row = 0; row < X_.n_rows; row += step) {
            const std::size_t rows = std::min(step, X_.n_rows - row);
            weigh(row, rows);
            for (std::size_t k = 0; k < n_classes_; ++k) class_weight[k] += weight_[k];
            for (std::size_t column = 0; column < X_.n_columns; column += width_) {
                const Block block{row, rows, column, std::min(width_, X_.n_columns - column)};
                if (!summarize_block(block)) return Status::not_finite;
            }
        }
        return Status::ok;
    }

  private:
    static std::size_t column_tile(std::size_t n_columns, std::size_t n_classes) {
        const std::size_t fits =
            state_bytes / (4 * sizeof(double) * std::max<std::size_t>(1, n_classes));
        const std::size_t padded = (n_columns + lane_count - 1) / lane_count * lane_count;
        return std::min(padded, std::max<std::size_t>(64, fits / lane_count * lane_count));
    }

    double row_weight(std::size_t i) const { return weights_ == nullptr ? 1.0 : weights_[i]; }

    void weigh(std::size_t row, std::size_t rows) {
        std::fill(weight_.begin(), weight_.end(), 0.0);
        for (std::size_t i = row; i < row + rows; ++i)
            weight_[static_cast<std::size_t>(codes_[i])] += row_weight(i);
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
        if (improve_shifts(block)) accumulate_block(block);
        finish(block);
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
            if (attempts_[k]++ == 0)
                pack_rows(X_, i, 1, block.column, block.columns, state_.shift(k), width_);
            else if (fill_shift(block, i, state_.shift(k)))
                attempts_[k] = wanted;
            if (attempts_[k] == wanted) --open;
        }
        if (!missing_) return;
        for (std::size_t k = 0; k < n_classes_; ++k)
            std::replace_if(
                state_.shift(k), state_.shift(k) + width_, [](double x) { return std::isnan(x); },
                0.0);
    }

    bool fill_shift(const Block& block, std::size_t i, double* shift) const {
        bool complete = true;
        for (std::size_t j = 0; j < block.columns; ++j) {
            if (std::isnan(shift[j])) shift[j] = X_.cell(i, block.column + j);
            complete = complete && !std::isnan(shift[j]);
        }
        return complete;
    }

    // Adds up runs of rows, and then the runs: short sums round less.
    void accumulate_block(const Block& block) {
        const bool one_run = block.rows <= run_rows_;
        clear(state_);
        if (!one_run) clear(runs_);
        for (std::size_t done = 0; done < block.rows; done += run_rows_) {
            const std::size_t rows = std::min(run_rows_, block.rows - done);
            accumulate_run({block.row + done, rows, block.column, block.columns});
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

    void accumulate_run(const Block& block) {
        std::size_t done = 0;
        if (X_.has_plain_rows<double>())
            done = take_in_place<double>(block);
        else if (X_.has_plain_rows<float>())
            done = take_in_place<float>(block);
        for (; done < block.rows; done += packed_rows) {
            const std::size_t rows = std::min(packed_rows, block.rows - done);
            pack_rows(X_, block.row + done, rows, block.column, block.columns, tile_.get(), width_);
            take(tile_.get(), width_, {block.row + done, rows, block.column, block.columns});
        }
    }

    // Reads rows where they are, but for the table's last: behind them, 7 numbers must follow.
    template <class T> std::size_t take_in_place(const Block& block) {
        const std::size_t stride = X_.plain_stride<T>();
        const std::size_t last = (lane_count - 2) / stride + 1;
        const std::size_t rows =
            std::min(block.rows, X_.n_rows - std::min(X_.n_rows, block.row + last));
        take(X_.plain_row<T>(block.row) + block.column, stride,
             {block.row, rows, block.column, block.columns});
        return rows;
    }

    template <class T> void take(const T* x, std::size_t stride, const Block& block) {
        const double* weights = weights_ == nullptr ? nullptr : weights_ + block.row;
        const Rows<T> rows{x, stride, codes_ + block.row, weights, block.rows, block.columns};
        accumulate_rows(rows, state_.values.get(), width_, missing_);
    }

    double cell_weight(std::size_t k, std::size_t j) {
        return missing_ ? state_.cells(k)[j] : weight_[k];
    }

    bool is_finite(const Block& block) {
        bool finite = true;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            if (attempts_[k] == 0) continue;
            const double* squares = state_.squares(k);
            const double* sum = state_.sum(k);
            for (std::size_t j = 0; j < block.columns; ++j)
                finite &= std::isfinite(squares[j]) && std::isfinite(sum[j]);
        }
        return finite;
    }

    // Where squares / m2 is too large, moves the shift to the mean. The other shifts stay, so
    // that reading the block again gives those columns the same bits.
    bool improve_shifts(const Block& block) {
        bool moved = false;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            if (attempts_[k] == 0) continue;
            for (std::size_t j = 0; j < block.columns; ++j) {
                const double w = cell_weight(k, j);
                if (w == 0.0) continue;
                const double sum = state_.sum(k)[j];
                const double squares = state_.squares(k)[j];
                if (squares > worst_cancellation * (squares - sum * (sum / w))) {
                    state_.shift(k)[j] += sum / w;
                    moved = true;
                }
            }
        }
        return moved;
    }

    void finish(const Block& block) {
        for (std::size_t k = 0; k < n_classes_; ++k) {
            if (attempts_[k] == 0) continue;
            const std::size_t first = k * X_.n_columns + block.column;
            const MomentsView out = out_.offset(first);
            for (std::size_t j = 0; j < block.columns; ++j) {
                const double w = cell_weight(k, j);
                if (w == 0.0) continue;
                const double sum = state_.sum(k)[j];
                const double m2 = std::max(0.0, state_.squares(k)[j] - sum * (sum / w));
                Moments total = out.get(j);
                const double origin = origin_ == nullptr ? 0.0 : origin_[first + j];
                total += Moments{w, (state_.shift(k)[j] - origin) + sum / w, m2};
                out.set(j, total);
            }
        }
    }

    const Table& X_;
    const std::int32_t* codes_;
    const double* weights_;
    const std::size_t n_classes_;
    const double* origin_;
    const MomentsView out_;
    const std::size_t width_;
    const std::size_t run_rows_;
    State state_;
    State runs_;                  // sums over the runs of a block, where it has several
    std::vector<double> weight_;  // of each class, in this block of rows
    std::vector<int> attempts_;   // how many rows the class's shift was looked for in
    AlignedArray tile_;
    bool missing_ = false;
};

}  // namespace

Status summarize(const Table& X, const std::int32_t* codes, const double* weights,
                 std::size_t n_classes, const double* origin, double* class_weight,
                 const MomentsView& out) {
    return Summarizer(X, codes, weights, n_classes, origin, out).run(class_weight);
}

void add(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        Moments total = a.get(i);
        a.set(i, total += b.get(i));
    }
}

void subtract(const MomentsView& a, const ConstMomentsView& b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        Moments rest = a.get(i);
        a.set(i, rest -= b.get(i));
    }
}

}  // namespace naively
