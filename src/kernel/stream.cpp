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

namespace {

// Whether something holds for all columns that a row, whose cells are sorted, has no cell in.
template <class Condition>
bool holds_without(const StreamRow& row, std::size_t n_columns, Condition condition) {
    std::size_t i = 0;
    for (std::size_t j = 0; j < n_columns; ++j)
        if (i < row.columns.size() && row.columns[i] == j)
            ++i;
        else if (!condition(j))
            return false;
    return true;
}

// The logarithm of a product of positive numbers between 1e-100 and 1e100, by few logarithms.
class LogOfProduct {
  public:
    void multiply(double x) {
        product_ *= x;
        if (!(product_ > 1e-200 && product_ < 1e200)) flush();
    }
    double value() {
        flush();
        return sum_;
    }

  private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1.0;
    }
    double product_ = 1.0, sum_ = 0.0;
};

constexpr double log_two_pi = 1.8378770664093453;
constexpr double least = 1e-100, most = 1e100;  // variances whose products stay in range

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

// --- moments -------------------------------------------------------------------------------------

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

double MomentStatistics::get(std::size_t table, std::size_t k, std::size_t j, double scale) const {
    const Moments& cell = by_class_[k][j];
    const double weight = cell.weight * scale;
    if (weight == 0.0) return 0.0;
    const double values[4] = {weight, cell.mean, cell.m2 * scale, cell.rest};
    return values[table];
}

void MomentStatistics::set(std::size_t table, std::size_t k, std::size_t j, double value) {
    Moments& cell = by_class_[k][j];
    double* const values[4] = {&cell.weight, &cell.mean, &cell.m2, &cell.rest};
    *values[table] = value;
    changed(j);
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

// --- counts --------------------------------------------------------------------------------------

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

void CountStatistics::set(std::size_t table, std::size_t k, std::size_t j, double value) {
    if (table == 0)
        change(k, j, value - counts_[at(k, j)]);
    else if (value != missing(k, j))
        change_missing(k, j, value - missing(k, j));
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

// --- codes ---------------------------------------------------------------------------------------

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
