// Sparse rows: their face to Python.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sparse.hpp"
#include "views.hpp"

namespace nanobind::detail {

// None, or what is wrong and in which row.
template <> struct type_caster<naively::Finding> {
    NB_TYPE_CASTER(naively::Finding, const_name("tuple[str, int] | None"))

    template <class... Any>
    static handle from_cpp(const naively::Finding& found, const Any&...) noexcept {
        constexpr const char* names[] = {"", "place", "negative", "infinite"};
        if (found.problem == naively::Problem::none) return none().release();
        return make_tuple(names[static_cast<std::size_t>(found.problem)], found.row).release();
    }
};

}  // namespace nanobind::detail

namespace naively {

namespace {

using Order = In<std::uint32_t>;
using Lines = In<double, 2>;

constexpr double farthest_weight = 1e150;  // of a screen, so that sums stay finite
constexpr auto most = std::numeric_limits<std::uint32_t>::max();
constexpr const char* equally_long = "everything must be equally long";
constexpr const char* by_column = "parameters must be by column and class";

// The arrays of a `SparseRows` of Python, which are held while they are read.
struct HeldRows {
    In<std::int64_t> starts;
    AnyArray places, values;
    SparseRows rows;

    explicit HeldRows(nb::handle source)
        : starts(nb::cast<In<std::int64_t>>(source.attr("starts"))),
          places(nb::cast<AnyArray>(source.attr("places"))),
          values(nb::cast<AnyArray>(source.attr("values"))) {
        const auto n_columns = nb::cast<std::size_t>(source.attr("n_columns"));
        const Kind place = kind_of(places.dtype());
        expect(starts.size() > 0, "there must be one start more than rows");
        expect(place == Kind::i32 || place == Kind::i64, "places must be int32 or int64");
        expect(is_packed(places) && is_packed(values),
               "places and values must lie one after the other");
        expect(n_columns < most && starts.size() <= most, "there are too many rows or columns");
        const std::size_t n_rows = starts.size() - 1;
        const std::int64_t* at = starts.data();
        expect(at[0] >= 0 && std::is_sorted(at, at + starts.size()) &&
                   static_cast<std::size_t>(at[n_rows]) <= std::min(places.size(), values.size()),
               "starts must ascend from 0 to the number of cells");
        rows = {at,
                n_rows,
                static_cast<const char*>(places.data()),
                place == Kind::i64,
                static_cast<const char*>(values.data()),
                kind_of(values.dtype()),
                n_columns};
    }

    // The lines of `joint`, one for each row.
    double* joint_of(const Out<double, 2>& joint) const {
        return shaped(joint, {rows.n_rows}, equally_long);
    }
    const double* parameters(const Lines& lines, const Out<double, 2>& joint) const {
        return shaped(lines, {rows.n_columns, joint.shape(1)}, by_column);
    }

  private:
    static bool is_packed(const AnyArray& array) {
        return array.ndim() == 1 && (array.size() < 2 || array.stride(0) == 1);
    }
};

const std::uint32_t* order_of(const Order& order, std::size_t n_rows) {
    const std::uint32_t* at = order.data();
    expect(std::all_of(at, at + order.size(), [&](std::uint32_t row) { return row < n_rows; }),
           "there is no such row");
    return at;
}

Measure measure_of(std::string_view name) {
    if (name == "occurrences") return Measure::occurrences;
    if (name == "missing") return Measure::missing;
    expect(name == "documents", "one can count occurrences, documents or missing cells");
    return Measure::documents;
}

// Where the counts of some columns go, from a place on.
Counting counting_of(std::string_view measure, double threshold, bool is_distinct,
                     const Out<double, 2>& out, std::size_t offset, std::size_t n_columns) {
    expect(offset + n_columns <= out.shape(1), "there must be a place for every column");
    return {measure_of(measure), threshold, is_distinct, out.data() + offset, out.shape(1)};
}

void bind_counts(nb::module_& m) {
    m.def(
        "count_sparse",
        [](nb::handle X, const Codes& codes, const Weights& weights, std::string_view measure,
           double threshold, bool is_distinct, const Out<double, 2>& out, std::size_t offset,
           const std::optional<Order>& order) {
            const HeldRows held(X);
            const nb::gil_scoped_release unlocked;
            const std::size_t n = held.rows.n_rows;
            const Labelled rows = labelled(codes, weights, n, out.shape(0));
            const Counting counting =
                counting_of(measure, threshold, is_distinct, out, offset, held.rows.n_columns);
            return count_sparse(held.rows, rows, order ? order_of(*order, n) : nullptr,
                                order ? order->size() : n, counting);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("is_distinct"),
        nb::arg("out"), nb::arg("offset"), nb::arg("order") = nb::none());
    // What is wrong, if anything, and how many cells were listed.
    m.def("list_sparse",
          [](nb::handle X, const Codes& codes, const Weights& weights, std::string_view measure,
             double threshold, bool is_distinct, const Out<std::int32_t>& classes,
             const Out<std::int64_t>& entries, const Out<double>& values, std::int64_t offset) {
              const HeldRows held(X);
              const nb::gil_scoped_release unlocked;
              const std::int64_t* starts = held.rows.starts;
              const auto n = static_cast<std::size_t>(starts[held.rows.n_rows] - starts[0]);
              constexpr const char* what = "there must be a place for every cell";
              CellList list{shaped(classes, {n}, what), shaped(entries, {n}, what),
                            shaped(values, {n}, what), offset};
              const Labelled rows = labelled(codes, weights, held.rows.n_rows, most);
              const Finding found = list_sparse(
                  held.rows, rows, {measure_of(measure), threshold, is_distinct, nullptr, 0}, list);
              return std::pair(found, list.n);
          });
    m.def("add_listed", [](const Codes& classes, const In<std::int64_t>& entries,
                           const In<double>& values, const Out<double, 2>& out) {
        const nb::gil_scoped_release unlocked;
        const std::size_t n = values.size(), width = out.shape(1);
        const std::int64_t* at = shaped(entries, {n}, equally_long);
        expect_classes(classes, out.shape(0));
        expect(std::all_of(at, at + n,
                           [&](std::int64_t j) { return static_cast<std::uint64_t>(j) < width; }),
               "an entry has no place");
        add_listed(shaped(classes, {n}, equally_long), at, values.data(), n, width, out.data());
    });
    m.def("count_table",
          [](nb::handle X, const Codes& codes, const Weights& weights, std::string_view measure,
             double threshold, const Out<double, 2>& out, std::size_t offset) {
              const Table table = table_of(X);
              const nb::gil_scoped_release unlocked;
              expect_rows(table, codes.size());
              const Labelled rows = labelled(codes, weights, codes.size(), out.shape(0));
              const Counting counting =
                  counting_of(measure, threshold, false, out, offset, table.n_columns);
              return table.n_columns > 0 ? count_table(table, rows, counting) : Finding{};
          });
    m.def("hash_sparse", [](nb::handle X, const std::optional<In<std::uint64_t>>& hashes,
                            const Out<std::uint64_t>& inout) {
        const HeldRows held(X);
        const nb::gil_scoped_release unlocked;
        return hash_sparse(held.rows,
                           shaped(hashes, {held.rows.n_columns}, "every place must have a hash"),
                           shaped(inout, {held.rows.n_rows}, equally_long));
    });
    m.def("group_rows", [](const Codes& codes, std::size_t n_classes,
                           const Out<std::uint32_t>& order, const Out<std::int64_t>& ends) {
        const nb::gil_scoped_release unlocked;
        const std::size_t n = codes.size();
        expect(n < most, "there are too many rows");
        expect_classes(codes, n_classes);
        group_rows(codes.data(), n, n_classes, shaped(order, {n}, equally_long),
                   shaped(ends, {n_classes + 1}, equally_long));
    });
    m.def("add_sparse_moments", [](nb::handle X, const Codes& codes, const Weights& weights,
                                   const In<double>& class_weight, const Order& order,
                                   const Out<double, 3>& out) {
        const HeldRows held(X);
        const nb::gil_scoped_release unlocked;
        const std::size_t n = held.rows.n_rows, K = out.shape(1);
        constexpr const char* what = "moments must be by class and column";
        return add_sparse_moments(held.rows, labelled(codes, weights, n, K),
                                  shaped(class_weight, {K}, what), order_of(order, n), order.size(),
                                  shaped(out, {4, K, held.rows.n_columns}, what));
    });
}

void bind_lines(nb::module_& m) {
    m.def("add_sparse_quadratics", [](nb::handle X, const Lines& A, const Lines& B, const Lines& C,
                                      const Out<double, 2>& joint) {
        const HeldRows held(X);
        const nb::gil_scoped_release unlocked;
        return add_sparse_quadratics(held.rows, held.parameters(A, joint),
                                     held.parameters(B, joint), held.parameters(C, joint),
                                     joint.shape(1), held.joint_of(joint));
    });
    m.def("add_sparse_lines", [](nb::handle X, const std::optional<Lines>& A, const Lines& B,
                                 std::optional<double> step, const Out<double, 2>& joint) {
        const HeldRows held(X);
        const nb::gil_scoped_release unlocked;
        return add_sparse_lines(held.rows, A ? held.parameters(*A, joint) : nullptr,
                                held.parameters(B, joint), step ? &*step : nullptr, joint.shape(1),
                                held.joint_of(joint));
    });
    nb::class_<LineScreen>(m, "LineScreen")
        .def(nb::new_([](const Lines& B) {
            const std::size_t K = B.shape(1);
            expect(K > 0 && K <= LineScreen::most_classes, "a screen has 1 to 64 classes");
            expect(std::all_of(B.data(), B.data() + B.size(),
                               [](double b) { return std::abs(b) < farthest_weight; }),
                   "the weights of a screen must be finite");
            return new LineScreen(B.data(), B.shape(0), K);
        }))
        .def("labels", [](const LineScreen& screen, nb::handle X, const In<double>& constant,
                          const Out<std::int64_t>& labels) {
            const HeldRows held(X);
            const nb::gil_scoped_release unlocked;
            constexpr const char* what = "rows and constants must be those of the weights";
            expect(held.rows.n_columns == screen.n_columns(), what);
            return screen.label(held.rows, shaped(constant, {screen.n_classes()}, what),
                                shaped(labels, {held.rows.n_rows}, equally_long));
        });
}

}  // namespace

void bind_sparse(nb::module_& m) {
    bind_counts(m);
    bind_lines(m);
}

}  // namespace naively
