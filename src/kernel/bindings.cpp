// The kernel's face to Python: arrays in, arrays out, the interpreter's lock released.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "gaussian.hpp"
#include "labels.hpp"
#include "moments.hpp"
#include "registers.hpp"
#include "summarize.hpp"
#include "table_bindings.hpp"

namespace nb = nanobind;

namespace {

using naively::Array;
using naively::expect;
using naively::Kind;
using naively::kind_of;
using naively::table_of;
using Doubles = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using ConstDoubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstCodes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Four arrays in one: weight, mean, m2, rest.
template <class T>
naively::MomentsArrays<T> moments_of(const nb::ndarray<T, nb::c_contig, nb::device::cpu>& values) {
    expect(values.ndim() >= 1 && values.shape(0) == 4, "moments are weight, mean, m2 and rest");
    const std::size_t n = values.size() / 4;
    return {values.data(), values.data() + n, values.data() + 2 * n, values.data() + 3 * n};
}

bool summarize(nb::object X, const Codes& codes, const std::optional<ConstDoubles>& weights,
               const Doubles& class_weight, const Doubles& moments) {
    const naively::Table table = table_of(X);
    const std::size_t n_classes = class_weight.size();
    expect(codes.size() == table.n_rows, "there must be one code per row");
    expect(!weights || weights->size() == table.n_rows, "there must be one weight per row");
    expect(moments.size() == 4 * n_classes * table.n_columns,
           "moments must be by class and column");
    const naively::MomentsView out = moments_of<double>(moments);
    nb::gil_scoped_release unlocked;
    expect(codes.size() == 0 || naively::greatest_code(codes.data(), codes.size()) < n_classes,
           "a code has no class");
    return naively::summarize(table, codes.data(), weights ? weights->data() : nullptr, n_classes,
                              class_weight.data(), out) == naively::Status::ok;
}

template <bool (*combine)(const naively::MomentsView&, const naively::ConstMomentsView&,
                          std::size_t)>
bool combine_into(const Doubles& a, const ConstDoubles& b) {
    expect(a.size() == b.size(), "moments must have the same shape");
    return combine(moments_of<double>(a), moments_of<const double>(b), a.size() / 4);
}

double largest_mean(const ConstDoubles& values) {
    return naively::largest_mean(moments_of<const double>(values), values.size() / 4);
}

void pool(const ConstDoubles& values, const Doubles& out) {
    const std::size_t n_classes = values.ndim() > 1 ? values.shape(1) : 0, n = out.size() / 4;
    expect(values.size() == n_classes * out.size(), "pooled moments must be by column");
    naively::pool(moments_of<const double>(values), n_classes, n, moments_of<double>(out));
}

void moments_without(const ConstDoubles& x, const ConstCodes& codes, const ConstDoubles& weights,
                     const ConstDoubles& values, const Doubles& out) {
    const std::size_t n = codes.size();
    expect(values.ndim() == 3 && x.ndim() == 2 && x.shape(0) == n && weights.size() == n &&
               x.shape(1) == values.shape(2) && out.size() == 3 * x.size(),
           "moments must be by class and column, cells by row and column");
    expect(n == 0 || naively::greatest_code(codes.data(), n) < values.shape(1),
           "a code has no class");
    double* weight = out.data();
    naively::moments_without({x.data(), codes.data(), weights.data(), n},
                             moments_of<const double>(values), x.shape(1),
                             {weight, weight + x.size(), weight + 2 * x.size(), nullptr});
}

bool plain_variances(const ConstDoubles& values, double part, bool by_column, double ddof,
                     const Doubles& variance, const Doubles& epsilon) {
    expect(values.ndim() == 3, "moments must be by class and column");
    const std::size_t n_classes = values.shape(1), n_columns = values.shape(2);
    expect(variance.size() == n_classes * n_columns && epsilon.size() == n_columns,
           "variances must be by class and column");
    return naively::plain_variances(moments_of<const double>(values), n_classes, n_columns,
                                    {part, by_column, ddof}, variance.data(), epsilon.data());
}

bool plain_quadratics(const ConstDoubles& mean, const ConstDoubles& variance,
                      const ConstDoubles& weight, const Doubles& out) {
    expect(out.ndim() == 3 && out.shape(0) == 3, "the output is A, B and mu");
    const std::size_t n = out.size() / 3;
    for (const ConstDoubles* given : {&mean, &variance, &weight})
        expect(given->size() == n, "everything must be by class and column");
    return naively::plain_quadratics({mean.data(), variance.data(), weight.data()}, out.shape(2),
                                     out.shape(1), out.data(), out.data() + n, out.data() + 2 * n);
}

template <class T> std::vector<T> encode(const Array& labels, const Codes& codes) {
    const T* values = static_cast<const T*>(labels.data());
    nb::gil_scoped_release unlocked;
    return naively::encode(values, labels.size(), codes.data());
}

nb::object encode_any(const Array& labels, const Codes& codes) {
    expect(labels.ndim() == 1 && labels.size() == codes.size(), "there must be one code per label");
    expect(labels.size() < 2 || labels.stride(0) == 1, "labels must be contiguous");
    switch (kind_of(labels.dtype())) {
        case Kind::i64: return nb::cast(encode<std::int64_t>(labels, codes));
        case Kind::i32: return nb::cast(encode<std::int32_t>(labels, codes));
        case Kind::i16: return nb::cast(encode<std::int16_t>(labels, codes));
        case Kind::i8: return nb::cast(encode<std::int8_t>(labels, codes));
        case Kind::u64: return nb::cast(encode<std::uint64_t>(labels, codes));
        case Kind::u32: return nb::cast(encode<std::uint32_t>(labels, codes));
        case Kind::u16: return nb::cast(encode<std::uint16_t>(labels, codes));
        case Kind::u8:
        case Kind::boolean: return nb::cast(encode<std::uint8_t>(labels, codes));
        default: throw std::invalid_argument("labels must be integers");
    }
}

naively::GaussianModel make_model(const ConstDoubles& A, const ConstDoubles& B,
                                  const ConstDoubles& mu, const ConstDoubles& constant,
                                  const std::optional<ConstDoubles>& s) {
    const std::size_t K = constant.size();
    for (const ConstDoubles* given : {&A, &B, &mu, s ? &*s : &A})
        expect(given->ndim() == 2 && given->shape(0) == A.shape(0) && given->shape(1) == K,
               "parameters must be by column and class");
    return {K, A.shape(0), A.data(), B.data(), mu.data(), s ? s->data() : nullptr, constant.data()};
}

bool score(const naively::GaussianModel& model, const naively::Table& table,
           const naively::Output& output) {
    expect(table.n_columns == model.n_columns(), "the table must have the model's columns");
    nb::gil_scoped_release unlocked;
    return model.score(table, output) == naively::Status::ok;
}

bool score_labels(const naively::GaussianModel& model, nb::object X,
                  const nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig>& out) {
    const naively::Table table = table_of(X);
    expect(out.size() == table.n_rows, "there must be one label per row");
    return score(model, table, {naively::Want::label, out.data()});
}

template <naively::Want want>
bool score_values(const naively::GaussianModel& model, nb::object X,
                  const nb::ndarray<nb::c_contig, nb::device::cpu>& out) {
    const naively::Table table = table_of(X);
    const std::size_t per_row = want == naively::Want::evidence ? 1 : model.n_classes();
    expect(out.size() == table.n_rows * per_row, "the output must have a place for every value");
    naively::Output output{want};
    if (out.dtype() == nb::dtype<double>())
        output.values = static_cast<double*>(out.data());
    else if (out.dtype() == nb::dtype<float>())
        output.short_values = static_cast<float*>(out.data());
    else
        throw std::invalid_argument("the output must be float32 or float64");
    return score(model, table, output);
}

naively::Table one_row(const ConstDoubles& row) {
    return {reinterpret_cast<const char*>(row.data()), 0, sizeof(double), Kind::f64, 1, row.size()};
}

// The index of one row's class, or -1 where the row holds infinity.
std::int64_t score_one(const naively::GaussianModel& model, const ConstDoubles& row) {
    std::int64_t label = 0;
    expect(row.size() == model.n_columns(), "the row must have the model's columns");
    return model.score(one_row(row), {naively::Want::label, &label}) == naively::Status::ok ? label
                                                                                            : -1;
}

// log(gamma(x)) of every number; the lock stays, since the C library keeps a sign beside it.
void log_gamma(const ConstDoubles& x, const Doubles& out) {
    expect(out.size() == x.size(), "the output must have a place for every number");
    std::transform(x.data(), x.data() + x.size(), out.data(),
                   [](double v) { return std::lgamma(v); });
}

// Lets scoring and summarizing use registers of at most so many bits; returns what was used before.
int limit_registers(int bits) {
    const int before = naively::register_bits;
    naively::register_bits = std::min(bits, naively::widest_registers);
    return before;
}

}  // namespace

void bind_csv(nb::module_& m);
void bind_interactions(nb::module_& m);
void bind_terms(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_text(nb::module_& m);
void bind_tokens(nb::module_& m);

NB_MODULE(_kernel, m) {
    using naively::Want;
    nb::set_leak_warnings(false);  // a model may live until the interpreter ends
    m.def("summarize", &summarize, nb::arg("X"), nb::arg("codes"), nb::arg("weights").none(),
          nb::arg("class_weight").noconvert(), nb::arg("moments").noconvert());
    m.def("add", &combine_into<naively::add>, nb::arg("a").noconvert(), nb::arg("b").noconvert());
    m.def("subtract", &combine_into<naively::subtract>, nb::arg("a").noconvert(),
          nb::arg("b").noconvert());
    m.def("largest_mean", &largest_mean, nb::arg("values"));
    m.def("pool", &pool, nb::arg("values"), nb::arg("out").noconvert());
    m.def("moments_without", &moments_without, nb::arg("x"), nb::arg("codes"), nb::arg("weights"),
          nb::arg("values"), nb::arg("out").noconvert());
    m.def("plain_variances", &plain_variances, nb::arg("values"), nb::arg("part"),
          nb::arg("by_column"), nb::arg("ddof"), nb::arg("variance").noconvert(),
          nb::arg("epsilon").noconvert());
    m.def("plain_quadratics", &plain_quadratics, nb::arg("mean"), nb::arg("variance"),
          nb::arg("weight"), nb::arg("out").noconvert());
    m.def("log_gamma", &log_gamma, nb::arg("x"), nb::arg("out").noconvert());
    m.def("limit_registers", &limit_registers, nb::arg("bits"));
    m.def("encode", &encode_any, nb::arg("labels"), nb::arg("codes").noconvert());
    nb::class_<naively::GaussianModel>(m, "GaussianModel")
        .def(nb::new_(&make_model), nb::arg("A"), nb::arg("B"), nb::arg("mu"), nb::arg("constant"),
             nb::arg("s") = nb::none())
        .def("labels", &score_labels, nb::arg("X"), nb::arg("out").noconvert())
        .def("joint", &score_values<Want::joint>, nb::arg("X"), nb::arg("out").noconvert())
        .def("log_proba", &score_values<Want::log_proba>, nb::arg("X"), nb::arg("out").noconvert())
        .def("proba", &score_values<Want::proba>, nb::arg("X"), nb::arg("out").noconvert())
        .def("evidence", &score_values<Want::evidence>, nb::arg("X"), nb::arg("out").noconvert())
        .def("label_one", &score_one, nb::arg("row"));
    bind_csv(m);
    bind_interactions(m);
    bind_terms(m);
    bind_sparse(m);
    bind_stream(m);
    bind_text(m);
    bind_tokens(m);
}
