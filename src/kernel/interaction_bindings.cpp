// Terms of several cells of a row: their face to Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "interactions.hpp"
#include "table_bindings.hpp"

namespace nb = nanobind;

namespace {

using naively::expect;
using naively::table_of;
template <class T, std::size_t n>
using Plain = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
template <std::size_t n> using Doubles = Plain<double, n>;
template <std::size_t n> using ConstDoubles = Plain<const double, n>;
template <std::size_t n> using Ints = Plain<const std::int32_t, n>;
using Offsets = Plain<const std::int64_t, 1>;

bool standardize(nb::object X, const ConstDoubles<1>& mean, const ConstDoubles<1>& scale,
                 const Doubles<2>& out) {
    const naively::Table table = table_of(X);
    const std::size_t p = out.shape(1);
    expect(table.n_columns == p && mean.size() == p && scale.size() == p &&
               table.n_rows == out.shape(0),
           "features must be by row and column");
    nb::gil_scoped_release unlocked;
    return naively::standardize(table, mean.data(), scale.data(), out.data()) ==
           naively::Status::ok;
}

void project(const ConstDoubles<2>& f, const ConstDoubles<2>& W, const Doubles<2>& z) {
    expect(f.shape(0) == z.shape(0) && f.shape(1) == W.shape(0) && W.shape(1) == z.shape(1),
           "directions must be by feature");
    nb::gil_scoped_release unlocked;
    naively::project(f.data(), f.shape(0), f.shape(1), W.data(), W.shape(1), z.data());
}

void add_multivariate_students(const ConstDoubles<2>& f, const ConstDoubles<1>& A,
                               const ConstDoubles<1>& B, const ConstDoubles<1>& s,
                               const ConstDoubles<2>& mean, const ConstDoubles<3>& factor,
                               const Doubles<2>& joint,
                               const std::optional<ConstDoubles<1>>& weights) {
    const std::size_t K = joint.shape(1), p = f.shape(1);
    expect(f.shape(0) == joint.shape(0) && A.size() == K && B.size() == K && s.size() == K &&
               mean.shape(0) == K && mean.shape(1) == p && factor.shape(0) == K &&
               factor.shape(1) == p && factor.shape(2) == p && (!weights || weights->size() == K),
           "parameters must be by class and feature");
    const naively::MultivariateStudents terms{p,
                                              A.data(),
                                              B.data(),
                                              s.data(),
                                              mean.data(),
                                              factor.data(),
                                              weights ? weights->data() : nullptr};
    nb::gil_scoped_release unlocked;
    naively::add_multivariate_students(f.data(), terms, {joint.data(), joint.shape(0), K});
}

void expect_axes(const Offsets& offsets, std::size_t n_columns, std::size_t total,
                 std::int64_t least) {
    expect(offsets.size() == n_columns + 1 && offsets.data()[0] == 0 &&
               static_cast<std::size_t>(offsets.data()[n_columns]) == total,
           "there must be an axis for every column");
    for (std::size_t j = 0; j < n_columns; ++j)
        expect(offsets.data()[j + 1] - offsets.data()[j] >= least, "an axis must have bins");
}

void expect_pairs(const Ints<2>& pairs, std::size_t n_axes) {
    expect(pairs.shape(1) == 2, "a pair has two axes");
    for (std::size_t i = 0; i < pairs.size(); ++i)
        expect(static_cast<std::uint32_t>(pairs.data()[i]) < n_axes, "a pair has no such axis");
}

bool add_pairs(nb::object X, nb::object C, const ConstDoubles<1>& knots,
               const Offsets& knot_offsets, const Ints<1>& bins, const Offsets& bin_offsets,
               const Ints<2>& pairs, const Ints<1>& n_bins, const Offsets& offsets,
               const ConstDoubles<2>& values, const Doubles<2>& joint) {
    const naively::Table numbers = table_of(X), codes = table_of(C);
    const std::size_t n_axes = numbers.n_columns + codes.n_columns, n = joint.shape(0);
    for (const naively::Table* table : {&numbers, &codes})
        expect(table->n_columns == 0 || table->n_rows == n, "everything must be equally long");
    expect_axes(knot_offsets, numbers.n_columns, knots.size(), 1);
    expect_axes(bin_offsets, codes.n_columns, bins.size(), 1);
    expect_pairs(pairs, n_axes);
    expect(n_bins.size() == n_axes && values.shape(1) == joint.shape(1), "axes must have bins");
    for (std::size_t j = 0; j < n_axes; ++j) {
        const std::int32_t size = n_bins.data()[j];
        if (j < numbers.n_columns) {
            expect(size == knot_offsets.data()[j + 1] - knot_offsets.data()[j],
                   "numbers must have a bin for every knot");
            continue;
        }
        const std::int64_t* at = bin_offsets.data() + (j - numbers.n_columns);
        expect(std::all_of(bins.data() + at[0], bins.data() + at[1],
                           [&](std::int32_t bin) { return bin >= 0 && bin < size; }),
               "a category has no such bin");
    }
    expect(offsets.size() == pairs.shape(0) + 1 && offsets.data()[0] == 0 &&
               static_cast<std::size_t>(offsets.data()[pairs.shape(0)]) == values.shape(0),
           "offsets must go from 0 to the number of lines");
    for (std::size_t i = 0; i < pairs.shape(0); ++i) {
        const auto size = static_cast<std::int64_t>(n_bins.data()[pairs.data()[2 * i]]) *
                          n_bins.data()[pairs.data()[2 * i + 1]];
        expect(offsets.data()[i + 1] - offsets.data()[i] == size, "a table must have all bins");
    }
    nb::gil_scoped_release unlocked;
    const naively::PairAxes axes{knots.data(), knot_offsets.data(), bins.data(),
                                 bin_offsets.data()};
    const naively::PairTables tables{pairs.shape(0), pairs.data(), n_bins.data(), offsets.data(),
                                     values.data()};
    return naively::add_pairs(numbers, codes, axes, tables, {joint.data(), n, joint.shape(1)});
}

void judge_pairs(const Ints<2>& bins, const Ints<2>& low, const ConstDoubles<2>& share,
                 const Ints<1>& n_bins, const Ints<1>& codes, const ConstDoubles<1>& weight,
                 const ConstDoubles<2>& p, const Ints<2>& pairs, const Doubles<1>& scores) {
    const std::size_t d = bins.shape(0), n = bins.shape(1), K = p.shape(1);
    expect(low.shape(0) == d && low.shape(1) == n && share.shape(0) == d && share.shape(1) == n &&
               n_bins.size() == d && codes.size() == n && weight.size() == n && p.shape(0) == n &&
               scores.size() == pairs.shape(0),
           "rows must be by column and row");
    expect_pairs(pairs, d);
    for (std::size_t i = 0; i < n; ++i)
        expect(static_cast<std::uint32_t>(codes.data()[i]) < K, "a code has no class");
    for (std::size_t j = 0; j < d; ++j)
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t bin = bins.data()[j * n + i], before = low.data()[j * n + i];
            expect(bin >= -1 && bin < n_bins.data()[j] && before < n_bins.data()[j] &&
                       (bin >= 0) == (before >= 0),
                   "a cell has no bin");
        }
    const naively::BinnedRows rows{
        n, K, bins.data(), low.data(), share.data(), n_bins.data(), codes.data(), weight.data()};
    nb::gil_scoped_release unlocked;
    naively::judge_pairs(rows, p.data(), pairs.shape(0), pairs.data(), scores.data());
}

}  // namespace

void bind_interactions(nb::module_& m) {
    const auto joint = nb::arg("joint").noconvert();
    m.def("standardize", &standardize, nb::arg("X"), nb::arg("mean"), nb::arg("scale"),
          nb::arg("out").noconvert());
    m.def("project", &project, nb::arg("f"), nb::arg("W"), nb::arg("z").noconvert());
    m.def("add_multivariate_students", &add_multivariate_students, nb::arg("f"), nb::arg("A"),
          nb::arg("B"), nb::arg("s"), nb::arg("mean"), nb::arg("factor"), joint,
          nb::arg("weights") = nb::none());
    m.def("add_pairs", &add_pairs, nb::arg("X"), nb::arg("codes"), nb::arg("knots"),
          nb::arg("knot_offsets"), nb::arg("bins"), nb::arg("bin_offsets"), nb::arg("pairs"),
          nb::arg("n_bins"), nb::arg("offsets"), nb::arg("values"), joint);
    m.def("judge_pairs", &judge_pairs, nb::arg("bins"), nb::arg("low"), nb::arg("share"),
          nb::arg("n_bins"), nb::arg("codes"), nb::arg("weight"), nb::arg("p"), nb::arg("pairs"),
          nb::arg("scores").noconvert());
}
