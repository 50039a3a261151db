#include "stream.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace naively {
namespace {

// Rounding of a class's weight is less than this part of the most that it has been.
constexpr double sum_noise = 64.0 * std::numeric_limits<double>::epsilon();
constexpr double least_scale = 1e-100;
// Rounding of the weights that are left is less than this part of the weight that is forgotten.
constexpr double forgotten_noise = 1e-3;

}  // namespace

void StreamRow::sort() {
    if (std::is_sorted(columns.begin(), columns.end())) return;
    std::vector<std::pair<std::uint32_t, double>> both(columns.size());
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = {columns[i], cells[i]};
    std::sort(both.begin(), both.end());
    for (std::size_t i = 0; i < both.size(); ++i)
        columns[i] = both[i].first, cells[i] = both[i].second;
}

void Stream::grow(std::size_t n_classes, std::size_t n_columns) {
    weights_.stored.resize(n_classes, 0.0);
    heaviest_.resize(n_classes, 0.0);
    statistics_->grow(n_classes, n_columns);
}

void Stream::clear() {
    std::fill(weights_.stored.begin(), weights_.stored.end(), 0.0);
    std::fill(heaviest_.begin(), heaviest_.end(), 0.0);
    weights_.scale = 1.0;
    statistics_->clear();
}

double Stream::total() const {
    double sum = 0.0;
    for (std::size_t k = 0; k < weights_.stored.size(); ++k) sum += weights_.of(k);
    return sum;
}

void Stream::add(const StreamRow& row) {
    weights_.stored[row.code] += row.weight;
    statistics_->add(row);
}

// Returns how a row of a class is removed, whose sums are off by the rounding of the heaviest.
Removal Stream::removal(std::size_t k, bool certain) {
    heaviest_[k] = std::max(heaviest_[k], weights_.stored[k]);
    return {sum_noise * heaviest_[k], certain};
}

bool Stream::remove(const StreamRow& row, const Removal& how) {
    const double left = weight_left(weights_.stored[row.code], row.weight, how);
    if (left < 0.0 || !statistics_->remove(row, how)) return false;
    weights_.stored[row.code] = left;
    if (left == 0.0) heaviest_[row.code] = 0.0, statistics_->empty(row.code);
    return true;
}

// Lets everything count less, by the decay of one row.
void Stream::age() {
    if (decay_ == 1.0) return;
    if (decay_ == 0.0) {
        clear();
        rows_.clear();
        return;
    }
    weights_.scale *= decay_;
    if (weights_.scale > least_scale) return;
    for (double& weight : weights_.stored) weight *= weights_.scale;
    for (double& weight : heaviest_) weight *= weights_.scale;
    for (StreamRow& row : rows_) row.weight *= weights_.scale;
    statistics_->multiply(weights_.scale);
    weights_.scale = 1.0;
}

void Stream::learn(StreamRow& row) {
    age();
    row.weight /= weights_.scale;
    add(row);
    if (window_ == 0) return;
    rows_.push_back(row);
    if (rows_.size() > window_) leave(rows_.begin());
}

void Stream::trim() {
    if (window_ == 0 || rows_.size() <= window_) return;
    if (from_elsewhere_) {
        while (rows_.size() > window_) leave(rows_.begin());
        return;
    }
    rows_.erase(rows_.begin(), rows_.end() - static_cast<std::ptrdiff_t>(window_));
    sum_up_window();
}

// Sums from which as many rows were removed as the window holds are made again, of its rows: so
// rounding stays that of two windows, however long the stream is. Sums that hold more than these
// rows cannot be made again.
void Stream::leave(std::deque<StreamRow>::const_iterator at) {
    const StreamRow row = *at;
    rows_.erase(at);
    const bool removed = row.weight == 0.0 || remove(row, removal(row.code, from_elsewhere_));
    if (!from_elsewhere_ && (!removed || ++n_removed_ >= window_)) sum_up_window();
}

void Stream::sum_up_window() {
    n_removed_ = 0;
    std::fill(weights_.stored.begin(), weights_.stored.end(), 0.0);
    std::fill(heaviest_.begin(), heaviest_.end(), 0.0);
    statistics_->clear();
    for (const StreamRow& row : rows_)
        if (row.weight > 0.0) add(row);
}

bool Stream::forget(StreamRow& row) {
    row.weight /= weights_.scale;
    if (window_ == 0) {
        const Removal how = removal(row.code, false);
        const double left = weight_left(weights_.stored[row.code], row.weight, how);
        return statistics_->may_leave(left, forgotten_noise * row.weight, row) && remove(row, how);
    }
    const auto found = std::find_if(rows_.rbegin(), rows_.rend(), [&](const StreamRow& kept) {
        return kept.weight > 0.0 && kept == row;
    });
    if (found == rows_.rend()) return false;
    leave(std::prev(found.base()));
    return true;
}

bool Stream::joint(const StreamRow& row, bool priors, double* out) {
    const std::size_t K = weights_.stored.size();
    const double whole = total();
    if (!(whole > 0.0)) return false;
    for (std::size_t k = 0; k < K; ++k) {
        const double share = weights_.of(k) / whole;
        out[k] = std::log(priors ? share : static_cast<double>(share > 0.0));
    }
    return statistics_->add_terms(row, weights_, out);
}

}  // namespace naively
