#include "stream_counts.hpp"

#include <algorithm>

namespace naively {
namespace {

constexpr double count_noise = 1e-6;  // what rounding leaves of a sum of counts
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The same table with room for more classes.
void widen(std::vector<double>& table, std::size_t n_columns, std::size_t before, std::size_t after,
           double fill) {
    std::vector<double> wide(n_columns * after, fill);
    for (std::size_t j = 0; j < n_columns; ++j)
        std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(j * before), before,
                    wide.begin() + static_cast<std::ptrdiff_t>(j * after));
    table = std::move(wide);
}

}  // namespace

void CountStatistics::grow(std::size_t n_classes, std::size_t n_columns) {
    if (n_classes > capacity_) {
        const std::size_t more = std::max(n_classes, 2 * capacity_);
        widen(counts_, n_columns_, capacity_, more, 0.0);
        widen(logs_, n_columns_, capacity_, more, unknown);
        if (!missing_.empty()) widen(missing_, n_columns_, capacity_, more, 0.0);
        capacity_ = more;
    }
    counts_.resize(n_columns * capacity_, 0.0);
    logs_.resize(n_columns * capacity_, unknown);
    if (!missing_.empty()) missing_.resize(n_columns * capacity_, 0.0);
    column_.resize(n_columns, 0.0);
    total_.resize(n_classes, 0.0);
    base_.resize(n_classes, 0.0);
    if (n_columns != n_columns_) stale_.clear();  // a row may hold more that is absent from it
    stale_.resize(n_classes, 1);
    n_classes_ = n_classes;
    n_columns_ = n_columns;
}

void CountStatistics::clear() {
    for (std::vector<double>* table : {&counts_, &missing_, &total_, &column_})
        std::fill(table->begin(), table->end(), 0.0);
    std::fill(logs_.begin(), logs_.end(), unknown);
    stale_.assign(n_classes_, 1);
}

// What a cell adds to its count.
double CountStatistics::amount(const StreamRow& row, std::size_t i) const {
    return is_presence() ? row.weight : row.weight * row.cells[i];
}

void CountStatistics::forget_logs(std::size_t k, std::size_t j) {
    if (options_.terms == CountTerms::multinomial)
        logs_[at(k, j)] = unknown;
    else  // the counts of all other classes change with one
        std::fill_n(logs_.begin() + static_cast<std::ptrdiff_t>(at(0, j)), n_classes_, unknown);
}

void CountStatistics::change(std::size_t k, std::size_t j, double by) {
    counts_[at(k, j)] += by;
    total_[k] += by;
    column_[j] += by;
    forget_logs(k, j);
}

void CountStatistics::change_missing(std::size_t k, std::size_t j, double by) {
    if (missing_.empty()) missing_.resize(n_columns_ * capacity_, 0.0);
    missing_[at(k, j)] += by;
}

void CountStatistics::add(const StreamRow& row) {
    stale_[row.code] = 1;
    for (std::size_t i = 0; i < row.cells.size(); ++i)
        if (std::isnan(row.cells[i]))
            change_missing(row.code, row.columns[i], row.weight);
        else
            change(row.code, row.columns[i], amount(row, i));
}

bool CountStatistics::remove(const StreamRow& row, const Removal& how) {
    const std::size_t k = row.code;
    for (const bool really : {false, true})
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const std::size_t j = row.columns[i];
            const bool is_missing = std::isnan(row.cells[i]);
            const double before = is_missing ? missing(k, j) : counts_[at(k, j)];
            const double by = is_missing ? row.weight : amount(row, i);
            const double left = weight_left(before, by, how);
            if (!(left >= 0.0)) return false;
            if (!really) continue;
            if (is_missing)
                change_missing(k, j, left - before);
            else
                change(k, j, left - before);
        }
    stale_[k] = 1;
    return true;
}

// Counts of occurrences are no weights, since a row may hold an entry many times; but a class
// without rows holds none.
bool CountStatistics::may_leave(double left, double noise, const StreamRow& row) const {
    const std::size_t k = row.code;
    if (is_presence())
        return holds_without(row, n_columns_, [&](std::size_t j) {
            return counts_[at(k, j)] + missing(k, j) <= left + noise;
        });
    double held = 0.0;
    for (std::size_t i = 0; i < row.cells.size(); ++i) held += amount(row, i);
    return left > 0.0 || total_[k] - held <= count_noise * total_[k] + noise;
}

void CountStatistics::empty(std::size_t k) {
    for (std::size_t j = 0; j < n_columns_; ++j) {
        if (counts_[at(k, j)] != 0.0) change(k, j, -counts_[at(k, j)]);
        if (missing(k, j) != 0.0) change_missing(k, j, -missing(k, j));
    }
    total_[k] = 0.0;
    stale_[k] = 1;
}

void CountStatistics::multiply(double factor) {
    for (std::vector<double>* table : {&counts_, &missing_, &total_, &column_})
        for (double& value : *table) value *= factor;
    std::fill(logs_.begin(), logs_.end(), unknown);
    stale_.assign(n_classes_, 1);
}

void CountStatistics::set_count(std::size_t k, std::size_t j, double value) {
    change(k, j, value - counts_[at(k, j)]);
    stale_[k] = 1;
}

void CountStatistics::set_missing(std::size_t k, std::size_t j, double value) {
    if (value != missing(k, j)) change_missing(k, j, value - missing(k, j));
    stale_[k] = 1;
}

bool CountStatistics::add_terms(const StreamRow& row, const ClassWeights& weights, double* joint) {
    if (is_presence())
        add_presence(row, weights, joint);
    else
        add_shares(row, weights.scale, joint);
    return true;
}

// The logarithm of the count of an entry, in a class or in all others; kept until it changes.
double CountStatistics::log_count(std::size_t k, std::size_t j, double scale) {
    double& kept = logs_[at(k, j)];
    if (scale == 1.0 && !std::isnan(kept)) return kept;
    const double own = counts_[at(k, j)];
    const bool others = options_.terms == CountTerms::complement;
    const double count = others ? std::max(column_[j] - own, 0.0) : own;
    const double found = std::log(count * scale + options_.alpha);
    if (scale == 1.0) kept = found;
    return found;
}

void CountStatistics::add_shares(const StreamRow& row, double scale, double* joint) {
    const bool others = options_.terms == CountTerms::complement;
    const double mass = options_.alpha * static_cast<double>(n_columns_);
    double all = 0.0, size = 0.0;
    for (const double total : total_) all += total;
    for (const double x : row.cells) size += x;
    if (size == 0.0) return;
    for (std::size_t k = 0; k < n_classes_; ++k) {
        const double held = others ? std::max(all - total_[k], 0.0) : total_[k];
        double sum = -size * std::log(held * scale + mass);
        for (std::size_t i = 0; i < row.cells.size(); ++i)
            sum += row.cells[i] * log_count(k, row.columns[i], scale);
        joint[k] += others ? -sum : sum;
    }
}

double CountStatistics::absence(std::size_t k, std::size_t j, const ClassWeights& weights,
                                double& whole) const {
    const double seen = weights.of(k) - missing(k, j) * weights.scale;
    whole = seen + 2.0 * options_.alpha;
    return std::max(seen - counts_[at(k, j)] * weights.scale, 0.0) + options_.alpha;
}

double CountStatistics::log_absence(std::size_t k, const ClassWeights& weights) {
    if (!stale_[k] && weights.scale == 1.0) return base_[k];
    LogOfProduct product;
    for (std::size_t j = 0; j < n_columns_; ++j) {
        double whole;
        const double absent = absence(k, j, weights, whole);
        product.multiply(absent / whole);
    }
    stale_[k] = 0;
    return base_[k] = product.value();
}

void CountStatistics::add_presence(const StreamRow& row, const ClassWeights& weights,
                                   double* joint) {
    for (std::size_t k = 0; k < n_classes_; ++k) {
        LogOfProduct product;
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const std::size_t j = row.columns[i];
            double whole;
            const double absent = absence(k, j, weights, whole);
            const bool is_missing = std::isnan(row.cells[i]);
            const double present = counts_[at(k, j)] * weights.scale + options_.alpha;
            product.multiply((is_missing ? whole : present) / absent);
        }
        joint[k] += log_absence(k, weights) + product.value();
    }
}

}  // namespace naively
