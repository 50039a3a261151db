// Tallies, hashes and the terms of scores: their face to Python.

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "tally.hpp"
#include "terms.hpp"
#include "views.hpp"

namespace naively {

namespace {

using Offsets = In<std::int64_t>;
using Parameters = In<double, 2>;
using MaybeParameters = std::optional<Parameters>;

constexpr std::size_t most_places = std::numeric_limits<std::int32_t>::max();
constexpr const char* of_pairs =
    "there must be a mean for every column, and a product for every pair";

// Offsets of lines, which begin with 0 and ascend by at least so many.
const std::int64_t* offsets_of(const Offsets& offsets, std::size_t n, std::size_t total,
                               std::int64_t least, const char* what) {
    const std::int64_t* at = shaped(offsets, {n + 1}, what);
    bool fits = at[0] == 0 && static_cast<std::size_t>(at[n]) == total && total < most_places;
    for (std::size_t i = 0; i < n; ++i) fits = fits && at[i + 1] - at[i] >= least;
    expect(fits, what);
    return at;
}
const std::int64_t* offsets_of(const Offsets& offsets, const Table& X, std::size_t total) {
    return offsets_of(offsets, X.n_columns, total, 0,
                      "offsets must go from 0 to the number of categories");
}

Labelled counted(const Table& X, const Codes& codes, const Weights& weights,
                 std::size_t n_classes) {
    expect_rows(X, codes.size());
    expect(codes.size() < std::numeric_limits<std::uint32_t>::max(), "there are too many rows");
    return labelled(codes, weights, codes.size(), n_classes);
}

void bind_tallies(nb::module_& m) {
    m.def("tally", [](nb::handle X, const Codes& codes, const Weights& weights,
                      const Offsets& offsets, const Out<double, 2>& out) {
        const Table table = table_of(X);
        const nb::gil_scoped_release unlocked;
        const Labelled rows = counted(table, codes, weights, out.shape(0));
        expect(tally(table, rows, offsets_of(offsets, table, out.shape(1)), out.data()),
               "a code has no category");
    });
    m.def("tally_bins", [](nb::handle X, const Codes& codes, const Weights& weights,
                           const In<double, 2>& edges, const Out<double, 3>& out) {
        const Table table = table_of(X);
        const nb::gil_scoped_release unlocked;
        const Labelled rows = counted(table, codes, weights, out.shape(0));
        const std::size_t p = table.n_columns, n_bins = edges.shape(1) + 1;
        constexpr const char* what = "there must be one bin more than edges, for every column";
        expect(rows.n_classes * (2 * n_bins + 1) < most_places, "there are too many bins");
        return tally_bins(table, rows, shaped(edges, {p}, what), n_bins,
                          shaped(out, {rows.n_classes, p, n_bins}, what));
    });
    m.def("scatter", [](nb::handle X, const Codes& codes, const Weights& weights,
                        const In<double>& centre, const Out<double>& weight,
                        const Out<double, 2>& mean, const Out<double, 2>& products) {
        const Table table = table_of(X);
        const nb::gil_scoped_release unlocked;
        const std::size_t K = weight.size(), p = table.n_columns;
        const Labelled rows = counted(table, codes, weights, K);
        scatter(table, rows, shaped(centre, {p}, of_pairs), weight.data(),
                shaped(mean, {K, p}, of_pairs), shaped(products, {K, p * (p + 1) / 2}, of_pairs));
    });
    m.def("add_scatter",
          [](const Out<double>& weight, const Out<double, 2>& mean, const Out<double, 2>& products,
             const In<double>& its_weight, const In<double, 2>& its_mean,
             const In<double, 2>& its_products, const Offsets& places) {
              const nb::gil_scoped_release unlocked;
              const std::size_t K = weight.size(), n = its_weight.size(), p = mean.shape(1);
              const std::size_t pairs = p * (p + 1) / 2;
              const ScatterArrays<double> sums{weight.data(), shaped(mean, {K}, of_pairs),
                                               shaped(products, {K, pairs}, of_pairs)};
              const ScatterArrays<const double> others{its_weight.data(),
                                                       shaped(its_mean, {n, p}, of_pairs),
                                                       shaped(its_products, {n, pairs}, of_pairs)};
              const std::int64_t* at = shaped(places, {n}, of_pairs);
              expect(std::all_of(at, at + n,
                                 [&](std::int64_t k) { return static_cast<std::uint64_t>(k) < K; }),
                     "a place has no class");
              return add_scatter(sums, others, at, n, p);
          });
}

void bind_hashes(nb::module_& m) {
    m.def("hash_rows", [](nb::handle X, const std::optional<nb::object>& codes,
                          const std::vector<In<std::uint64_t>>& code_hashes,
                          const Out<std::uint64_t>& out) {
        const Table numbers = table_of(X);
        const Table categories = codes ? table_of(*codes) : Table({}, 0);
        expect_rows(numbers, out.size());
        expect_rows(categories, out.size());
        expect(code_hashes.size() == categories.n_columns, "there must be hashes for every column");
        std::vector<Hashes> hashes;
        for (const auto& column : code_hashes) {
            expect(column.size() < most_places, "there are too many categories");
            hashes.push_back({column.data(), column.size()});
        }
        const nb::gil_scoped_release unlocked;
        expect(hash_rows(numbers, categories, hashes, out.size(), out.data()),
               "a code has no category");
    });
    m.def("hash_texts", [](const In<std::uint64_t>& addresses, const Offsets& lengths,
                           const Out<std::uint64_t>& out) {
        const nb::gil_scoped_release unlocked;
        constexpr const char* what = "everything must be equally long";
        const std::size_t n = out.size();
        hash_texts(shaped(addresses, {n}, what), shaped(lengths, {n}, what), n, out.data());
    });
}

// A table, the parameters of its terms by column and class, and where they are added.
struct Terms {
    const Table X;
    const Joint joint;

    Terms(nb::handle source, const Out<double, 2>& out)
        : X(table_of(source)), joint{out.data(), out.shape(0), out.shape(1)} {
        expect_rows(X, joint.n_rows);
    }
    template <class A> const double* operator()(const A& parameters) const {
        return shaped(parameters, {X.n_columns, joint.n_classes},
                      "parameters must be by column and class");
    }
};

void bind_columns(nb::module_& m) {
    m.def(
        "add_students",
        [](nb::handle X, const Parameters& A, const Parameters& B, const Parameters& mu,
           const Parameters& s, const Out<double, 2>& joint, const MaybeParameters& weights) {
            const Terms of(X, joint);
            const nb::gil_scoped_release unlocked;
            return add_students(of.X, of(A), of(B), of(mu), of(s), of.joint, of(weights)) ==
                   Status::ok;
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg("weights") = nb::none());
    m.def(
        "add_quadratics",
        [](nb::handle X, const Parameters& A, const Parameters& B, const Parameters& mu,
           const Out<double, 2>& joint, const MaybeParameters& weights, const MaybeParameters& s) {
            const Terms of(X, joint);
            const nb::gil_scoped_release unlocked;
            return add_quadratics(of.X, of(A), of(B), of(mu), of.joint, of(weights), of(s)) ==
                   Status::ok;
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("weights") = nb::none(),
        nb::arg("s") = nb::none());
    m.def("add_lines", [](nb::handle X, const Parameters& A, const Parameters& B, double lowest,
                          const Out<double, 2>& joint) {
        const Terms of(X, joint);
        const nb::gil_scoped_release unlocked;
        return add_lines(of.X, of(A), of(B), lowest, of.joint) == Status::ok;
    });
    m.def("add_pieces", [](nb::handle X, const In<double, 2>& knots, const In<double, 3>& values,
                           const Out<double, 2>& joint) {
        const Terms of(X, joint);
        const nb::gil_scoped_release unlocked;
        constexpr const char* what = "values must be by column, knot and class";
        const std::size_t p = of.X.n_columns, m = knots.shape(1);
        expect(m > 0 && p * m < most_places, "there must be some knots, but not too many");
        return add_pieces(of.X, m, shaped(knots, {p}, what),
                          shaped(values, {p, m, of.joint.n_classes}, what), of.joint) == Status::ok;
    });
    m.def("add_tables", [](nb::handle X, const Offsets& offsets, const In<double, 2>& values,
                           const Out<double, 2>& joint) {
        const Terms of(X, joint);
        const nb::gil_scoped_release unlocked;
        const std::size_t n = values.shape(0);
        expect(add_tables(
                   of.X, offsets_of(offsets, of.X, n),
                   shaped(values, {n, of.joint.n_classes}, "values must be by category and class"),
                   of.joint),
               "a code has no category");
    });
    m.def("left_out_of_bins", [](nb::handle X, const Codes& codes, const In<double, 2>& cuts,
                                 const In<double, 3>& knots, const In<double, 4>& values,
                                 const Out<double, 2>& out) {
        const Table table = table_of(X);
        const nb::gil_scoped_release unlocked;
        const std::size_t p = table.n_columns, K = values.shape(1), n_bins = knots.shape(2);
        constexpr const char* what = "bins must be by column, and values by class, column and bin";
        expect_rows(table, codes.size());
        expect_classes(codes, K);
        expect(n_bins > 0, "there must be bins");
        left_out_of_bins(
            table, codes.data(),
            {n_bins, K, shaped(cuts, {p, n_bins - 1}, what), shaped(knots, {3, p, n_bins}, what),
             shaped(values, {3, K, p, n_bins}, what)},
            shaped(out, {table.n_rows, p}, "there must be room for every cell"));
    });
}

// --- several cells of a row ----------------------------------------------------------------------

const std::int32_t* pairs_of(const In<std::int32_t, 2>& pairs, std::size_t n_axes) {
    expect(pairs.shape(1) == 2, "a pair has two axes");
    for (std::size_t i = 0; i < pairs.size(); ++i)
        expect(static_cast<std::uint32_t>(pairs.data()[i]) < n_axes, "a pair has no such axis");
    return pairs.data();
}

// Whether the axes of numbers have a bin for every knot, and those of categories the bins they
// name.
void expect_bins(const PairAxes& axes, std::size_t n_numbers, std::size_t n_axes,
                 const std::int32_t* n_bins) {
    for (std::size_t j = 0; j < n_axes; ++j) {
        const bool is_number = j < n_numbers;
        const std::int64_t* at =
            is_number ? axes.knot_offsets + j : axes.bin_offsets + (j - n_numbers);
        if (is_number)
            expect(n_bins[j] == at[1] - at[0], "numbers must have a bin for every knot");
        else
            for (std::int64_t i = at[0]; i < at[1]; ++i)
                expect(axes.bins[i] >= 0 && axes.bins[i] < n_bins[j], "a category has no such bin");
    }
}

void bind_pairs(nb::module_& m) {
    m.def(
        "add_pairs",
        [](nb::handle X, nb::handle C, const In<double>& knots, const Offsets& knot_offsets,
           const In<std::int32_t>& bins, const Offsets& bin_offsets,
           const In<std::int32_t, 2>& pairs, const In<std::int32_t>& n_bins, const Offsets& offsets,
           const In<double, 2>& values, const Out<double, 2>& joint) {
            const Table numbers = table_of(X), codes = table_of(C);
            const nb::gil_scoped_release unlocked;
            const std::size_t n_axes = numbers.n_columns + codes.n_columns, n = joint.shape(0);
            constexpr const char* what = "an axis must have bins, one for every column";
            for (const Table* table : {&numbers, &codes})
                expect(table->n_columns == 0 || table->n_rows == n,
                       "everything must be equally long");
            const PairAxes axes{
                knots.data(), offsets_of(knot_offsets, numbers.n_columns, knots.size(), 1, what),
                bins.data(), offsets_of(bin_offsets, codes.n_columns, bins.size(), 1, what)};
            const PairTables tables{pairs.shape(0), pairs_of(pairs, n_axes),
                                    shaped(n_bins, {n_axes}, what),
                                    offsets_of(offsets, pairs.shape(0), values.shape(0), 0,
                                               "offsets must go from 0 to the number of lines"),
                                    shaped(values, {values.shape(0), joint.shape(1)},
                                           "values must be by line and class")};
            expect_bins(axes, numbers.n_columns, n_axes, tables.n_bins);
            for (std::size_t i = 0; i < tables.n_pairs; ++i)
                expect(tables.offsets[i + 1] - tables.offsets[i] ==
                           std::int64_t{tables.n_bins[tables.axes[2 * i]]} *
                               tables.n_bins[tables.axes[2 * i + 1]],
                       "a table must have all bins");
            return add_pairs(numbers, codes, axes, tables, {joint.data(), n, joint.shape(1)});
        },
        nb::arg(), nb::arg(), nb::arg("knots"), nb::arg("knot_offsets"), nb::arg("bins"),
        nb::arg("bin_offsets"), nb::arg("pairs"), nb::arg("n_bins"), nb::arg("offsets"),
        nb::arg("values"), nb::arg("joint"));
    m.def("judge_pairs", [](const In<std::int32_t, 2>& bins, const In<std::int32_t, 2>& low,
                            const In<double, 2>& share, const In<std::int32_t>& n_bins,
                            const Codes& codes, const In<double>& weight, const In<double, 2>& p,
                            const In<std::int32_t, 2>& pairs, const Out<double>& scores) {
        const nb::gil_scoped_release unlocked;
        const std::size_t d = bins.shape(0), n = bins.shape(1), K = p.shape(1);
        constexpr const char* what = "rows must be by column and row";
        const BinnedRows rows{n,
                              K,
                              bins.data(),
                              shaped(low, {d, n}, what),
                              shaped(share, {d, n}, what),
                              shaped(n_bins, {d}, what),
                              shaped(codes, {n}, what),
                              shaped(weight, {n}, what)};
        expect_classes(codes, K);
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t i = j * n; i < (j + 1) * n; ++i)
                expect(rows.bins[i] >= -1 && rows.bins[i] < rows.n_bins[j] &&
                           rows.low[i] < rows.n_bins[j] &&
                           (rows.bins[i] >= 0) == (rows.low[i] >= 0),
                       "a cell has no bin");
        judge_pairs(rows, shaped(p, {n}, what), pairs.shape(0), pairs_of(pairs, d),
                    shaped(scores, {pairs.shape(0)}, what));
    });
}

void bind_projections(nb::module_& m) {
    m.def("standardize", [](nb::handle X, const In<double>& mean, const In<double>& scale,
                            const Out<double, 2>& out) {
        const Table table = table_of(X);
        const nb::gil_scoped_release unlocked;
        const std::size_t p = table.n_columns;
        constexpr const char* what = "features must be by row and column";
        return standardize(table, shaped(mean, {p}, what), shaped(scale, {p}, what),
                           shaped(out, {table.n_rows, p}, what)) == Status::ok;
    });
    m.def("project", [](const In<double, 2>& f, const In<double, 2>& W, const Out<double, 2>& z) {
        const nb::gil_scoped_release unlocked;
        const std::size_t n = f.shape(0), p = f.shape(1), n_directions = W.shape(1);
        constexpr const char* what = "directions must be by feature";
        project(f.data(), n, p, shaped(W, {p}, what), n_directions,
                shaped(z, {n, n_directions}, what));
    });
    m.def(
        "add_multivariate_students",
        [](const In<double, 2>& f, const In<double>& A, const In<double>& B, const In<double>& s,
           const In<double, 2>& mean, const In<double, 3>& factor, const Out<double, 2>& joint,
           const Weights& weights) {
            const nb::gil_scoped_release unlocked;
            const std::size_t n = joint.shape(0), K = joint.shape(1), p = f.shape(1);
            constexpr const char* what = "parameters must be by class and feature";
            const MultivariateStudents terms{p,
                                             shaped(A, {K}, what),
                                             shaped(B, {K}, what),
                                             shaped(s, {K}, what),
                                             shaped(mean, {K, p}, what),
                                             shaped(factor, {K, p, p}, what),
                                             shaped(weights, {K}, what)};
            add_multivariate_students(shaped(f, {n}, what), terms, {joint.data(), n, K});
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg("weights") = nb::none());
}

// --- what is read off scores ---------------------------------------------------------------------

Want want_of(std::string_view name) {
    if (name == "labels") return Want::label;
    if (name == "log_proba") return Want::log_proba;
    if (name == "proba") return Want::proba;
    expect(name == "evidence", "one can want labels, log_proba, proba or evidence");
    return Want::evidence;
}

Score score_of(std::string_view name) {
    if (name == "log_loss") return Score::log_loss;
    if (name == "accuracy") return Score::hits;
    expect(name == "brier", "one can add log_loss, accuracy or brier");
    return Score::brier;
}

void bind_answers(nb::module_& m) {
    // Writes the `place`-th term of `out`, which is by class, term and row.
    m.def("centre_term", [](const In<double, 2>& values,
                            const nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>& own,
                            const Codes& codes, double floor, std::size_t place,
                            const Out<double, 3>& out) {
        const nb::gil_scoped_release unlocked;
        const std::size_t n = values.shape(0), K = values.shape(1), T = out.shape(1);
        constexpr const char* what = "everything must be equally long";
        expect_classes(codes, K);
        expect(out.shape(0) == K && place < T, "there must be room for the term");
        centre_term(
            {values.data(), shaped(own, {n}, what), own.stride(0), shaped(codes, {n}, what), n, K},
            floor, shaped(out, {K, T, n}, what) + place * n, T * n);
    });
    // Adds the scores of rows by many models: `distance` is by class, row and candidate.
    m.def("add_scores",
          [](const In<double, 3>& distance, const In<double, 2>& offset, const Codes& codes,
             const Weights& weights, std::string_view score, const Out<double>& total) {
              const nb::gil_scoped_release unlocked;
              const std::size_t K = distance.shape(0), n = distance.shape(1), C = distance.shape(2);
              expect(K > 0, "offsets must be by class and candidate");
              const Score wanted = score_of(score);
              const Labelled rows = labelled(codes, weights, n, K);
              add_scores({K, n, C, shaped(offset, {K, C}, "offsets must be by class and candidate"),
                          distance.data()},
                         rows, wanted, shaped(total, {C}, "there must be one total per candidate"));
          });
    m.def("finish", [](const In<double, 2>& joint, std::string_view want, const Answers& out) {
        const nb::gil_scoped_release unlocked;
        const std::size_t n = joint.shape(0), K = joint.shape(1);
        const Output output = output_of(want_of(want), out, n, K);
        expect(K > 0, "there must be a class");
        finish(joint.data(), n, K, output);
    });
}

}  // namespace

void bind_terms(nb::module_& m) {
    bind_tallies(m);
    bind_hashes(m);
    bind_columns(m);
    bind_pairs(m);
    bind_projections(m);
    bind_answers(m);
}

}  // namespace naively
