#include <algorithm>

#include "simd.hpp"
#include "tally.hpp"

namespace naively {
namespace {

constexpr std::size_t most_tables = 4;
constexpr std::size_t most_places = std::size_t{1} << 12;  // of a column that has several tables

std::size_t tables_of(std::size_t places, const double* weights) {
    return weights == nullptr && places <= most_places ? most_tables : 1;
}

NAIVELY_CLONES void find_places(const std::int32_t* classes, std::uint32_t per_class,
                                std::uint32_t* NAIVELY_RESTRICT slots, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        slots[i] += static_cast<std::uint32_t>(classes[i]) * per_class;
}

template <class T>
NAIVELY_INLINE void add_each(const T* sums, std::size_t n, double* NAIVELY_RESTRICT out) {
    for (std::size_t i = 0; i < n; ++i) out[i] += static_cast<double>(sums[i]);
}
NAIVELY_CLONES void add_doubles(const double* sums, std::size_t n, double* out) {
    add_each(sums, n, out);
}
NAIVELY_CLONES void add_integers(const std::uint32_t* sums, std::size_t n, double* out) {
    add_each(sums, n, out);
}

}  // namespace

Counts::Counts(std::size_t columns, std::size_t n_classes, std::size_t slots, const double* weights)
    : n_classes_(n_classes), slots_(slots), places_(n_classes * slots),
      tables_(tables_of(places_, weights)), weights_(weights),
      counts_(weights == nullptr ? columns * tables_ * places_ : 0),
      sums_(weights == nullptr ? 0 : columns * places_) {}

std::size_t Counts::bytes(std::size_t n_classes, std::size_t slots) {
    const std::size_t places = n_classes * slots;
    return std::max(sizeof(double), tables_of(places, nullptr) * sizeof(std::uint32_t)) * places;
}

void Counts::add(std::size_t column, const std::int32_t* classes, std::uint32_t* slots,
                 std::size_t row, std::size_t rows) {
    find_places(classes, static_cast<std::uint32_t>(slots_), slots, rows);
    if (weights_ != nullptr) {
        double* sums = sums_.data() + column * places_;
        for (std::size_t i = 0; i < rows; ++i) sums[slots[i]] += weights_[row + i];
        return;
    }
    std::uint32_t* counts = counts_.data() + column * tables_ * places_;
    std::size_t i = 0;
    if (tables_ == most_tables)
        for (; i + most_tables <= rows; i += most_tables)
            for (std::size_t t = 0; t < most_tables; ++t) ++counts[t * places_ + slots[i + t]];
    for (; i < rows; ++i) ++counts[slots[i]];
}

void Counts::write(std::size_t column, std::size_t n, double* out, std::size_t stride) const {
    for (std::size_t k = 0; k < n_classes_; ++k) {
        const std::size_t first = column * tables_ * places_ + k * slots_;
        if (weights_ != nullptr) add_sums(sums_.data() + first, n, out + k * stride);
        for (std::size_t t = 0; t < tables_ && weights_ == nullptr; ++t)
            add_sums(counts_.data() + first + t * places_, n, out + k * stride);
    }
}

void Counts::clear() {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(sums_.begin(), sums_.end(), 0.0);
}

void add_sums(const double* sums, std::size_t n, double* out) { add_doubles(sums, n, out); }
void add_sums(const std::uint32_t* sums, std::size_t n, double* out) { add_integers(sums, n, out); }

}  // namespace naively
