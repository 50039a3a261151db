#include <algorithm>
#include <cmath>
#include <limits>

#include "aligned.hpp"
#include "probabilities.hpp"
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

}  // namespace naively
