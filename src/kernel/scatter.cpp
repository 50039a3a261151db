#include <algorithm>
#include <vector>

#include "registers.hpp"
#include "tally.hpp"

namespace naively {
namespace {

constexpr std::size_t fewest_rows = 512;  // of a tile
constexpr std::size_t most_rows = 2048;
constexpr std::size_t rows_of_class = 16;  // that a tile should have
constexpr std::size_t height = 4;          // of a rectangle of products, in columns

// Some rows of a class in a tile: where they begin, as differences from the shift, and the same
// times their weights.
struct ClassRows {
    const std::uint32_t* starts;
    std::size_t count;
    const double* d;
    const double* wd;
};

// Adds to P[i..i + height][j..j + 8 vectors].
template <class R, std::size_t vectors>
NAIVELY_INLINE void add_rectangle(const ClassRows& rows, std::size_t i, std::size_t j,
                                  std::size_t width, double* P) {
    typename R::Lanes sum[height][vectors];
    for (std::size_t a = 0; a < height; ++a)
        for (std::size_t v = 0; v < vectors; ++v)
            sum[a][v] = lanes<R>(P + (i + a) * width + j + v * lane_count);
    for (std::size_t r = 0; r < rows.count; ++r) {
        const double* left = rows.wd + rows.starts[r] + i;
        const double* right = rows.d + rows.starts[r] + j;
        for (std::size_t a = 0; a < height; ++a)
            for (std::size_t v = 0; v < vectors; ++v)
                sum[a][v] += lanes<R>(right + v * lane_count) * left[a];
    }
    for (std::size_t a = 0; a < height; ++a)
        for (std::size_t v = 0; v < vectors; ++v)
            lanes<R>(P + (i + a) * width + j + v * lane_count) = sum[a][v];
}

// P += sum of wd d^T, for columns i and all from the eighth before it on
template <class R>
NAIVELY_INLINE void add_products_by(const ClassRows& rows, std::size_t width, double* P) {
    constexpr std::size_t vectors = R::many ? 2 : 1;
    for (std::size_t i = 0; i < width; i += height) {
        std::size_t j = i / lane_count * lane_count;
        for (; j + vectors * lane_count <= width; j += vectors * lane_count)
            add_rectangle<R, vectors>(rows, i, j, width, P);
        if (j < width) add_rectangle<R, 1>(rows, i, j, width, P);
    }
}
NAIVELY_BY_REGISTERS(add_products)

// x becomes x - centre, or 0 where it is missing.
template <class R>
NAIVELY_INLINE void subtract_by(const double* centre, std::size_t rows, std::size_t width,
                                double* tile) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < width; j += lane_count) {
            typename R::Lanes& x = lanes<R>(tile + i * width + j);
            typename R::Mask present;
            find_present(x, present);
            x = x - lanes<R>(centre + j);
            zero_unless(present, x);
        }
}
NAIVELY_BY_REGISTERS(subtract)

// The sums of a class: lines of `width` columns, and a square of them.
struct ClassSums {
    double weight = 0.0;
    AlignedArray shift, sum, products;
};

class Accumulator {
  public:
    Accumulator(const Table& X, const Labelled& labelled, const double* centre)
        : X_(X), labelled_(labelled),
          width_((X.n_columns + lane_count - 1) / lane_count * lane_count),
          rows_(std::min(std::max(rows_of_class * labelled.n_classes, fewest_rows), most_rows)),
          centre_(aligned_array(width_)), sums_(labelled.n_classes), ends_(labelled.n_classes) {
        std::copy_n(centre, X.n_columns, centre_.get());
        const std::size_t rows = std::min(rows_, X.n_rows);
        tile_ = aligned_array(rows * width_);
        if (labelled.weights != nullptr) weighted_ = aligned_array(rows * width_);
        starts_.resize(rows);
    }

    void add_all() {
        for (std::size_t row = 0; row < X_.n_rows; row += rows_) {
            const std::size_t rows = std::min(rows_, X_.n_rows - row);
            X_.pack_rows(row, rows, 0, X_.n_columns, tile_.get(), width_);
            subtract(centre_.get(), rows, width_, tile_.get());
            group(row, rows);
            std::uint32_t begin = 0;
            for (std::size_t k = 0; k < sums_.size(); ++k) {
                if (ends_[k] > begin) add_class(row, begin, ends_[k], sums_[k]);
                begin = ends_[k];
            }
        }
    }

    void finish(double* weight, double* mean, double* products) const {
        const std::size_t p = X_.n_columns;
        for (std::size_t k = 0; k < sums_.size(); ++k) {
            const ClassSums& sums = sums_[k];
            double* C = products + k * (p * (p + 1) / 2);
            if (!(sums.weight > 0.0)) continue;
            weight[k] = sums.weight;
            for (std::size_t i = 0; i < p; ++i) {
                const double delta = sums.sum[i] / sums.weight;
                mean[k * p + i] = sums.shift[i] + delta;
                for (std::size_t j = i; j < p; ++j, ++C)
                    *C = sums.products[i * width_ + j] - delta * sums.sum[j];
                double& square = *(C - (p - i));
                square = std::max(square, 0.0);
            }
        }
    }

  private:
    // Lists where the rows of each class begin, class after class; those of no weight are left out.
    void group(std::size_t row, std::size_t rows) {
        const std::int32_t* codes = labelled_.codes + row;
        std::fill(ends_.begin(), ends_.end(), 0);
        for (std::size_t i = 0; i < rows; ++i) ends_[at(codes[i])] += has_weight(row + i);
        std::uint32_t total = 0;
        for (std::uint32_t& end : ends_) {
            const std::uint32_t count = end;
            end = total;
            total += count;
        }
        for (std::size_t i = 0; i < rows; ++i)
            if (has_weight(row + i))
                starts_[ends_[at(codes[i])]++] = static_cast<std::uint32_t>(i * width_);
    }

    void add_class(std::size_t row, std::uint32_t begin, std::uint32_t end, ClassSums& sums) {
        const std::uint32_t* starts = starts_.data() + begin;
        const std::size_t count = end - begin;
        if (sums.products == nullptr) {
            sums.shift = aligned_array(width_);
            sums.sum = aligned_array(width_);
            sums.products = aligned_array(width_ * width_);
            for (std::size_t r = 0; r < count; ++r)
                for (std::size_t j = 0; j < width_; ++j)
                    sums.shift[j] += tile_[starts[r] + j] * (1.0 / static_cast<double>(count));
        }
        double* wd = weighted_ == nullptr ? tile_.get() : weighted_.get();
        for (std::size_t r = 0; r < count; ++r) {
            const double w = labelled_.weight(row + starts[r] / width_);
            sums.weight += w;
            for (std::size_t j = 0; j < width_; ++j) {
                double& d = tile_[starts[r] + j];
                d -= sums.shift[j];
                if (weighted_ != nullptr) wd[starts[r] + j] = d * w;
                sums.sum[j] += wd[starts[r] + j];
            }
        }
        add_products(ClassRows{starts, count, tile_.get(), wd}, width_, sums.products.get());
    }

    static std::size_t at(std::int32_t code) { return static_cast<std::size_t>(code); }
    bool has_weight(std::size_t i) const { return labelled_.weight(i) > 0.0; }

    const Table& X_;
    const Labelled& labelled_;
    const std::size_t width_, rows_;
    AlignedArray centre_, tile_, weighted_;
    std::vector<ClassSums> sums_;
    std::vector<std::uint32_t> ends_, starts_;
};

}  // namespace

void scatter(const Table& X, const Labelled& rows, const double* centre, double* weight,
             double* mean, double* products) {
    Accumulator found(X, rows, centre);
    found.add_all();
    found.finish(weight, mean, products);
}

bool add_scatter(const ScatterArrays<double>& a, const ScatterArrays<const double>& b,
                 const std::int64_t* places, std::size_t n, std::size_t p) {
    const std::size_t pairs = p * (p + 1) / 2;
    std::vector<double> delta(p);
    double probe = 0.0;  // zero times NaN or infinity is not zero
    for (std::size_t c = 0; c < n; ++c) {
        const auto k = static_cast<std::size_t>(places[c]);
        const double w_a = a.weight[k], w_b = b.weight[c], w = w_a + w_b;
        const double *its_mean = b.mean + c * p, *its = b.products + c * pairs;
        double *mean = a.mean + k * p, *C = a.products + k * pairs;
        if (w_b == 0.0) continue;
        a.weight[k] = w;
        if (w_a == 0.0) {
            std::copy_n(its_mean, p, mean);
            std::copy_n(its, pairs, C);
            continue;
        }
        const double share = std::min(w_a, w_b) / w, factor = std::max(w_a, w_b) * share;
        for (std::size_t i = 0; i < p; ++i) {
            delta[i] = its_mean[i] - mean[i];
            const double step = delta[i] * share;  // from the heavier, whose digits are kept
            mean[i] = w_b > w_a ? its_mean[i] - step : mean[i] + step;
            probe += mean[i] * 0.0;
        }
        for (std::size_t i = 0; i < p; ++i)
            for (std::size_t j = i; j < p; ++j, ++C, ++its) {
                *C += *its + delta[i] * (factor * delta[j]);
                probe += *C * 0.0;
            }
    }
    return probe == 0.0;
}

}  // namespace naively
