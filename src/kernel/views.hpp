// Python's arrays as the kernel reads and writes them: what all bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "gaussian.hpp"
#include "labels.hpp"
#include "table.hpp"

namespace naively {

namespace nb = nanobind;

// An array of n dimensions, or of any number where n is 0. What is read may be a converted copy.
template <class T, std::size_t n>
using Array = nb::ndarray<T, std::conditional_t<n == 0, nb::c_contig, nb::ndim<n>>, nb::c_contig,
                          nb::device::cpu>;
template <class T, std::size_t n = 1> using In = Array<const T, n>;

// What is written must lie where it is: a converted copy would take it along.
template <class Array> struct InPlace : Array {};
template <class T, std::size_t n = 1> using Out = InPlace<Array<T, n>>;

using Codes = In<std::int32_t>;
using Weights = std::optional<In<double>>;

inline void expect(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// The numbers of an array of this shape; null where there is none.
template <class T, class... Config>
T* shaped(const nb::ndarray<T, Config...>& array, std::initializer_list<std::size_t> shape,
          const char* what) {
    std::size_t axis = 0;
    for (const std::size_t n : shape) expect(array.shape(axis++) == n, what);
    return array.data();
}
template <class A>
auto shaped(const std::optional<A>& array, std::initializer_list<std::size_t> shape,
            const char* what) {
    return array ? shaped(*array, shape, what) : nullptr;
}

inline void expect_classes(const Codes& codes, std::size_t n_classes) {
    expect(codes.size() == 0 || greatest_code(codes.data(), codes.size()) < n_classes,
           "a code has no class");
}

// The classes and weights of some rows.
inline Labelled labelled(const Codes& codes, const Weights& weights, std::size_t n_rows,
                         std::size_t n_classes) {
    constexpr const char* one_each = "everything must be equally long";
    expect_classes(codes, n_classes);
    return {shaped(codes, {n_rows}, one_each), shaped(weights, {n_rows}, one_each), n_classes};
}

// --- tables --------------------------------------------------------------------------------------

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

inline Kind kind_of(const nb::dlpack::dtype& type) {
    using nb::dlpack::dtype_code;
    const auto is = [&](dtype_code code, int bits) {
        return type.code == static_cast<std::uint8_t>(code) && type.bits == bits;
    };
    if (is(dtype_code::Float, 64)) return Kind::f64;
    if (is(dtype_code::Float, 32)) return Kind::f32;
    if (is(dtype_code::Int, 64)) return Kind::i64;
    if (is(dtype_code::Int, 32)) return Kind::i32;
    if (is(dtype_code::Int, 16)) return Kind::i16;
    if (is(dtype_code::Int, 8)) return Kind::i8;
    if (is(dtype_code::UInt, 64)) return Kind::u64;
    if (is(dtype_code::UInt, 32)) return Kind::u32;
    if (is(dtype_code::UInt, 16)) return Kind::u16;
    if (is(dtype_code::UInt, 8)) return Kind::u8;
    if (is(dtype_code::Bool, 8)) return Kind::boolean;
    throw std::invalid_argument("the kernel reads bool, integers, float32 and float64");
}

// Along an axis of an array.
inline Line line_of(const AnyArray& array, std::size_t axis) {
    return {static_cast<const char*>(array.data()),
            static_cast<std::ptrdiff_t>(array.stride(axis)) *
                static_cast<std::ptrdiff_t>(array.itemsize()),
            kind_of(array.dtype())};
}

// A two-dimensional array, or a list with one array per column.
inline Table table_of(nb::handle source) {
    if (!nb::isinstance<nb::list>(source)) {
        const AnyArray array = nb::cast<AnyArray>(source);
        expect(array.ndim() == 2, "the table must have two dimensions");
        const Line column = line_of(array, 0), row = line_of(array, 1);
        return {row.data, column.stride, row.stride, row.kind, array.shape(0), array.shape(1)};
    }
    std::vector<Line> columns;
    std::size_t n_rows = 0;
    for (nb::handle item : nb::borrow<nb::list>(source)) {
        const AnyArray array = nb::cast<AnyArray>(item);
        expect(array.ndim() == 1, "a column must have one dimension");
        expect(columns.empty() || array.shape(0) == n_rows, "columns must be equally long");
        n_rows = array.shape(0);
        columns.push_back(line_of(array, 0));
    }
    return {std::move(columns), n_rows};
}

// A list without columns does not say how many rows it has.
inline void expect_rows(const Table& table, std::size_t n) {
    const bool is_empty = table.n_columns == 0 && table.n_rows == 0;
    expect(is_empty || table.n_rows == n, "everything must be equally long");
}

using Answers = InPlace<nb::ndarray<nb::c_contig, nb::device::cpu>>;

// Where what is wanted of rows goes: labels as int64, numbers as float32 or float64.
inline Output output_of(Want want, const Answers& out, std::size_t n_rows, std::size_t n_classes) {
    const bool one_each = want == Want::label || want == Want::evidence;
    expect(out.size() == n_rows * (one_each ? 1 : n_classes),
           "the output must have a place for every value");
    Output output{want};
    if (want == Want::label) {
        expect(out.dtype() == nb::dtype<std::int64_t>(), "labels must be int64");
        output.labels = static_cast<std::int64_t*>(out.data());
    } else if (out.dtype() == nb::dtype<float>()) {
        output.short_values = static_cast<float*>(out.data());
    } else {
        expect(out.dtype() == nb::dtype<double>(), "the output must be float32 or float64");
        output.values = static_cast<double*>(out.data());
    }
    return output;
}

void bind_sparse(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_terms(nb::module_& m);
void bind_text(nb::module_& m);

}  // namespace naively

namespace nanobind::detail {

template <class Array> struct type_caster<naively::InPlace<Array>> {
    NB_TYPE_CASTER(naively::InPlace<Array>, make_caster<Array>::Name)

    template <class Flags>
    bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        make_caster<Array> caster;
        constexpr auto convert = static_cast<Flags>(cast_flags::convert);
        if (!caster.from_python(source, static_cast<Flags>(flags & ~convert), cleanup))
            return false;
        static_cast<Array&>(value) = caster.value;
        return true;
    }
};

}  // namespace nanobind::detail
