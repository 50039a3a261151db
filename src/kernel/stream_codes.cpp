#include "stream_codes.hpp"

#include <algorithm>

namespace naively {

void CodeStatistics::grow(std::size_t n_classes, std::size_t n_columns) {
    const std::size_t first = n_classes == n_classes_ ? columns_.size() : 0;
    columns_.resize(n_columns);
    for (std::size_t j = first; j < n_columns; ++j) {
        columns_[j].weights.resize(n_classes);
        columns_[j].total.resize(n_classes, 0.0);
    }
    n_classes_ = n_classes;
}

void CodeStatistics::clear() {
    const std::size_t n_columns = columns_.size();
    columns_.clear();
    grow(n_classes_, n_columns);
}

double CodeStatistics::weight(std::size_t k, std::size_t j, std::size_t code) const {
    const std::vector<double>& weights = columns_[j].weights[k];
    return code < weights.size() ? weights[code] : 0.0;
}

void CodeStatistics::add_weight(std::size_t k, std::size_t j, std::size_t code, double weight) {
    Column& column = columns_[j];
    std::vector<double>& weights = column.weights[k];
    if (weights.size() <= code) weights.resize(code + 1, 0.0);
    weights[code] += weight;
    column.total[k] += weight;
    if (weights[code] > 0.0) column.n_codes = std::max(column.n_codes, code + 1);
}

void CodeStatistics::add(const StreamRow& row) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
        add_weight(row.code, row.columns[i], static_cast<std::size_t>(row.cells[i]), row.weight);
}

bool CodeStatistics::remove(const StreamRow& row, const Removal& how) {
    for (const bool really : {false, true})
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const std::size_t j = row.columns[i], code = static_cast<std::size_t>(row.cells[i]);
            const double before = weight(row.code, j, code);
            const double left = weight_left(before, row.weight, how);
            if (!(left >= 0.0)) return false;
            if (!really) continue;
            Column& column = columns_[j];
            column.weights[row.code][code] = left;
            column.total[row.code] =
                weight_left(column.total[row.code], row.weight, {how.noise, true});
            drop_empty(j);
        }
    return true;
}

bool CodeStatistics::may_leave(double left, double noise, const StreamRow& row) const {
    return holds_without(row, columns_.size(), [&](std::size_t j) {
        return columns_[j].total[row.code] <= left + noise;
    });
}

// The highest code that counts is the highest that has weight.
void CodeStatistics::drop_empty(std::size_t j) {
    Column& column = columns_[j];
    const auto has_weight = [&](std::size_t code) {
        for (std::size_t k = 0; k < n_classes_; ++k)
            if (weight(k, j, code) > 0.0) return true;
        return false;
    };
    while (column.n_codes > 0 && !has_weight(column.n_codes - 1)) --column.n_codes;
}

void CodeStatistics::empty(std::size_t k) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (columns_[j].total[k] == 0.0 && columns_[j].weights[k].empty()) continue;
        columns_[j].total[k] = 0.0;
        columns_[j].weights[k].clear();
        drop_empty(j);
    }
}

void CodeStatistics::multiply(double factor) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        for (double& total : columns_[j].total) total *= factor;
        for (auto& weights : columns_[j].weights)
            for (double& weight : weights) weight *= factor;
        drop_empty(j);
    }
}

bool CodeStatistics::add_terms(const StreamRow& row, const ClassWeights& weights, double* joint) {
    for (std::size_t k = 0; k < n_classes_; ++k) {
        LogOfProduct product;
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            const std::size_t j = row.columns[i];
            const double n = static_cast<double>(columns_[j].n_codes);
            if (n == 0.0) continue;
            const double total = columns_[j].total[k] * weights.scale;
            const double own = weight(k, j, static_cast<std::size_t>(row.cells[i])) * weights.scale;
            product.multiply(total > 0.0 ? (own + alpha_) / (total + alpha_ * n) : 1.0 / n);
        }
        joint[k] += product.value();
    }
    return true;
}

}  // namespace naively
