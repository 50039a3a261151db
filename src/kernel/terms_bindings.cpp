// Counting, hashing and scoring of mixed columns: their face to Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "hash.hpp"
#include "table_bindings.hpp"
#include "tally.hpp"
#include "terms.hpp"

namespace nb = nanobind;

namespace {

using naively::expect;
using naively::Status;
using naively::table_of;
template <class T, std::size_t n>
using Plain = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
template <std::size_t n> using Doubles = Plain<double, n>;
template <std::size_t n> using ConstDoubles = Plain<const double, n>;
using Codes = Plain<const std::int32_t, 1>;
using Offsets = Plain<const std::int64_t, 1>;
using HashArray = Plain<const std::uint64_t, 1>;
using Parameters = const ConstDoubles<2>&;

constexpr std::size_t most_places = std::numeric_limits<std::int32_t>::max();

void expect_classes(const Codes& codes, std::size_t n_classes) {
    std::uint32_t greatest = 0;  // a negative code would be the greatest of all
    for (std::size_t i = 0; i < codes.size(); ++i)
        greatest = std::max(greatest, static_cast<std::uint32_t>(codes.data()[i]));
    expect(codes.size() == 0 || greatest < n_classes, "a code has no class");
}

// A list without columns does not say how many rows it has.
void expect_rows(const naively::Table& table, std::size_t n) {
    const bool is_empty = table.n_columns == 0 && table.n_rows == 0;
    expect(is_empty || table.n_rows == n, "everything must be equally long");
}

void expect_offsets(const Offsets& offsets, std::size_t n_columns, std::size_t total) {
    const std::int64_t* begin = offsets.data();
    expect(offsets.size() == n_columns + 1, "there must be one offset more than columns");
    expect(begin[0] == 0 && std::is_sorted(begin, begin + offsets.size()) &&
               static_cast<std::size_t>(begin[n_columns]) == total && total < most_places,
           "offsets must go from 0 to the number of categories");
}

naively::Labelled labelled(const Codes& codes, const std::optional<ConstDoubles<1>>& weights,
                           std::size_t n_classes) {
    expect(!weights || weights->size() == codes.size(), "there must be one weight per row");
    expect(codes.size() < std::numeric_limits<std::uint32_t>::max(), "there are too many rows");
    return {codes.data(), weights ? weights->data() : nullptr, n_classes};
}

void tally(nb::object X, const Codes& y_codes, const std::optional<ConstDoubles<1>>& weights,
           const Offsets& offsets, const Doubles<2>& out) {
    const naively::Table table = table_of(X);
    const naively::Labelled rows = labelled(y_codes, weights, out.shape(0));
    expect_rows(table, y_codes.size());
    expect_offsets(offsets, table.n_columns, out.shape(1));
    nb::gil_scoped_release unlocked;
    expect_classes(y_codes, rows.n_classes);
    expect(naively::tally(table, rows, offsets.data(), out.data()), "a code has no category");
}

bool tally_bins(nb::object X, const Codes& y_codes, const std::optional<ConstDoubles<1>>& weights,
                const ConstDoubles<2>& edges, const Doubles<3>& out) {
    const naively::Table table = table_of(X);
    const naively::Labelled rows = labelled(y_codes, weights, out.shape(0));
    expect_rows(table, y_codes.size());
    expect(edges.shape(0) == table.n_columns && out.shape(1) == table.n_columns &&
               out.shape(2) == edges.shape(1) + 1,
           "there must be one bin more than edges, for every column");
    expect(rows.n_classes * (2 * out.shape(2) + 1) < most_places, "there are too many bins");
    nb::gil_scoped_release unlocked;
    expect_classes(y_codes, rows.n_classes);
    return naively::tally_bins(table, rows, edges.data(), out.shape(2), out.data());
}

void scatter(nb::object X, const Codes& y_codes, const std::optional<ConstDoubles<1>>& weights,
             const ConstDoubles<1>& centre, const Doubles<1>& weight, const Doubles<2>& mean,
             const Doubles<2>& products) {
    const naively::Table table = table_of(X);
    const naively::Labelled rows = labelled(y_codes, weights, weight.size());
    const std::size_t p = table.n_columns;
    expect_rows(table, y_codes.size());
    expect(centre.size() == p && mean.shape(0) == weight.size() && mean.shape(1) == p &&
               products.shape(0) == weight.size() && products.shape(1) == p * (p + 1) / 2,
           "there must be a mean for every column, and a product for every pair");
    nb::gil_scoped_release unlocked;
    expect_classes(y_codes, rows.n_classes);
    naively::scatter(table, rows, centre.data(), weight.data(), mean.data(), products.data());
}

bool add_scatter(const Doubles<1>& weight, const Doubles<2>& mean, const Doubles<2>& products,
                 const ConstDoubles<1>& its_weight, const ConstDoubles<2>& its_mean,
                 const ConstDoubles<2>& its_products, const Offsets& places) {
    const std::size_t K = weight.size(), n = its_weight.size(), p = mean.shape(1);
    expect(mean.shape(0) == K && products.shape(0) == K && its_mean.shape(0) == n &&
               its_products.shape(0) == n && its_mean.shape(1) == p &&
               products.shape(1) == p * (p + 1) / 2 && its_products.shape(1) == products.shape(1) &&
               places.size() == n,
           "there must be a mean for every column, and a product for every pair");
    expect(
        std::all_of(places.data(), places.data() + n,
                    [&](std::int64_t at) { return at >= 0 && at < static_cast<std::int64_t>(K); }),
        "a place has no class");
    nb::gil_scoped_release unlocked;
    return naively::add_scatter({weight.data(), mean.data(), products.data()},
                                {its_weight.data(), its_mean.data(), its_products.data()},
                                places.data(), n, p);
}

void hash_rows(nb::object X, nb::object codes, const std::vector<HashArray>& code_hashes,
               const Plain<std::uint64_t, 1>& out) {
    const naively::Table numbers = table_of(X);
    const naively::Table categories = codes.is_none() ? naively::Table({}, 0) : table_of(codes);
    const std::size_t n = out.size();
    expect_rows(numbers, n);
    expect_rows(categories, n);
    expect(code_hashes.size() == categories.n_columns, "there must be hashes for every column");
    std::vector<naively::Hashes> hashes;
    for (const HashArray& column : code_hashes) {
        expect(column.size() < most_places, "there are too many categories");
        hashes.push_back({column.data(), column.size()});
    }
    nb::gil_scoped_release unlocked;
    expect(naively::hash_rows(numbers, categories, hashes, n, out.data()),
           "a code has no category");
}

void hash_texts(const HashArray& addresses, const Offsets& lengths,
                const Plain<std::uint64_t, 1>& out) {
    const std::size_t n = out.size();
    expect(addresses.size() == n && lengths.size() == n, "everything must be equally long");
    nb::gil_scoped_release unlocked;
    naively::hash_texts(addresses.data(), lengths.data(), n, out.data());
}

naively::Joint joint_of(const naively::Table& table, const Doubles<2>& joint) {
    expect_rows(table, joint.shape(0));
    return {joint.data(), joint.shape(0), joint.shape(1)};
}

void expect_parameters(Parameters given, const naively::Table& table, const Doubles<2>& joint) {
    expect(given.shape(0) == table.n_columns && given.shape(1) == joint.shape(1),
           "parameters must be by column and class");
}

using Weights = std::optional<ConstDoubles<2>>;

const double* weights_of(const Weights& weights, const naively::Table& table,
                         const Doubles<2>& joint) {
    if (!weights) return nullptr;
    expect_parameters(*weights, table, joint);
    return weights->data();
}

bool add_students(nb::object X, Parameters A, Parameters B, Parameters mu, Parameters s,
                  const Doubles<2>& joint, const Weights& weights) {
    const naively::Table table = table_of(X);
    for (const auto* given : {&A, &B, &mu, &s}) expect_parameters(*given, table, joint);
    const naively::Joint target = joint_of(table, joint);
    const double* w = weights_of(weights, table, joint);
    nb::gil_scoped_release unlocked;
    return naively::add_students(table, A.data(), B.data(), mu.data(), s.data(), target, w) ==
           Status::ok;
}

bool add_quadratics(nb::object X, Parameters A, Parameters B, Parameters mu,
                    const Doubles<2>& joint, const Weights& weights, const Weights& s) {
    const naively::Table table = table_of(X);
    for (const auto* given : {&A, &B, &mu}) expect_parameters(*given, table, joint);
    const naively::Joint target = joint_of(table, joint);
    const double* w = weights_of(weights, table, joint);
    const double* scale = weights_of(s, table, joint);
    nb::gil_scoped_release unlocked;
    return naively::add_quadratics(table, A.data(), B.data(), mu.data(), target, w, scale) ==
           Status::ok;
}

bool add_lines(nb::object X, Parameters A, Parameters B, double lowest, const Doubles<2>& joint) {
    const naively::Table table = table_of(X);
    for (const auto* given : {&A, &B}) expect_parameters(*given, table, joint);
    const naively::Joint target = joint_of(table, joint);
    nb::gil_scoped_release unlocked;
    return naively::add_lines(table, A.data(), B.data(), lowest, target) == Status::ok;
}

bool add_pieces(nb::object X, const ConstDoubles<2>& knots, const ConstDoubles<3>& values,
                const Doubles<2>& joint) {
    const naively::Table table = table_of(X);
    const std::size_t m = knots.shape(1);
    expect(knots.shape(0) == table.n_columns && values.shape(0) == table.n_columns &&
               values.shape(1) == m && values.shape(2) == joint.shape(1),
           "values must be by column, knot and class");
    expect(m > 0 && table.n_columns * m < most_places,
           "there must be some knots, but not too many");
    const naively::Joint target = joint_of(table, joint);
    nb::gil_scoped_release unlocked;
    return naively::add_pieces(table, m, knots.data(), values.data(), target) == Status::ok;
}

void left_out_of_bins(nb::object X, const Codes& codes, const ConstDoubles<2>& cuts,
                      const ConstDoubles<3>& knots, const ConstDoubles<4>& values,
                      const Doubles<2>& out) {
    const naively::Table table = table_of(X);
    const std::size_t n_columns = table.n_columns, n_bins = knots.shape(2);
    expect_rows(table, codes.size());
    expect(out.shape(0) == table.n_rows && out.shape(1) == n_columns,
           "there must be room for every cell");
    expect(knots.shape(0) == 3 && knots.shape(1) == n_columns && n_bins > 0 &&
               cuts.shape(0) == n_columns && cuts.shape(1) == n_bins - 1,
           "bins must be by column");
    expect(values.shape(0) == 3 && values.shape(2) == n_columns && values.shape(3) == n_bins,
           "values must be by class, column and bin");
    nb::gil_scoped_release unlocked;
    expect_classes(codes, values.shape(1));
    naively::left_out_of_bins(table, codes.data(),
                              {n_bins, values.shape(1), cuts.data(), knots.data(), values.data()},
                              out.data());
}

void add_tables(nb::object X, const Offsets& offsets, const ConstDoubles<2>& values,
                const Doubles<2>& joint) {
    const naively::Table table = table_of(X);
    expect_offsets(offsets, table.n_columns, values.shape(0));
    expect(values.shape(1) == joint.shape(1), "values must be by category and class");
    const naively::Joint target = joint_of(table, joint);
    nb::gil_scoped_release unlocked;
    expect(naively::add_tables(table, offsets.data(), values.data(), target),
           "a code has no category");
}

// Writes the `place`-th term of `out`, which is by class, term and row.
void centre_term(const ConstDoubles<2>& values,
                 const nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>& own,
                 const Codes& codes, double floor, std::size_t place, const Doubles<3>& out) {
    const std::size_t n = values.shape(0), n_classes = values.shape(1);
    expect(own.size() == n && codes.size() == n && out.shape(2) == n,
           "everything must be equally long");
    expect(out.shape(0) == n_classes && place < out.shape(1), "there must be room for the term");
    nb::gil_scoped_release unlocked;
    expect_classes(codes, n_classes);
    naively::centre_term({values.data(), own.data(), own.stride(0), codes.data(), n, n_classes},
                         floor, out.data() + place * n, out.shape(1) * n);
}

naively::Want want_of(std::string_view name) {
    if (name == "labels") return naively::Want::label;
    if (name == "log_proba") return naively::Want::log_proba;
    if (name == "proba") return naively::Want::proba;
    expect(name == "evidence", "one can want labels, log_proba, proba or evidence");
    return naively::Want::evidence;
}

void finish(const ConstDoubles<2>& joint, std::string_view want,
            const nb::ndarray<nb::c_contig, nb::device::cpu>& out) {
    naively::Output output{want_of(want)};
    const bool one_each =
        output.want == naively::Want::label || output.want == naively::Want::evidence;
    expect(out.size() == joint.shape(0) * (one_each ? 1 : joint.shape(1)),
           "the output must have a place for every value");
    expect(joint.shape(1) > 0, "there must be a class");
    if (output.want == naively::Want::label) {
        expect(out.dtype() == nb::dtype<std::int64_t>(), "labels must be int64");
        output.labels = static_cast<std::int64_t*>(out.data());
    } else if (out.dtype() == nb::dtype<float>()) {
        output.short_values = static_cast<float*>(out.data());
    } else {
        expect(out.dtype() == nb::dtype<double>(), "the output must be float32 or float64");
        output.values = static_cast<double*>(out.data());
    }
    nb::gil_scoped_release unlocked;
    naively::finish(joint.data(), joint.shape(0), joint.shape(1), output);
}

naively::Score score_of(std::string_view name) {
    if (name == "log_loss") return naively::Score::log_loss;
    if (name == "accuracy") return naively::Score::hits;
    expect(name == "brier", "one can add log_loss, accuracy or brier");
    return naively::Score::brier;
}

// Adds the scores of rows by many models: `distance` is by class, row and candidate.
void add_scores(const ConstDoubles<3>& distance, const ConstDoubles<2>& offset, const Codes& codes,
                const std::optional<ConstDoubles<1>>& weights, std::string_view score,
                const Doubles<1>& total) {
    const std::size_t n_classes = distance.shape(0), n = distance.shape(1), C = distance.shape(2);
    expect(n_classes > 0 && offset.shape(0) == n_classes && offset.shape(1) == C,
           "offsets must be by class and candidate");
    expect(codes.size() == n && (!weights || weights->size() == n), "codes must be by row");
    expect(total.size() == C, "there must be one total per candidate");
    const naively::Score wanted = score_of(score);
    nb::gil_scoped_release unlocked;
    expect_classes(codes, n_classes);
    naively::add_scores({n_classes, n, C, offset.data(), distance.data()}, codes.data(),
                        weights ? weights->data() : nullptr, wanted, total.data());
}

}  // namespace

void bind_terms(nb::module_& m) {
    const auto X = nb::arg("X");
    const auto joint = nb::arg("joint").noconvert();
    const auto out = nb::arg("out").noconvert();
    m.def("tally", &tally, X, nb::arg("y_codes"), nb::arg("weights").none(), nb::arg("offsets"),
          out);
    m.def("tally_bins", &tally_bins, X, nb::arg("y_codes"), nb::arg("weights").none(),
          nb::arg("edges"), out);
    m.def("scatter", &scatter, X, nb::arg("y_codes"), nb::arg("weights").none(), nb::arg("centre"),
          nb::arg("weight").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("products").noconvert());
    m.def("add_scatter", &add_scatter, nb::arg("weight").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("products").noconvert(), nb::arg("its_weight"), nb::arg("its_mean"),
          nb::arg("its_products"), nb::arg("places"));
    m.def("hash_rows", &hash_rows, X, nb::arg("codes").none(), nb::arg("code_hashes"), out);
    m.def("hash_texts", &hash_texts, nb::arg("addresses"), nb::arg("lengths"), out);
    m.def("add_students", &add_students, X, nb::arg("A"), nb::arg("B"), nb::arg("mu"), nb::arg("s"),
          joint, nb::arg("weights") = nb::none());
    m.def("add_quadratics", &add_quadratics, X, nb::arg("A"), nb::arg("B"), nb::arg("mu"), joint,
          nb::arg("weights") = nb::none(), nb::arg("s") = nb::none());
    m.def("add_lines", &add_lines, X, nb::arg("A"), nb::arg("B"), nb::arg("lowest"), joint);
    m.def("add_pieces", &add_pieces, X, nb::arg("knots"), nb::arg("values"), joint);
    m.def("add_tables", &add_tables, X, nb::arg("offsets"), nb::arg("values"), joint);
    m.def("left_out_of_bins", &left_out_of_bins, X, nb::arg("codes"), nb::arg("cuts"),
          nb::arg("knots"), nb::arg("values"), out);
    m.def("centre_term", &centre_term, nb::arg("values"), nb::arg("own"), nb::arg("codes"),
          nb::arg("floor"), nb::arg("place"), out);
    m.def("add_scores", &add_scores, nb::arg("distance"), nb::arg("offset"), nb::arg("codes"),
          nb::arg("weights").none(), nb::arg("score"), nb::arg("total").noconvert());
    m.def("finish", &finish, nb::arg("joint"), nb::arg("want"), out);
}
