// Streams of single rows: Python's dicts, lists and labels become rows of numbers, in one call.

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "stream.hpp"
#include "views.hpp"

namespace naively {

namespace {

// What came of a row. All but `done` leave everything as it was, and are Python's to look into.
enum Outcome { done, unknown_label, not_plain, never_learned };

// A buffer of an object, if it has one.
class Buffer {
  public:
    explicit Buffer(nb::handle object, int flags) {
        held_ = PyObject_GetBuffer(object.ptr(), &view_, flags) == 0;
        if (!held_) PyErr_Clear();
    }
    ~Buffer() {
        if (held_) PyBuffer_Release(&view_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    double* doubles() const {
        const bool fits = held_ && view_.ndim == 1 && view_.format != nullptr &&
                          std::strcmp(view_.format, "d") == 0;
        return fits ? static_cast<double*>(view_.buf) : nullptr;
    }
    Py_ssize_t size() const { return view_.len / static_cast<Py_ssize_t>(sizeof(double)); }

  private:
    Py_buffer view_{};
    bool held_;
};

// A number; None is NaN. False for everything else.
bool number_of(PyObject* cell, double& x) {
    if (PyFloat_Check(cell)) {
        x = PyFloat_AS_DOUBLE(cell);
        return true;
    }
    if (cell == Py_None) {
        x = std::numeric_limits<double>::quiet_NaN();
        return true;
    }
    if (!PyLong_Check(cell)) return false;
    x = PyLong_AsDouble(cell);
    if (x != -1.0 || PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();  // an integer beyond every float64
    return false;
}

bool is_weight(nb::handle given, double& weight) {
    return number_of(given.ptr(), weight) && weight > 1e-100 && weight < 1e100;
}

// The place of a key in a dict of places; -1 where it is not there, or cannot be looked up.
long place_of(nb::handle dict, PyObject* key) {
    PyObject* found = PyDict_GetItemWithError(dict.ptr(), key);
    if (found != nullptr) return PyLong_AsLong(found);
    PyErr_Clear();
    return -1;
}

class RowStream {
  public:
    RowStream(std::unique_ptr<RowStatistics> statistics, double decay, std::size_t window,
              bool priors)
        : stream_(std::move(statistics), decay, window), priors_(priors) {}

    int learn(nb::handle row, nb::handle label, nb::handle given_weight) {
        double weight;
        if (!is_weight(given_weight, weight)) return not_plain;
        if (!read(row, true)) return not_plain;
        if (!find_class(label)) return unknown_label;
        add_fresh();
        row_.weight = weight;
        stream_.learn(row_);
        return done;
    }

    int forget(nb::handle row, nb::handle label, nb::handle given_weight) {
        double weight;
        if (!is_weight(given_weight, weight)) return not_plain;
        if (!find_class(label)) return unknown_label;
        if (!read(row, false)) return not_plain;
        row_.weight = weight;
        return !has_unknown_ && stream_.forget(row_) ? done : never_learned;
    }

    // The most probable class, ties going to the first; None where a model must be read with care.
    nb::object label(nb::handle row) {
        if (!score(row)) return nb::none();
        std::size_t best = order()[0];
        for (const std::size_t k : order())
            if (joint_[k] > joint_[best]) best = k;
        return nb::borrow(labels_[best]);
    }

    // False where a model must be read with care, or where there is not a place for every class.
    bool proba(nb::handle row, nb::handle out) {
        const Buffer buffer(out, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS);
        double* values = buffer.doubles();
        expect(values != nullptr, "there must be a place for every class");
        if (buffer.size() != static_cast<Py_ssize_t>(labels_.size()) || !score(row)) return false;
        order();
        const double largest = *std::max_element(joint_.begin(), joint_.end());
        double total = 0.0;
        for (std::size_t i = 0; i < order_.size(); ++i)
            total += values[i] = std::exp(joint_[order_[i]] - largest);
        for (std::size_t i = 0; i < order_.size(); ++i) values[i] /= total;
        return true;
    }

    // Makes a class of a label, unless it is one; in time that does not depend on the others.
    void add_class(nb::handle label) {
        accept(label);
        if (place_of(codes_, label.ptr()) >= 0) return;
        codes_[label] = labels_.size();
        labels_.push_back(nb::borrow(label));
        joint_.resize(labels_.size());
        stream_.grow(labels_.size(), n_columns_);
    }

    // Labels of this type are what they are equal to.
    void accept(nb::handle label) {
        PyTypeObject* type = Py_TYPE(label.ptr());
        if (std::find(types_.begin(), types_.end(), type) == types_.end()) types_.push_back(type);
    }

    nb::object names() const { return named_ ? nb::object(names_) : nb::none(); }
    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_classes() const { return labels_.size(); }
    bool has_columns() const { return known_; }

    // The weights of the classes, then the tables of the statistics, by class in their order.
    nb::list tables() {
        const RowStatistics& sums = stream_.statistics();
        const double scale = stream_.scale();
        nb::list found;
        found.append(table(1, [&](std::size_t k, std::size_t) { return stream_.weights().of(k); }));
        for (std::size_t t = 0; t < sums.n_tables(); ++t)
            found.append(table(sums.width(t), [&](std::size_t k, std::size_t j) {
                return sums.get(t, k, j, scale);
            }));
        return found;
    }

    // Begins with columns, classes in their order, tables, and those rows of the tables that are in
    // the window; which may be all of them.
    void load(std::optional<nb::list> names, std::size_t n_columns, nb::list classes,
              const std::vector<In<double, 2>>& tables, nb::list window, bool is_all) {
        expect(!known_ && (!names || nb::len(*names) == n_columns), "columns are set once");
        known_ = true;
        named_ = names.has_value();
        n_columns_ = n_columns;
        if (names)
            for (nb::handle name : *names) add_name(name);
        for (nb::handle label : classes) add_class(label);
        stream_.grow(labels_.size(), n_columns_);
        RowStatistics& sums = stream_.statistics();
        const std::size_t n_tables = n_columns == 0 ? 0 : sums.n_tables();
        expect(tables.size() == 1 + n_tables, "there must be a table of each kind");
        each(tables[0],
             [&](std::size_t k, std::size_t, double x) { stream_.weights().stored[k] = x; });
        for (std::size_t t = 0; t < n_tables; ++t)
            each(tables[t + 1],
                 [&](std::size_t k, std::size_t j, double x) { sums.set(t, k, j, x); });
        for (nb::handle kept : window) {
            expect(find_class(kept[1]) && read(kept[0], false), "the row must be known");
            row_.weight = nb::cast<double>(kept[2]);
            stream_.keep(row_);
        }
        stream_.set_from_elsewhere(!is_all);
        stream_.trim();
    }

    // The rows of the window, oldest first: row, label and weight.
    nb::list kept() const {
        nb::list found;
        for (const StreamRow& row : stream_.rows())
            if (row.weight > 0.0)
                found.append(nb::make_tuple(row_object(row), labels_[row.code],
                                            row.weight * stream_.scale()));
        return found;
    }

  private:
    // The codes of the classes, in the order of their labels: those that came since the last time
    // are sorted, and merged with the others.
    const std::vector<std::size_t>& order() {
        const auto n_sorted = static_cast<std::ptrdiff_t>(order_.size());
        if (order_.size() == labels_.size()) return order_;
        const auto less = [&](std::size_t a, std::size_t b) {
            const int found = PyObject_RichCompareBool(labels_[a].ptr(), labels_[b].ptr(), Py_LT);
            if (found < 0) throw nb::python_error();
            return found == 1;
        };
        std::vector<std::size_t> all = order_;
        while (all.size() < labels_.size()) all.push_back(all.size());
        std::sort(all.begin() + n_sorted, all.end(), less);
        std::inplace_merge(all.begin(), all.begin() + n_sorted, all.end(), less);
        order_ = std::move(all);
        return order_;
    }

    // A table of values by class, in their order, and column.
    template <class Value> nb::ndarray<nb::numpy, double> table(std::size_t width, Value value) {
        double* values = new double[labels_.size() * width];
        const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<double*>(p); });
        double* next = values;
        for (const std::size_t k : order())
            for (std::size_t j = 0; j < width; ++j) *next++ = value(k, j);
        return {values, {labels_.size(), width}, owner};
    }

    template <class Use> void each(const In<double, 2>& table, Use use) {
        const double* next = shaped(table, {labels_.size()}, "tables must be by class");
        for (const std::size_t k : order())
            for (std::size_t j = 0; j < table.shape(1); ++j) use(k, j, *next++);
    }

    // A dict, or a list where columns have no names.
    nb::object row_object(const StreamRow& row) const {
        if (named_) {
            nb::dict found;
            for (std::size_t i = 0; i < row.cells.size(); ++i)
                found[names_[row.columns[i]]] = row.cells[i];
            return found;
        }
        std::vector<double> cells(n_columns_, stream_.statistics().absent());
        for (std::size_t i = 0; i < row.cells.size(); ++i) cells[row.columns[i]] = row.cells[i];
        return nb::cast(cells);
    }

    bool find_class(nb::handle label) {
        if (std::find(types_.begin(), types_.end(), Py_TYPE(label.ptr())) == types_.end())
            return false;
        const long code = place_of(codes_, label.ptr());
        if (code < 0) return false;
        row_.code = static_cast<std::size_t>(code);
        return true;
    }

    bool score(nb::handle row) {
        if (labels_.empty() || !read(row, false)) return false;
        if (!stream_.joint(row_, priors_, joint_.data())) return false;
        return std::none_of(joint_.begin(), joint_.end(), [](double x) { return std::isnan(x); });
    }

    // Reads a row. While learning, columns that are new are put aside, and any others are an error;
    // when predicting they tell nothing.
    bool read(nb::handle row, bool learning) {
        row_.clear();
        fresh_.clear();
        n_unnamed_ = 0;
        has_unknown_ = false;
        if (PyDict_Check(row.ptr())) return read_dict(row.ptr(), learning);
        if (PyList_Check(row.ptr()) || PyTuple_Check(row.ptr())) {
            const Py_ssize_t n = PySequence_Fast_GET_SIZE(row.ptr());
            if (!expected(n, learning)) return false;
            PyObject** cells = PySequence_Fast_ITEMS(row.ptr());
            double x;
            for (Py_ssize_t j = 0; j < n; ++j)
                if (!number_of(cells[j], x) || !put(static_cast<std::uint32_t>(j), x)) return false;
            return true;
        }
        const Buffer buffer(row, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS);
        const double* cells = buffer.doubles();
        if (cells == nullptr || !expected(buffer.size(), learning)) return false;
        for (Py_ssize_t j = 0; j < buffer.size(); ++j)
            if (!put(static_cast<std::uint32_t>(j), cells[j])) return false;
        return true;
    }

    // Whether a row without names may have so many cells; the first one decides.
    bool expected(Py_ssize_t n, bool learning) {
        if (!known_ && learning) {
            n_unnamed_ = static_cast<std::size_t>(n);
            return true;
        }
        return known_ && n == static_cast<Py_ssize_t>(n_columns_);
    }

    bool read_dict(PyObject* row, bool learning) {
        if (known_ && !named_) return false;
        Py_ssize_t position = 0;
        PyObject *key, *cell;
        double x;
        for (std::size_t i = 0; PyDict_Next(row, &position, &key, &cell); ++i) {
            const long j = column_of(i, key);
            if (j == not_a_name || !number_of(cell, x)) return false;
            if (j >= 0) {
                if (!put(static_cast<std::uint32_t>(j), x)) return false;
            } else if (learning) {
                if (!std::isnan(x) && !stream_.statistics().is_plain(x)) return false;
                fresh_.emplace_back(nb::borrow(key), x);
            } else {
                has_unknown_ = has_unknown_ || stream_.statistics().is_kept(x);
            }
        }
        row_.sort();  // equal rows are the same, whatever the order of their keys
        return true;
    }

    // The column of the i-th key of a row. Most rows have the keys of the one before.
    long column_of(std::size_t i, PyObject* key) {
        if (i < keys_.size() && keys_[i].first.ptr() == key) return keys_[i].second;
        if (!PyUnicode_CheckExact(key)) return not_a_name;  // whose hash is no code of the user's
        const long j = place_of(places_, key);
        if (j >= 0) {
            if (i < keys_.size())
                keys_[i] = {nb::borrow(key), j};
            else if (i == keys_.size())
                keys_.emplace_back(nb::borrow(key), j);
        }
        return j;
    }

    bool put(std::uint32_t j, double x) {
        if (!std::isnan(x) && !stream_.statistics().is_plain(x)) return false;
        if (!stream_.statistics().is_kept(x)) return true;
        row_.columns.push_back(j);
        row_.cells.push_back(x);
        return true;
    }

    // Makes columns of what was put aside, once nothing can fail any more.
    void add_fresh() {
        const std::size_t before = n_columns_;
        if (!known_) {
            known_ = true;
            named_ = n_unnamed_ == 0;
            n_columns_ = n_unnamed_;
        }
        for (const auto& [key, x] : fresh_) {
            add_name(key);
            put(static_cast<std::uint32_t>(n_columns_++), x);
        }
        fresh_.clear();
        if (n_columns_ != before) stream_.grow(labels_.size(), n_columns_);
    }

    void add_name(nb::handle name) {
        places_[name] = nb::len(names_);
        names_.append(name);
    }

    static constexpr long not_a_name = -2;

    Stream stream_;
    const bool priors_;
    nb::dict places_, codes_;  // of columns, and of labels
    nb::list names_;
    std::vector<nb::object> labels_;  // by code
    std::vector<std::size_t> order_;  // see order()
    std::vector<PyTypeObject*> types_;
    std::vector<std::pair<nb::object, long>> keys_;  // of the row before, and their columns
    std::vector<std::pair<nb::object, double>> fresh_;
    bool known_ = false, named_ = false;
    bool has_unknown_ = false;  // whether the row has cells of columns that are not known
    std::size_t n_columns_ = 0, n_unnamed_ = 0;
    StreamRow row_;
    std::vector<double> joint_;
};

RowStream* gaussian_stream(double var_smoothing, bool by_column, double decay, std::size_t window) {
    const GaussianOptions options{var_smoothing, by_column};
    return new RowStream(std::make_unique<MomentStatistics>(options), decay, window, true);
}

RowStream* count_stream(int terms, double alpha, double threshold, bool priors, double decay,
                        std::size_t window) {
    const CountOptions options{static_cast<CountTerms>(terms), alpha, threshold};
    return new RowStream(std::make_unique<CountStatistics>(options), decay, window, priors);
}

RowStream* code_stream(double alpha, bool priors, double decay, std::size_t window) {
    return new RowStream(std::make_unique<CodeStatistics>(alpha), decay, window, priors);
}

}  // namespace

void bind_stream(nb::module_& m) {
    nb::class_<RowStream>(m, "RowStream")
        .def("learn", &RowStream::learn, nb::arg().none(), nb::arg().none(), nb::arg().none())
        .def("forget", &RowStream::forget, nb::arg().none(), nb::arg().none(), nb::arg().none())
        .def("label", &RowStream::label, nb::arg().none())
        .def("proba", &RowStream::proba, nb::arg().none(), nb::arg())
        .def("add_class", &RowStream::add_class, nb::arg("label"))
        .def("accept", &RowStream::accept, nb::arg("label"))
        .def("tables", &RowStream::tables)
        .def("load", &RowStream::load, nb::arg("names").none(), nb::arg("n_columns"),
             nb::arg("classes"), nb::arg("tables"), nb::arg("window"), nb::arg("is_all"))
        .def("kept", &RowStream::kept)
        .def_prop_ro("names", &RowStream::names)
        .def_prop_ro("n_columns", &RowStream::n_columns)
        .def_prop_ro("n_classes", &RowStream::n_classes)
        .def_prop_ro("has_columns", &RowStream::has_columns);
    m.def("gaussian_stream", &gaussian_stream, nb::rv_policy::take_ownership,
          nb::arg("var_smoothing"), nb::arg("by_column"), nb::arg("decay"), nb::arg("window"));
    m.def("count_stream", &count_stream, nb::rv_policy::take_ownership, nb::arg("terms"),
          nb::arg("alpha"), nb::arg("threshold"), nb::arg("priors"), nb::arg("decay"),
          nb::arg("window"));
    m.def("code_stream", &code_stream, nb::rv_policy::take_ownership, nb::arg("alpha"),
          nb::arg("priors"), nb::arg("decay"), nb::arg("window"));
}

}  // namespace naively
