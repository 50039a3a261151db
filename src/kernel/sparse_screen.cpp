#include <algorithm>
#include <cmath>
#include <limits>

#include "sparse.hpp"

namespace naively {
namespace {

constexpr std::size_t block = 16;  // classes that share a vector
constexpr std::size_t together = 4;
constexpr std::size_t farthest_ahead = 64;  // cells whose weights are fetched beforehand
constexpr double greatest_weight = 1023.0;
template <class T>
constexpr T greatest_count = sizeof(T) == 1 ? std::numeric_limits<T>::max() : static_cast<T>(32767);
constexpr double least_step = 1e-300;      // where all weights are equal
constexpr std::uint16_t small_counts = 7;  // four of these times a weight fit 16 bits
constexpr double most_counts = 1 << 20;    // of a row, times a weight, fit 32 bits
constexpr double ulp = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t line_bytes = 64, line_weights = 32;

// Writes cells as 16-bit counts and returns their sum, or -1 where some are no such counts.
template <class T>
NAIVELY_INLINE double narrow_from(const T* values, std::size_t n,
                                  std::int16_t* NAIVELY_RESTRICT counts) {
    int plain = 1;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const bool fits = !(values[i] < T{0}) && values[i] <= greatest_count<T>;
        const auto count = static_cast<std::int32_t>(fits ? values[i] : T{0});
        plain &= static_cast<T>(count) == values[i];
        counts[i] = static_cast<std::int16_t>(count);
        total += count;
    }
    return plain ? static_cast<double>(total) : -1.0;
}

NAIVELY_CLONES double narrow(const SparseRows& X, std::size_t row, std::int16_t* counts) {
    const auto first = static_cast<std::size_t>(X.starts[row]);
    const std::size_t n = static_cast<std::size_t>(X.starts[row + 1]) - first;
    double total = 0.0;
    with_type(X.kind, [&](auto zero) {
        using T = decltype(zero);
        total = narrow_from(reinterpret_cast<const T*>(X.values) + first, n, counts);
    });
    return total;
}

// sums += the weights of four cells times their counts.
template <std::size_t size>
NAIVELY_INLINE void add_four(const std::int16_t* weights, const std::uint32_t* places,
                             const std::int16_t* counts, std::int32_t* NAIVELY_RESTRICT sums) {
    const std::int16_t *a = weights + places[0] * size, *b = weights + places[1] * size,
                       *c = weights + places[2] * size, *d = weights + places[3] * size;
    const std::int16_t w = counts[0], x = counts[1], y = counts[2], z = counts[3];
    if (static_cast<std::uint16_t>(w | x | y | z) <= small_counts) {
        for (std::size_t k = 0; k < size; ++k)
            sums[k] += static_cast<std::int16_t>(a[k] * w + b[k] * x + c[k] * y + d[k] * z);
    } else {
        for (std::size_t k = 0; k < size; ++k) sums[k] += a[k] * w + b[k] * x + c[k] * y + d[k] * z;
    }
}

template <std::size_t size>
NAIVELY_INLINE void add_cells(const std::int16_t* weights, const Cells& row,
                              const std::int16_t* counts, std::int32_t* NAIVELY_RESTRICT sums) {
    const std::size_t ahead = std::min(farthest_ahead, std::max(row.n_behind, cells_behind));
    const std::size_t known = row.n + row.n_behind;
    const std::size_t far = known > ahead ? std::min(row.n, known - ahead) : 0;
    std::size_t i = 0;
    for (; i + together <= far; i += together) {
        for (std::size_t at = i; at < i + together; ++at)
            NAIVELY_PREFETCH(weights + row.places[at + ahead] * size);
        add_four<size>(weights, row.places + i, counts + i, sums);
    }
    for (; i + together <= row.n; i += together)
        add_four<size>(weights, row.places + i, counts + i, sums);
    if (i < row.n) {
        std::uint32_t places[together] = {};
        std::int16_t last[together] = {};
        std::copy(row.places + i, row.places + row.n, places);
        std::copy(counts + i, counts + row.n, last);
        add_four<size>(weights, places, last, sums);
    }
}

NAIVELY_CLONES void sum_row(const std::int16_t* weights, std::size_t stride, const Cells& row,
                            const std::int16_t* counts, std::int32_t* sums) {
    std::int32_t found[LineScreen::most_classes] = {};
    switch (stride / block) {
        case 1: add_cells<block>(weights, row, counts, found); break;
        case 2: add_cells<2 * block>(weights, row, counts, found); break;
        case 3: add_cells<3 * block>(weights, row, counts, found); break;
        default: add_cells<4 * block>(weights, row, counts, found);
    }
    std::copy_n(found, stride, sums);
}

// The greatest difference between the weights of a column.
NAIVELY_CLONES double widest(const double* B, std::size_t n_columns, std::size_t n_classes) {
    double found = 0.0;
    for (std::size_t j = 0; j < n_columns; ++j) {
        const auto [least, most] = std::minmax_element(B + j * n_classes, B + (j + 1) * n_classes);
        found = std::max(found, *most - *least);
    }
    return found;
}

}  // namespace

LineScreen::LineScreen(const double* B, std::size_t n_columns, std::size_t n_classes)
    : n_columns_(n_columns), n_classes_(n_classes),
      stride_((n_classes + block - 1) / block * block),
      held_(new std::int16_t[n_columns * stride_ + line_weights]()) {
    const auto address = reinterpret_cast<std::uintptr_t>(held_.get());
    weights_ = held_.get() + (line_bytes - address % line_bytes) % line_bytes / 2;
    step_ = std::max(widest(B, n_columns, n_classes) / (2.0 * greatest_weight), least_step);
    for (std::size_t j = 0; j < n_columns; ++j) {
        const double* b = B + j * n_classes;
        const auto [least, most] = std::minmax_element(b, b + n_classes);
        const double middle = *least + (*most - *least) / 2.0;
        greatest_ = std::max({greatest_, -*least, *most});
        for (std::size_t k = 0; k < n_classes; ++k)
            weights_[j * stride_ + k] =
                static_cast<std::int16_t>(std::nearbyint((b[k] - middle) / step_));
    }
}

Finding LineScreen::label(const SparseRows& X, const double* constant, std::int64_t* labels) const {
    double greatest_constant = 0.0;
    for (std::size_t k = 0; k < n_classes_; ++k)
        if (std::isfinite(constant[k]))
            greatest_constant = std::max(greatest_constant, std::abs(constant[k]));
    RowReader reader(X, {false, false, true, nullptr}), fetcher(X, {true, false, true, nullptr});
    std::vector<std::int16_t> counts;
    std::int32_t sums[most_classes];
    for (std::size_t i = 0; i < X.n_rows; ++i) {
        if (i + rows_behind < X.n_rows) fetcher.prefetch(i + rows_behind);
        const Problem problem = reader.read(i);
        if (problem != Problem::none) return {problem, i};
        const Cells& row = reader.cells;
        counts.resize(std::max(counts.size(), row.n));
        const double total = narrow(X, i, counts.data());
        labels[i] = -1;
        if (!(total >= 0.0 && total <= most_counts)) continue;
        sum_row(weights_, stride_, row, counts.data(), sums);
        double first = -infinity, second = -infinity;
        std::size_t at = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const double found = constant[k] + step_ * sums[k];
            second = std::max(second, std::min(first, found));
            at = found > first ? k : at;
            first = std::max(first, found);
        }
        // Each class errs by half a step for each count, and doubles by an ulp for each addition.
        const double rounding =
            static_cast<double>(row.n + 8) * 2.0 * ulp * (greatest_constant + total * greatest_);
        if (first - second > step_ * total * (1.0 + 1e-9) + rounding)
            labels[i] = static_cast<std::int64_t>(at);
    }
    return {};
}

}  // namespace naively
