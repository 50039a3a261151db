// The kernel's face to Python: arrays in, arrays out, the interpreter's lock released.

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "gaussian.hpp"
#include "labels.hpp"
#include "moments.hpp"
#include "registers.hpp"
#include "views.hpp"

namespace naively {

namespace {

// Four arrays in one: weight, mean, m2, rest.
template <class T, class... Config>
MomentsArrays<T> moments_of(const nb::ndarray<T, Config...>& values) {
    expect(values.ndim() >= 1 && values.shape(0) == 4, "moments are weight, mean, m2 and rest");
    const std::size_t n = values.size() / 4;
    return {values.data(), values.data() + n, values.data() + 2 * n, values.data() + 3 * n};
}

template <bool (*combine)(const MomentsView&, const ConstMomentsView&, std::size_t)>
bool combine_into(const Out<double, 0>& a, const In<double, 0>& b) {
    expect(a.size() == b.size(), "moments must have the same shape");
    return combine(moments_of(a), moments_of(b), a.size() / 4);
}

void bind_moments(nb::module_& m) {
    m.def("summarize", [](nb::handle X, const Codes& codes, const Weights& weights,
                          const Out<double>& class_weight, const Out<double, 0>& moments) {
        const Table table = table_of(X);
        const nb::gil_scoped_release unlocked;
        const Labelled rows = labelled(codes, weights, table.n_rows, class_weight.size());
        expect(moments.size() == 4 * rows.n_classes * table.n_columns,
               "moments must be by class and column");
        return summarize(table, rows, class_weight.data(), moments_of(moments)) == Status::ok;
    });
    m.def("add", &combine_into<add>);
    m.def("subtract", &combine_into<subtract>);
    m.def("largest_mean", [](const In<double, 0>& values) {
        return largest_mean(moments_of(values), values.size() / 4);
    });
    m.def("pool", [](const In<double, 0>& values, const Out<double, 0>& out) {
        const std::size_t n_classes = values.ndim() > 1 ? values.shape(1) : 0, n = out.size() / 4;
        expect(values.size() == n_classes * out.size(), "pooled moments must be by column");
        pool(moments_of(values), n_classes, n, moments_of(out));
    });
    m.def("moments_without", [](const In<double, 2>& x, const Codes& codes,
                                const In<double>& weights, const In<double, 3>& values,
                                const Out<double, 0>& out) {
        const std::size_t n = codes.size();
        expect(x.shape(0) == n && weights.size() == n && x.shape(1) == values.shape(2) &&
                   out.size() == 3 * x.size(),
               "moments must be by class and column, cells by row and column");
        expect_classes(codes, values.shape(1));
        double* weight = out.data();
        moments_without({x.data(), codes.data(), weights.data(), n}, moments_of(values), x.shape(1),
                        {weight, weight + x.size(), weight + 2 * x.size(), nullptr});
    });
    m.def("plain_variances",
          [](const In<double, 3>& values, double part, bool by_column, double ddof,
             const Out<double, 2>& variance, const Out<double>& epsilon) {
              const std::size_t K = values.shape(1), p = values.shape(2);
              constexpr const char* what = "variances must be by class and column";
              return plain_variances(moments_of(values), K, p, {part, by_column, ddof},
                                     shaped(variance, {K, p}, what), shaped(epsilon, {p}, what));
          });
    m.def("plain_quadratics", [](const In<double, 2>& mean, const In<double, 2>& variance,
                                 const In<double, 2>& weight, const Out<double, 3>& out) {
        const std::size_t p = out.shape(1), K = out.shape(2), n = p * K;
        constexpr const char* what = "everything must be by class and column";
        expect(out.shape(0) == 3, "the output is A, B and mu");
        return plain_quadratics({shaped(mean, {K, p}, what), shaped(variance, {K, p}, what),
                                 shaped(weight, {K, p}, what)},
                                K, p, out.data(), out.data() + n, out.data() + 2 * n);
    });
}

template <class T> nb::object encode_as(const AnyArray& labels, const Out<std::int32_t>& codes) {
    std::vector<T> distinct;
    {
        const nb::gil_scoped_release unlocked;
        distinct = encode(static_cast<const T*>(labels.data()), labels.size(), codes.data());
    }
    return nb::cast(std::move(distinct));
}

nb::object encode_any(const AnyArray& labels, const Out<std::int32_t>& codes) {
    expect(labels.ndim() == 1 && labels.size() == codes.size(), "there must be one code per label");
    expect(labels.size() < 2 || labels.stride(0) == 1, "labels must be contiguous");
    nb::object distinct;
    with_type(kind_of(labels.dtype()), [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>)
            distinct = encode_as<T>(labels, codes);
        else
            throw std::invalid_argument("labels must be integers");
    });
    return distinct;
}

GaussianModel model_of(const In<double, 2>& A, const In<double, 2>& B, const In<double, 2>& mu,
                       const In<double>& constant, const std::optional<In<double, 2>>& s) {
    const std::size_t p = A.shape(0), K = constant.size();
    const auto by_column = [&](const auto& array) {
        return shaped(array, {p, K}, "parameters must be by column and class");
    };
    return {K, p, by_column(A), by_column(B), by_column(mu), by_column(s), constant.data()};
}

bool answer(const GaussianModel& model, const Table& X, const Output& output) {
    expect(X.n_columns == model.n_columns(), "the table must have the model's columns");
    const nb::gil_scoped_release unlocked;
    return model.score(X, output) == Status::ok;
}

template <Want want> bool answer_all(const GaussianModel& model, nb::handle X, const Answers& out) {
    const Table table = table_of(X);
    return answer(model, table, output_of(want, out, table.n_rows, model.n_classes()));
}

// The index of one row's class, or -1 where the row holds infinity.
std::int64_t label_one(const GaussianModel& model, const In<double>& row) {
    std::int64_t label = 0;
    const Table X(reinterpret_cast<const char*>(row.data()), 0, sizeof(double), Kind::f64, 1,
                  row.size());
    return answer(model, X, {Want::label, &label}) ? label : -1;
}

// Lets scoring and summarizing use registers of at most so many bits; returns what was used before.
int limit_registers(int bits) {
    return std::exchange(register_bits, std::min(bits, widest_registers));
}

}  // namespace

}  // namespace naively

NB_MODULE(_kernel, m) {
    using namespace naively;
    nb::set_leak_warnings(false);  // a model may live until the interpreter ends
    bind_moments(m);
    m.def("encode", &encode_any);
    nb::class_<GaussianModel>(m, "GaussianModel")
        .def(nb::new_(&model_of), nb::arg("A"), nb::arg("B"), nb::arg("mu"), nb::arg("constant"),
             nb::arg("s") = nb::none())
        .def("labels", &answer_all<Want::label>)
        .def("joint", &answer_all<Want::joint>)
        .def("log_proba", &answer_all<Want::log_proba>)
        .def("proba", &answer_all<Want::proba>)
        .def("evidence", &answer_all<Want::evidence>)
        .def("label_one", &label_one);
    // log(gamma(x)) of every number; the lock stays, since the C library keeps a sign beside it.
    m.def("log_gamma", [](const In<double, 0>& x, const Out<double, 0>& out) {
        expect(out.size() == x.size(), "the output must have a place for every number");
        std::transform(x.data(), x.data() + x.size(), out.data(),
                       [](double v) { return std::lgamma(v); });
    });
    m.def("limit_registers", &limit_registers);
    bind_sparse(m);
    bind_stream(m);
    bind_terms(m);
    bind_text(m);
}
