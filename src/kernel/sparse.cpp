#include "sparse.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "labels.hpp"

namespace naively {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_lines = 32;  // of a row, fetched beforehand

NAIVELY_CLONES std::uint32_t greatest_of(const std::uint32_t* places, std::size_t n) {
    std::uint32_t greatest = 0;
    for (std::size_t i = 0; i < n; ++i) greatest = std::max(greatest, places[i]);
    return greatest;
}

NAIVELY_CLONES bool are_plain(const double* values, std::size_t n, double least, double most) {
    int plain = 1;
    for (std::size_t i = 0; i < n; ++i) plain &= (values[i] >= least) & (values[i] <= most);
    return plain != 0;
}

NAIVELY_CLONES bool are_above(const double* values, std::size_t n, double least) {
    int above = 1;
    for (std::size_t i = 0; i < n; ++i) above &= values[i] > least;
    return above != 0;
}

NAIVELY_CLONES bool ascend(const std::uint32_t* places, std::size_t n) {
    int ascending = 1;
    for (std::size_t i = 1; i < n; ++i) ascending &= places[i - 1] < places[i];
    return ascending != 0;
}

NAIVELY_CLONES void widen(const Line& line, std::size_t n, double* target) {
    with_type(line.kind, [&](auto zero) { copy<decltype(zero)>(line, n, target); });
}

void prefetch_lines(const char* from, std::size_t bytes) {
    const std::size_t end = std::min(bytes, most_lines * line_bytes);
    for (std::size_t at = 0; at < end; at += line_bytes) NAIVELY_PREFETCH(from + at);
}

std::size_t size_of(Kind kind) {
    std::size_t size = 0;
    with_type(kind, [&](auto zero) { size = sizeof zero; });
    return size;
}

}  // namespace

void RowReader::prefetch(std::size_t row) const {
    const auto first = static_cast<std::size_t>(X_.starts[row]);
    const auto n = static_cast<std::size_t>(X_.starts[row + 1]) - first;
    const std::size_t place = X_.has_long_places ? 8 : 4;
    prefetch_lines(X_.places + first * place, n * place);
    if (reading_.values) prefetch_lines(X_.values + first * size_of(X_.kind), n * size_of(X_.kind));
}

Problem RowReader::read(std::size_t row) {
    const auto first = static_cast<std::size_t>(X_.starts[row]);
    const auto n = static_cast<std::size_t>(X_.starts[row + 1]) - first;
    missing.clear();
    cells.n = n;
    if (!read_places(first, n)) return Problem::place;
    cells.values = nullptr;
    if (!reading_.values) return Problem::none;
    read_values(first, n);
    const bool orderly = !reading_.distinct || ascend(cells.places, n);
    if (!(orderly && are_plain(cells.values, n, reading_.negative ? -farthest_cell : 0.0,
                               reading_.negative ? farthest_cell : largest_count))) {
        const Problem problem = tidy();
        if (problem != Problem::none) return problem;
    }
    if (reading_.step != nullptr && !are_above(cells.values, cells.n, *reading_.step)) {
        sorted_.clear();
        for (std::size_t i = 0; i < cells.n; ++i)
            if (cells.values[i] > *reading_.step)
                sorted_.emplace_back(cells.places[i], cells.values[i]);
        keep_sorted();
    }
    return Problem::none;
}

bool RowReader::read_places(std::size_t first, std::size_t n) {
    cells.n_behind = static_cast<std::size_t>(X_.starts[X_.n_rows]) - first - n;
    if (!X_.has_long_places) {
        cells.places = reinterpret_cast<const std::uint32_t*>(X_.places) + first;
        cells.greatest = greatest_of(cells.places, n);
        return n == 0 || cells.greatest < X_.n_columns;
    }
    const std::uint64_t* from = reinterpret_cast<const std::uint64_t*>(X_.places) + first;
    cells.n_behind = std::min(cells.n_behind, cells_behind);
    places_.resize(n + cells.n_behind);
    std::uint64_t greatest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        greatest = std::max(greatest, from[i]);
        places_[i] = static_cast<std::uint32_t>(from[i]);
    }
    for (std::size_t i = n; i < n + cells.n_behind; ++i)
        places_[i] = static_cast<std::uint32_t>(from[i]);
    cells.places = places_.data();
    cells.greatest = static_cast<std::uint32_t>(greatest);
    return n == 0 || greatest < X_.n_columns;
}

void RowReader::read_values(std::size_t first, std::size_t n) {
    const std::size_t size = size_of(X_.kind);
    const Line line{X_.values + first * size, static_cast<std::ptrdiff_t>(size), X_.kind};
    if (X_.kind == Kind::f64) {
        cells.values = reinterpret_cast<const double*>(line.data);
        return;
    }
    values_.resize(n);
    widen(line, n, values_.data());
    cells.values = values_.data();
}

// Adds cells of one place up, in their order, and sorts out those that are missing.
Problem RowReader::tidy() {
    sorted_.clear();
    for (std::size_t i = 0; i < cells.n; ++i)
        sorted_.emplace_back(cells.places[i], cells.values[i]);
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sorted_.size();) {
        std::pair<std::uint32_t, double> cell = sorted_[i];
        for (++i; i < sorted_.size() && sorted_[i].first == cell.first; ++i)
            cell.second += sorted_[i].second;
        if (cell.second != cell.second) {
            missing.push_back(cell.first);
            continue;
        }
        if (std::abs(cell.second) > (reading_.negative ? largest : largest_count))
            return Problem::infinite;
        if (cell.second < 0.0 && !reading_.negative) return Problem::negative;
        cell.second = std::max(-farthest_cell, std::min(cell.second, farthest_cell));
        sorted_[kept++] = cell;
    }
    sorted_.resize(kept);
    keep_sorted();
    return Problem::none;
}

void RowReader::keep_sorted() {
    places_.resize(sorted_.size());
    values_.resize(sorted_.size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) std::tie(places_[i], values_[i]) = sorted_[i];
    cells = {places_.data(), values_.data(), sorted_.size(), 0, cells.greatest};
}

Finding hash_sparse(const SparseRows& X, const std::uint64_t* hashes, std::uint64_t* inout) {
    RowReader reader(X, {true, true, true, nullptr});
    const auto mixed = [&](std::uint32_t place, double value) {
        std::uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return finish_hash(finish_hash(hashes == nullptr ? place : hashes[place]) ^ bits);
    };
    for (std::size_t row = 0; row < X.n_rows; ++row) {
        const Problem problem = reader.read(row);
        if (problem != Problem::none) return {problem, row};
        std::uint64_t sum = inout[row];
        for (std::size_t i = 0; i < reader.cells.n; ++i)
            if (reader.cells.values[i] != 0.0)
                sum += mixed(reader.cells.places[i], reader.cells.values[i]);
        const double missing = std::numeric_limits<double>::quiet_NaN();
        for (const std::uint32_t place : reader.missing) sum += mixed(place, missing);
        inout[row] = finish_hash(sum);
    }
    return {};
}

void group_rows(const std::int32_t* codes, std::size_t n, std::size_t n_classes,
                std::uint32_t* order, std::int64_t* ends) {
    std::fill_n(ends, n_classes + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++ends[codes[i] + 1];
    for (std::size_t k = 0; k < n_classes; ++k) ends[k + 1] += ends[k];
    std::vector<std::int64_t> free(ends, ends + n_classes);
    for (std::size_t i = 0; i < n; ++i)
        order[free[static_cast<std::size_t>(codes[i])]++] = static_cast<std::uint32_t>(i);
}

}  // namespace naively
