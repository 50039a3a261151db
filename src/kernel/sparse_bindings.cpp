// Sparse rows: their face to Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "sparse.hpp"
#include "table_bindings.hpp"

namespace nb = nanobind;

namespace {

using naively::Array;
using naively::expect;
template <class T, std::size_t n>
using Plain = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
using Starts = Plain<const std::int64_t, 1>;
using Codes = Plain<const std::int32_t, 1>;
using Weights = std::optional<Plain<const double, 1>>;
using Order = std::optional<Plain<const std::uint32_t, 1>>;
using Lines = Plain<const double, 2>;
using Kind = naively::Kind;

constexpr double farthest_weight = 1e150;  // of a screen, so that sums stay finite
constexpr auto most = std::numeric_limits<std::uint32_t>::max();

// The arrays of a `SparseRows` of Python, which are held while they are read.
struct HeldRows {
    Starts starts;
    Array places, values;
    naively::SparseRows rows;

    explicit HeldRows(nb::handle given)
        : starts(nb::cast<Starts>(given.attr("starts"))),
          places(nb::cast<Array>(given.attr("places"))),
          values(nb::cast<Array>(given.attr("values"))) {
        const auto n_columns = nb::cast<std::size_t>(given.attr("n_columns"));
        const Kind place = naively::kind_of(places.dtype());
        expect(starts.size() > 0, "there must be one start more than rows");
        expect(place == Kind::i32 || place == Kind::i64, "places must be int32 or int64");
        expect(places.ndim() == 1 && values.ndim() == 1 && is_packed(places) && is_packed(values),
               "places and values must lie one after the other");
        expect(n_columns < most && starts.size() <= most, "there are too many rows or columns");
        expect_ascending(places.size() < values.size() ? places.size() : values.size());
        rows = {starts.data(),
                starts.size() - 1,
                static_cast<const char*>(places.data()),
                place == Kind::i64,
                static_cast<const char*>(values.data()),
                naively::kind_of(values.dtype()),
                n_columns};
    }

  private:
    static bool is_packed(const Array& array) { return array.size() < 2 || array.stride(0) == 1; }

    void expect_ascending(std::size_t n_cells) const {
        const std::int64_t* at = starts.data();
        bool ascending = at[0] >= 0;
        for (std::size_t i = 1; i < starts.size(); ++i) ascending &= at[i - 1] <= at[i];
        expect(ascending && static_cast<std::size_t>(at[starts.size() - 1]) <= n_cells,
               "starts must ascend from 0 to the number of cells");
    }
};

const char* name_of(naively::Problem problem) {
    switch (problem) {
        case naively::Problem::place: return "place";
        case naively::Problem::negative: return "negative";
        case naively::Problem::infinite: return "infinite";
        default: return "";
    }
}

// None, or what is wrong and in which row.
nb::object as_python(const naively::Finding& found) {
    if (found.problem == naively::Problem::none) return nb::none();
    return nb::make_tuple(name_of(found.problem), found.row);
}

void expect_classes(const Codes& codes, std::size_t n_classes) {
    std::uint32_t greatest = 0;  // a negative code would be the greatest of all
    for (std::size_t i = 0; i < codes.size(); ++i)
        greatest = std::max(greatest, static_cast<std::uint32_t>(codes.data()[i]));
    expect(codes.size() == 0 || greatest < n_classes, "a code has no class");
}

naively::Measure measure_of(std::string_view name) {
    if (name == "occurrences") return naively::Measure::occurrences;
    if (name == "missing") return naively::Measure::missing;
    expect(name == "documents", "one can count occurrences, documents or missing cells");
    return naively::Measure::documents;
}

struct Target {
    naively::Labelled rows;
    naively::Counting counting;
};

Target target_of(const Codes& codes, const Weights& weights, std::string_view measure,
                 double threshold, bool is_distinct, const Plain<double, 2>& out,
                 std::size_t offset, std::size_t n_columns) {
    expect(!weights || weights->size() == codes.size(), "there must be one weight per row");
    expect(offset + n_columns <= out.shape(1), "there must be a place for every column");
    expect_classes(codes, out.shape(0));
    return {{codes.data(), weights ? weights->data() : nullptr, out.shape(0)},
            {measure_of(measure), threshold, is_distinct, out.data() + offset, out.shape(1)}};
}

nb::object count_sparse(nb::handle X, const Codes& codes, const Weights& weights,
                        std::string_view measure, double threshold, bool is_distinct,
                        const Plain<double, 2>& out, std::size_t offset, const Order& order) {
    const HeldRows held(X);
    const std::size_t n_rows = held.rows.n_rows;
    expect(codes.size() == n_rows, "everything must be equally long");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        const Target target = target_of(codes, weights, measure, threshold, is_distinct, out,
                                        offset, held.rows.n_columns);
        std::size_t greatest = 0;
        const std::size_t n = order ? order->size() : n_rows;
        for (std::size_t i = 0; order && i < n; ++i)
            greatest = greatest < order->data()[i] ? order->data()[i] : greatest;
        expect(!order || n == 0 || greatest < n_rows, "there is no such row");
        found = naively::count_sparse(held.rows, target.rows, order ? order->data() : nullptr, n,
                                      target.counting);
    }
    return as_python(found);
}

// What is wrong, if anything, and how many cells were listed.
nb::object list_sparse(nb::handle X, const Codes& codes, const Weights& weights,
                       std::string_view measure, double threshold, bool is_distinct,
                       const Plain<std::int32_t, 1>& classes, const Plain<std::int64_t, 1>& entries,
                       const Plain<double, 1>& values, std::int64_t offset) {
    const HeldRows held(X);
    const naively::SparseRows& rows = held.rows;
    const auto n_cells = static_cast<std::size_t>(rows.starts[rows.n_rows] - rows.starts[0]);
    expect(codes.size() == rows.n_rows && (!weights || weights->size() == rows.n_rows),
           "everything must be equally long");
    expect(classes.size() == n_cells && entries.size() == n_cells && values.size() == n_cells,
           "there must be a place for every cell");
    const naively::Labelled labelled{codes.data(), weights ? weights->data() : nullptr, most};
    const naively::Counting counting{measure_of(measure), threshold, is_distinct, nullptr, 0};
    naively::CellList list{classes.data(), entries.data(), values.data(), offset};
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        found = naively::list_sparse(rows, labelled, counting, list);
    }
    return nb::make_tuple(as_python(found), list.n);
}

void add_listed(const Codes& classes, const Plain<const std::int64_t, 1>& entries,
                const Plain<const double, 1>& values, const Plain<double, 2>& out) {
    const std::size_t n = values.size();
    expect(classes.size() == n && entries.size() == n, "everything must be equally long");
    nb::gil_scoped_release unlocked;
    expect_classes(classes, out.shape(0));
    std::uint64_t greatest = 0;  // a negative entry would be the greatest of all
    for (std::size_t i = 0; i < n; ++i)
        greatest = std::max(greatest, static_cast<std::uint64_t>(entries.data()[i]));
    expect(n == 0 || greatest < out.shape(1), "an entry has no place");
    naively::add_listed(classes.data(), entries.data(), values.data(), n, out.shape(1), out.data());
}

nb::object count_table(nb::handle X, const Codes& codes, const Weights& weights,
                       std::string_view measure, double threshold, const Plain<double, 2>& out,
                       std::size_t offset) {
    const naively::Table table = naively::table_of(X);
    expect(table.n_columns == 0 || codes.size() == table.n_rows, "everything must be equally long");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        const Target target =
            target_of(codes, weights, measure, threshold, false, out, offset, table.n_columns);
        if (table.n_columns > 0) found = naively::count_table(table, target.rows, target.counting);
    }
    return as_python(found);
}

nb::object add_sparse_moments(nb::handle X, const Codes& codes, const Weights& weights,
                              const Plain<const double, 1>& class_weight,
                              const Plain<const std::uint32_t, 1>& order,
                              const Plain<double, 3>& out) {
    const HeldRows held(X);
    const std::size_t n_rows = held.rows.n_rows, n_classes = out.shape(1);
    expect(codes.size() == n_rows && (!weights || weights->size() == n_rows),
           "everything must be equally long");
    expect(out.shape(0) == 4 && out.shape(2) == held.rows.n_columns &&
               class_weight.size() == n_classes,
           "moments must be by class and column");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        expect_classes(codes, n_classes);
        for (std::size_t i = 0; i < order.size(); ++i)
            expect(order.data()[i] < n_rows, "there is no such row");
        const naively::Labelled rows{codes.data(), weights ? weights->data() : nullptr, n_classes};
        found = naively::add_sparse_moments(held.rows, rows, class_weight.data(), order.data(),
                                            order.size(), out.data());
    }
    return as_python(found);
}

nb::object add_sparse_quadratics(nb::handle X, const Lines& A, const Lines& B, const Lines& C,
                                 const Plain<double, 2>& joint) {
    const HeldRows held(X);
    for (const Lines* lines : {&A, &B, &C})
        expect(lines->shape(0) == held.rows.n_columns && lines->shape(1) == joint.shape(1),
               "parameters must be by column and class");
    expect(joint.shape(0) == held.rows.n_rows, "everything must be equally long");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        found = naively::add_sparse_quadratics(held.rows, A.data(), B.data(), C.data(),
                                               joint.shape(1), joint.data());
    }
    return as_python(found);
}

void group_rows(const Codes& codes, std::size_t n_classes, const Plain<std::uint32_t, 1>& order,
                const Plain<std::int64_t, 1>& ends) {
    expect(order.size() == codes.size() && ends.size() == n_classes + 1 && codes.size() < most,
           "everything must be equally long");
    nb::gil_scoped_release unlocked;
    expect_classes(codes, n_classes);
    naively::group_rows(codes.data(), codes.size(), n_classes, order.data(), ends.data());
}

nb::object hash_sparse(nb::handle X, const std::optional<Plain<const std::uint64_t, 1>>& hashes,
                       const Plain<std::uint64_t, 1>& inout) {
    const HeldRows held(X);
    expect(inout.size() == held.rows.n_rows, "everything must be equally long");
    expect(!hashes || hashes->size() == held.rows.n_columns, "every place must have a hash");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        found = naively::hash_sparse(held.rows, hashes ? hashes->data() : nullptr, inout.data());
    }
    return as_python(found);
}

nb::object add_sparse_lines(nb::handle X, const std::optional<Lines>& A, const Lines& B,
                            std::optional<double> step, const Plain<double, 2>& joint) {
    const HeldRows held(X);
    const auto fits = [&](const Lines& lines) {
        return lines.shape(0) == held.rows.n_columns && lines.shape(1) == joint.shape(1);
    };
    expect(fits(B) && (!A || fits(*A)), "parameters must be by column and class");
    expect(joint.shape(0) == held.rows.n_rows, "everything must be equally long");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        found = naively::add_sparse_lines(held.rows, A ? A->data() : nullptr, B.data(),
                                          step ? &*step : nullptr, joint.shape(1), joint.data());
    }
    return as_python(found);
}

naively::LineScreen* make_screen(const Lines& B) {
    const std::size_t n_classes = B.shape(1);
    expect(n_classes > 0 && n_classes <= naively::LineScreen::most_classes,
           "a screen has 1 to 64 classes");
    nb::gil_scoped_release unlocked;
    bool finite = true;
    for (std::size_t i = 0; i < B.size(); ++i) finite &= std::abs(B.data()[i]) < farthest_weight;
    expect(finite, "the weights of a screen must be finite");
    return new naively::LineScreen(B.data(), B.shape(0), n_classes);
}

nb::object screen_labels(const naively::LineScreen& screen, nb::handle X,
                         const Plain<const double, 1>& constant,
                         const Plain<std::int64_t, 1>& labels) {
    const HeldRows held(X);
    expect(held.rows.n_columns == screen.n_columns() && constant.size() == screen.n_classes(),
           "rows and constants must be those of the weights");
    expect(labels.size() == held.rows.n_rows, "everything must be equally long");
    naively::Finding found;
    {
        nb::gil_scoped_release unlocked;
        found = screen.label(held.rows, constant.data(), labels.data());
    }
    return as_python(found);
}

}  // namespace

void bind_sparse(nb::module_& m) {
    const auto X = nb::arg("X");
    const auto out = nb::arg("out").noconvert();
    m.def("count_sparse", &count_sparse, X, nb::arg("y_codes"), nb::arg("weights").none(),
          nb::arg("measure"), nb::arg("threshold"), nb::arg("is_distinct"), out, nb::arg("offset"),
          nb::arg("order").none() = nb::none());
    m.def("list_sparse", &list_sparse, X, nb::arg("y_codes"), nb::arg("weights").none(),
          nb::arg("measure"), nb::arg("threshold"), nb::arg("is_distinct"),
          nb::arg("classes").noconvert(), nb::arg("entries").noconvert(),
          nb::arg("values").noconvert(), nb::arg("offset"));
    m.def("add_listed", &add_listed, nb::arg("classes"), nb::arg("entries"), nb::arg("values"),
          out);
    m.def("count_table", &count_table, X, nb::arg("y_codes"), nb::arg("weights").none(),
          nb::arg("measure"), nb::arg("threshold"), out, nb::arg("offset"));
    m.def("hash_sparse", &hash_sparse, X, nb::arg("hashes").none(), nb::arg("inout").noconvert());
    m.def("group_rows", &group_rows, nb::arg("y_codes"), nb::arg("n_classes"),
          nb::arg("order").noconvert(), nb::arg("ends").noconvert());
    m.def("add_sparse_moments", &add_sparse_moments, X, nb::arg("y_codes"),
          nb::arg("weights").none(), nb::arg("class_weight"), nb::arg("order"), out);
    m.def("add_sparse_quadratics", &add_sparse_quadratics, X, nb::arg("A"), nb::arg("B"),
          nb::arg("C"), nb::arg("joint").noconvert());
    m.def("add_sparse_lines", &add_sparse_lines, X, nb::arg("A").none(), nb::arg("B"),
          nb::arg("step").none(), nb::arg("joint").noconvert());
    nb::class_<naively::LineScreen>(m, "LineScreen")
        .def(nb::new_(&make_screen), nb::arg("B"))
        .def("labels", &screen_labels, X, nb::arg("constant"), nb::arg("labels").noconvert());
}
