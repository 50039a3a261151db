// The CSV reader's face to Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string_view>

#include "csv.hpp"

namespace nb = nanobind;

namespace {

using Text = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void expect(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

std::string_view view(const Text& text) {
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::size_t count_lines(const Text& text) {
    const std::string_view content = view(text);
    nb::gil_scoped_release unlocked;
    return naively::count_lines(content);
}

// Where the first and the last record end, and whether a quote is open at the end.
nb::tuple record_ends(const Text& text, char separator) {
    const std::string_view content = view(text);
    naively::RecordEnds ends;
    {
        nb::gil_scoped_release unlocked;
        ends = naively::find_record_ends(content, separator);
    }
    return nb::make_tuple(ends.first, ends.last, ends.is_open);
}

// The number of rows and their labels, or None where the block is not plain.
nb::object parse_csv(const Text& text, char separator, const Text& cells,
                     const std::vector<nb::bytes>& missing, const Values& values,
                     const Codes& codes) {
    const naively::CsvBlock block{view(text), separator};
    std::size_t numbers = 0, labels = 0;
    for (std::size_t j = 0; j < cells.size(); ++j) {
        expect(cells.data()[j] <= 2, "a cell is skipped, a number or a label");
        numbers += cells.data()[j] == 1;
        labels += cells.data()[j] == 2;
    }
    const std::size_t lines = count_lines(text);
    expect(values.shape(0) == numbers && (numbers == 0 || values.shape(1) >= lines),
           "there must be a place for every number");
    expect(labels == 0 || codes.size() >= lines, "there must be a place for every code");
    naively::CsvColumns columns{
        reinterpret_cast<const naively::Cell*>(cells.data()), cells.size(), {}};
    for (const nb::bytes& word : missing) columns.missing.emplace_back(word.c_str(), word.size());
    naively::CsvRows rows{values.data(), values.shape(1), codes.data(), {}};
    std::size_t count = 0;
    {
        nb::gil_scoped_release unlocked;
        count = naively::parse(block, columns, rows);
    }
    if (count == naively::not_plain) return nb::none();
    nb::list found;
    for (const std::string_view label : rows.labels)
        found.append(nb::bytes(label.data(), label.size()));
    return nb::make_tuple(count, found);
}

}  // namespace

void bind_csv(nb::module_& m) {
    m.def("count_lines", &count_lines, nb::arg("text"));
    m.def("record_ends", &record_ends, nb::arg("text"), nb::arg("separator"));
    m.def("parse_csv", &parse_csv, nb::arg("text"), nb::arg("separator"), nb::arg("cells"),
          nb::arg("missing"), nb::arg("values").noconvert(), nb::arg("codes").noconvert());
}
