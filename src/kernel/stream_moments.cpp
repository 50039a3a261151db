#include <algorithm>

#include "stream.hpp"

namespace naively {
namespace {

constexpr double log_two_pi = 1.8378770664093453;
constexpr double least = 1e-100, most = 1e100;  // variances whose products stay in range

}  // namespace

void MomentStatistics::grow(std::size_t n_classes, std::size_t n_columns) {
    const std::size_t first = n_columns == columns_.size() ? by_class_.size() : 0;
    by_class_.resize(n_classes);
    for (std::size_t k = first; k < n_classes; ++k) by_class_[k].resize(n_columns);
    columns_.resize(n_columns);
    stale_.resize(n_columns, 1);
    any_stale_ = true;
}

void MomentStatistics::clear() {
    for (auto& columns : by_class_) std::fill(columns.begin(), columns.end(), Cell{});
    std::fill(stale_.begin(), stale_.end(), static_cast<unsigned char>(1));
    any_stale_ = true;
}

void MomentStatistics::add(const StreamRow& row) {
    Cell* columns = by_class_[row.code].data();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const std::size_t j = row.columns[i];
        const MomentsOf<double> cell{row.weight, row.cells[i], 0.0, 0.0};
        naively::add<double>(cell, columns[j]);
        stale_[j] = 1;
    }
    any_stale_ = true;
}

bool MomentStatistics::remove(const StreamRow& row, const Removal& how) {
    Cell* columns = by_class_[row.code].data();
    for (const bool really : {false, true})
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const std::size_t j = row.columns[i];
            Cell left = columns[j];
            left.largest_m2 = std::max(left.largest_m2, left.m2);
            const bool is_last = std::fabs(left.weight - row.weight) <= how.noise;
            left -= Moments{{row.weight, row.cells[i], 0.0, 0.0}};
            if (is_last || left.weight == 0.0) left = Cell{};
            if (how.certain) {
                if (!(left.weight > 0.0)) left = Cell{};
                left.m2 = std::max(left.m2, 0.0);
            }
            // Rounding of means grows as the weight falls.
            if (left.m2 < 0.0 && left.m2 * left.weight >= -how.noise * left.largest_m2)
                left.m2 = 0.0;
            if (!(left.weight >= 0.0 && left.m2 >= 0.0)) return false;
            if (really) columns[j] = left, changed(j);
        }
    return true;
}

bool MomentStatistics::may_leave(double left, double noise, const StreamRow& row) const {
    const std::vector<Cell>& columns = by_class_[row.code];
    return holds_without(row, columns.size(),
                         [&](std::size_t j) { return columns[j].weight <= left + noise; });
}

void MomentStatistics::empty(std::size_t k) {
    for (std::size_t j = 0; j < columns_.size(); ++j)
        if (by_class_[k][j].weight != 0.0) by_class_[k][j] = Cell{}, changed(j);
}

void MomentStatistics::multiply(double factor) {
    for (auto& columns : by_class_)
        for (Cell& cell : columns) {
            cell.weight *= factor;
            cell.m2 *= factor;
            cell.largest_m2 *= factor;
            if (cell.weight == 0.0) cell = Cell{};
        }
}

MomentStatistics::Column MomentStatistics::pooled(std::size_t j) const {
    double weight = 0.0, sum = 0.0, m2 = 0.0;
    const Moments* first = nullptr;
    for (const auto& columns : by_class_) {
        const Moments& part = columns[j];
        if (part.weight == 0.0) continue;
        if (first == nullptr) first = &part;  // means are summed up as distances from the first
        weight += part.weight;
        sum += part.weight * ((part.mean - first->mean) + (part.rest - first->rest));
    }
    if (first == nullptr) return {};
    const double shift = sum / weight;
    for (const auto& columns : by_class_) {
        const Moments& part = columns[j];
        if (part.weight == 0.0) continue;
        const double delta = ((part.mean - first->mean) + (part.rest - first->rest)) - shift;
        m2 += part.m2 + part.weight * delta * delta;
    }
    return {first->mean + (first->rest + shift), m2 / weight};
}

void MomentStatistics::refresh() {
    if (!any_stale_) return;
    largest_ = 0.0;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (stale_[j]) columns_[j] = pooled(j), stale_[j] = 0;
        largest_ = std::max(largest_, columns_[j].variance);
    }
    any_stale_ = false;
}

bool MomentStatistics::add_terms(const StreamRow& row, const ClassWeights&, double* joint) {
    refresh();
    if (!(largest_ < most)) return false;
    for (std::size_t k = 0; k < by_class_.size(); ++k) {
        const Cell* columns = by_class_[k].data();
        LogOfProduct variances;
        double squares = 0.0;
        std::size_t n = 0;
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const std::size_t j = row.columns[i];
            const Column& whole = columns_[j];
            const Moments& own = columns[j];
            const bool seen = own.weight > 0.0;
            const double spread = options_.by_column ? whole.variance : largest_;
            const double variance =
                (seen ? own.m2 / own.weight : whole.variance) + options_.var_smoothing * spread;
            if (variance < least || whole.variance < 0.0) {
                if (whole.variance < 0.0 || spread == 0.0) continue;  // there is nothing to tell
                return false;
            }
            const double z = row.cells[i] - (seen ? own.mean : whole.mean);
            squares += z * z / variance;
            variances.multiply(variance);
            ++n;
        }
        joint[k] -= 0.5 * (squares + variances.value() + static_cast<double>(n) * log_two_pi);
    }
    return true;
}

}  // namespace naively
