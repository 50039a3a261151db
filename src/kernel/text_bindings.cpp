// Text becomes codes, in the order of first appearance: Python's objects, and NumPy's fixed width.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "labels.hpp"
#include "table_bindings.hpp"

namespace nb = nanobind;

namespace {

using naively::Distinct;
using naively::expect;
using Codes = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Fixed = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

bool is_missing(PyObject* cell) {
    if (cell == Py_None) return true;
    if (!PyFloat_CheckExact(cell)) return false;
    const double number = PyFloat_AS_DOUBLE(cell);
    return number != number;
}

// Writes the code of each text, and -1 for None and NaN. Returns where each distinct text first
// appeared, or nothing where a cell is something else.
std::optional<std::vector<std::size_t>> encode_text(const nb::list& cells, const Codes& codes) {
    const std::size_t n = cells.size();
    expect(codes.size() == n, "there must be one code per cell");
    Distinct distinct;
    for (std::size_t i = 0; i < n; ++i) {
        PyObject* cell = PyList_GET_ITEM(cells.ptr(), static_cast<Py_ssize_t>(i));
        if (!PyUnicode_CheckExact(cell)) {
            if (!is_missing(cell)) return std::nullopt;
            codes.data()[i] = -1;
            continue;
        }
        const auto hash = static_cast<std::uint64_t>(PyObject_Hash(cell));
        codes.data()[i] = distinct.code(i, hash, [&](std::size_t j) {
            PyObject* other = PyList_GET_ITEM(cells.ptr(), static_cast<Py_ssize_t>(j));
            return cell == other || PyUnicode_Compare(cell, other) == 0;
        });
    }
    return distinct.first();
}

// Writes the code of each row of characters, and returns where each distinct one first appeared.
std::vector<std::size_t> encode_fixed(const Fixed& texts, const Codes& codes) {
    const std::size_t n = texts.shape(0), width = texts.shape(1);
    expect(codes.size() == n, "there must be one code per text");
    nb::gil_scoped_release unlocked;
    Distinct distinct;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t* text = texts.data() + i * width;
        std::uint64_t hash = width;
        for (std::size_t c = 0; c < width; ++c) {
            hash = (hash ^ text[c]) * 0xD6E8FEB86659FD93;
            hash ^= hash >> 32;
        }
        codes.data()[i] = distinct.code(i, hash, [&](std::size_t j) {
            return std::memcmp(text, texts.data() + j * width, 4 * width) == 0;
        });
    }
    return distinct.first();
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("encode_text", &encode_text, nb::arg("cells"), nb::arg("codes").noconvert());
    m.def("encode_fixed", &encode_fixed, nb::arg("texts"), nb::arg("codes").noconvert());
}
