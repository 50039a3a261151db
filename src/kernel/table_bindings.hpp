// How Python's arrays become the kernel's tables.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "table.hpp"

namespace naively {

using Array = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

inline void expect(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

inline Kind kind_of(const nanobind::dlpack::dtype& type) {
    using nanobind::dlpack::dtype_code;
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

inline std::ptrdiff_t byte_stride(const Array& array, std::size_t axis) {
    return static_cast<std::ptrdiff_t>(array.stride(axis)) *
           static_cast<std::ptrdiff_t>(array.itemsize());
}

// A two-dimensional array, or a list with one array per column.
inline Table table_of(nanobind::handle source) {
    if (!nanobind::isinstance<nanobind::list>(source)) {
        const Array array = nanobind::cast<Array>(source);
        expect(array.ndim() == 2, "the table must have two dimensions");
        return {static_cast<const char*>(array.data()),
                byte_stride(array, 0),
                byte_stride(array, 1),
                kind_of(array.dtype()),
                array.shape(0),
                array.shape(1)};
    }
    std::vector<Line> columns;
    std::size_t n_rows = 0;
    for (nanobind::handle item : nanobind::borrow<nanobind::list>(source)) {
        const Array array = nanobind::cast<Array>(item);
        expect(array.ndim() == 1, "a column must have one dimension");
        expect(columns.empty() || array.shape(0) == n_rows, "columns must be equally long");
        n_rows = array.shape(0);
        columns.push_back({static_cast<const char*>(array.data()), byte_stride(array, 0),
                           kind_of(array.dtype())});
    }
    return {std::move(columns), n_rows};
}

}  // namespace naively
