// Texts, tokens and CSV: their face to Python.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "csv.hpp"
#include "tokens_count.hpp"
#include "views.hpp"

namespace naively {

namespace {

using Bytes = In<std::uint8_t>;
using Offsets = In<std::int64_t>;

// --- texts become codes, in the order of first appearance ---------------------------------------

bool is_missing(PyObject* cell) {
    if (cell == Py_None) return true;
    if (!PyFloat_CheckExact(cell)) return false;
    const double number = PyFloat_AS_DOUBLE(cell);
    return number != number;
}

// Writes the code of each text, and -1 for None and NaN. Returns where each distinct text first
// appeared, or nothing where a cell is something else.
std::optional<std::vector<std::size_t>> encode_text(const nb::list& cells,
                                                    const Out<std::int32_t>& codes) {
    const std::size_t n = cells.size();
    std::int32_t* out = shaped(codes, {n}, "there must be one code per cell");
    Distinct distinct;
    for (std::size_t i = 0; i < n; ++i) {
        PyObject* cell = PyList_GET_ITEM(cells.ptr(), static_cast<Py_ssize_t>(i));
        if (!PyUnicode_CheckExact(cell)) {
            if (!is_missing(cell)) return std::nullopt;
            out[i] = -1;
            continue;
        }
        out[i] =
            distinct.code(i, static_cast<std::uint64_t>(PyObject_Hash(cell)), [&](std::size_t j) {
                PyObject* other = PyList_GET_ITEM(cells.ptr(), static_cast<Py_ssize_t>(j));
                return cell == other || PyUnicode_Compare(cell, other) == 0;
            });
    }
    return distinct.first();
}

// Writes the code of each row of characters, and returns where each distinct one first appeared.
std::vector<std::size_t> encode_fixed(const In<std::uint32_t, 2>& texts,
                                      const Out<std::int32_t>& codes) {
    const std::size_t n = texts.shape(0), width = texts.shape(1);
    std::int32_t* out = shaped(codes, {n}, "there must be one code per text");
    const nb::gil_scoped_release unlocked;
    Distinct distinct;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t* text = texts.data() + i * width;
        std::uint64_t hash = width;
        for (std::size_t c = 0; c < width; ++c) {
            hash = (hash ^ text[c]) * 0xD6E8FEB86659FD93;
            hash ^= hash >> 32;
        }
        out[i] = distinct.code(i, hash, [&](std::size_t j) {
            return std::memcmp(text, texts.data() + j * width, 4 * width) == 0;
        });
    }
    return distinct.first();
}

// Where texts of Python lie in memory, and those that had to be encoded. Returns the row of the
// first cell that is neither text nor None, or -1.
nb::tuple text_addresses(const nb::list& cells, const Out<std::uint64_t>& addresses,
                         const Out<std::int64_t>& lengths) {
    const std::size_t n = cells.size();
    constexpr const char* what = "there must be a place for every text";
    std::uint64_t* address = shaped(addresses, {n}, what);
    std::int64_t* length = shaped(lengths, {n}, what);
    nb::list encoded;
    const auto put = [&](std::size_t i, const void* at, Py_ssize_t size) {
        address[i] = reinterpret_cast<std::uint64_t>(at);
        length[i] = static_cast<std::int64_t>(size);
    };
    for (std::size_t i = 0; i < n; ++i) {
        PyObject* cell = PyList_GET_ITEM(cells.ptr(), static_cast<Py_ssize_t>(i));
        if (cell == Py_None) {
            put(i, nullptr, -1);
        } else if (!PyUnicode_Check(cell)) {
            return nb::make_tuple(i, encoded);
        } else if (PyUnicode_IS_ASCII(cell)) {
            put(i, PyUnicode_DATA(cell), PyUnicode_GET_LENGTH(cell));
        } else {  // halves of surrogate pairs are found by the tokenizer
            PyObject* bytes = PyUnicode_AsEncodedString(cell, "utf-8", "surrogatepass");
            if (!bytes) nb::raise_python_error();
            encoded.append(nb::steal(bytes));
            put(i, PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
        }
    }
    return nb::make_tuple(-1, encoded);
}

// --- words ---------------------------------------------------------------------------------------

// An array that owns what was a vector.
template <class Vector> auto array_of(Vector&& values) {
    using T = std::remove_reference_t<decltype(values[0])>;
    auto* owned = new Vector(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Vector*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}
nb::tuple arrays_of(OwnWords&& words) {
    return nb::make_tuple(array_of(std::move(words.block)), array_of(std::move(words.offsets)));
}

WordsView words_of(const Bytes& block, const Offsets& offsets) {
    const std::int64_t* at = offsets.data();
    const std::size_t n = offsets.size();
    expect(n > 0 && at[0] == 0, "the offsets of words must begin with 0");
    expect(std::is_sorted(at, at + n), "the offsets of words must ascend");
    expect(static_cast<std::size_t>(at[n - 1]) <= block.size(),
           "the offsets of words must be within their bytes");
    return {block.data(), at, n - 1};
}

struct Index {
    Bytes block;  // keeps the words alive
    Offsets offsets;
    WordIndex index;
};

nb::tuple unite_words(const Bytes& a_block, const Offsets& a_offsets, const Bytes& b_block,
                      const Offsets& b_offsets) {
    const WordsView a = words_of(a_block, a_offsets), b = words_of(b_block, b_offsets);
    OwnWords both;
    {
        const nb::gil_scoped_release unlocked;
        both = unite(a, b);
    }
    return arrays_of(std::move(both));
}

void bind_words(nb::module_& m) {
    nb::class_<Index>(m, "WordIndex").def(nb::new_([](const Bytes& block, const Offsets& offsets) {
        return new Index{block, offsets, WordIndex(words_of(block, offsets))};
    }));
    m.def("unite_words", &unite_words);
    m.def("word_positions", [](const Bytes& a_block, const Offsets& a_offsets, const Bytes& b_block,
                               const Offsets& b_offsets, const Out<std::int32_t>& positions) {
        const nb::gil_scoped_release unlocked;
        const WordsView a = words_of(a_block, a_offsets), b = words_of(b_block, b_offsets);
        find_positions(a, b, shaped(positions, {a.n}, "there must be one position per word"));
    });
}

// --- tokens --------------------------------------------------------------------------------------

using Expansion = std::pair<std::uint32_t, std::vector<std::uint32_t>>;

std::size_t utf8_length(std::uint32_t point) {
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

// What the splitter relies on to have room for the lower case of every character.
void check_alphabet(const Alphabet& alphabet) {
    for (std::uint32_t c = 0; c <= last_code_point; ++c) {
        const std::int32_t entry = alphabet.entry(c);
        std::size_t points = 0, bytes = 0;
        const auto count = [&](std::uint32_t part) {
            expect(part <= last_code_point, "a character is beyond Unicode");
            points += 1, bytes += utf8_length(part);
        };
        if (entry & Alphabet::expansion)
            for (const std::uint32_t part : alphabet.expanded(c)) count(part);
        else
            count(Alphabet::lower(c, entry));
        expect(points <= utf8_length(c) && bytes <= 2 * utf8_length(c), "a lower case is too long");
    }
}

Alphabet make_alphabet(const In<std::uint16_t>& blocks, const In<std::int32_t>& entries,
                       const std::vector<Expansion>& expansions, bool lowers) {
    expect(blocks.size() == 0x1100 && entries.size() % 256 == 0, "a block is 256 code points");
    const std::vector<std::uint16_t> block(blocks.data(), blocks.data() + blocks.size());
    const std::vector<std::int32_t> entry(entries.data(), entries.data() + entries.size());
    for (const std::uint16_t b : block) expect(b < entry.size() / 256, "a block is not there");
    for (const std::int32_t e : entry)
        expect(!(e & Alphabet::expansion) || !expansions.empty(), "an expansion is missing");
    std::vector<Alphabet::Expansion> parts;
    for (const auto& [from, to] : expansions) parts.push_back({from, to});
    Alphabet made(block, entry, std::move(parts), lowers);
    check_alphabet(made);
    return made;
}

struct Counted {
    CountedRows rows;
    Dictionary dictionary;
    std::pair<int, std::size_t> status;
};

std::pair<int, std::size_t> status_of(const CountOutcome& outcome) {
    return {static_cast<int>(outcome.status), outcome.row};
}

Documents documents_of(const In<std::uint64_t>& addresses, const Offsets& lengths) {
    const std::size_t n = addresses.size();
    return {addresses.data(), shaped(lengths, {n}, "there must be one length per text"), n};
}

// Counts the tokens of texts: those of `known`, a vocabulary or the width of a hash, or new ones.
std::unique_ptr<Counted> count_tokens(const In<std::uint64_t>& addresses, const Offsets& lengths,
                                      const Alphabet& alphabet, bool by_characters,
                                      std::uint32_t least_n, std::uint32_t greatest_n,
                                      const Index* known, std::uint32_t width) {
    const nb::gil_scoped_release unlocked;
    const Documents documents = documents_of(addresses, lengths);
    const TokenRule rule{by_characters, least_n, greatest_n};
    expect(least_n > 0, "n-grams must have a length");
    auto counted = std::make_unique<Counted>();
    CountedRows& rows = counted->rows;
    counted->status =
        status_of(width > 0 ? count_hashed(documents, alphabet, rule, width, rows)
                  : known   ? count_known(documents, alphabet, rule, known->index, rows)
                            : count_new(documents, alphabet, rule, counted->dictionary, rows));
    return counted;
}

// Counts hashed words of documents into a table by class, place and (occurrences, documents), from
// the place `start` on; `last` tells which document had each of the `width` places last.
std::pair<int, std::size_t> tally_words(const In<std::uint64_t>& addresses, const Offsets& lengths,
                                        const Codes& classes, const Alphabet& alphabet,
                                        std::uint32_t least_n, std::uint32_t greatest_n,
                                        const Out<std::uint32_t, 3>& out, std::size_t start,
                                        const Out<std::uint32_t>& last, std::uint32_t number) {
    const nb::gil_scoped_release unlocked;
    const Documents documents = documents_of(addresses, lengths);
    const std::size_t stride = out.shape(1);
    const std::int32_t* codes = shaped(classes, {documents.n}, "there must be one class per text");
    expect(least_n > 0, "n-grams must have a length");
    expect(out.shape(2) == 2 && last.size() > 0 && start + last.size() <= stride,
           "the table must have a pair of counts for every place");
    expect(documents.n < 0xFFFFFFFFu - number, "there are too many texts");
    expect_classes(classes, out.shape(0));
    auto* counts = reinterpret_cast<TokenCount*>(out.data()) + start;
    return status_of(tally_hashed(
        documents, codes, alphabet, {false, least_n, greatest_n},
        {counts, stride, last.data(), static_cast<std::uint32_t>(last.size()), number}));
}

// The words that were gathered, sorted; places become those among them.
nb::tuple sort_words(Counted& counted) {
    OwnWords words;
    {
        const nb::gil_scoped_release unlocked;
        const std::vector<std::uint32_t> order = order_of(counted.dictionary.view());
        words = sorted(counted.dictionary.view(), order);
        counted.dictionary = Dictionary();
        std::vector<std::int32_t> rank(order.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            rank[order[i]] = static_cast<std::int32_t>(i);
        for (std::int32_t& place : counted.rows.places)
            place = rank[static_cast<std::size_t>(place)];
    }
    return arrays_of(std::move(words));
}

// Places become others.
void move_places(Counted& counted, const In<std::int32_t>& places) {
    const nb::gil_scoped_release unlocked;
    for (std::int32_t& place : counted.rows.places) {
        expect(static_cast<std::size_t>(place) < places.size(), "a place is not there");
        place = places.data()[place];
    }
}

// The ends of rows, places, counts and totals; nothing is left behind.
nb::tuple take_rows(Counted& counted) {
    CountedRows& rows = counted.rows;
    return nb::make_tuple(array_of(std::move(rows.ends)), array_of(std::move(rows.places)),
                          array_of(std::move(rows.counts)), array_of(std::move(rows.totals)));
}

// --- CSV -----------------------------------------------------------------------------------------

std::string_view view(const Bytes& text) {
    return {reinterpret_cast<const char*>(text.data()), text.size()};
}

// The number of rows and their labels, or None where the block is not plain.
nb::object parse_csv(const Bytes& text, char separator, const Bytes& cells,
                     const std::vector<nb::bytes>& missing, const Out<double, 2>& values,
                     const Out<std::int32_t>& codes) {
    const auto n_of = [&](Cell kind) {
        return static_cast<std::size_t>(
            std::count(cells.data(), cells.data() + cells.size(), static_cast<std::uint8_t>(kind)));
    };
    const std::size_t numbers = n_of(Cell::number), labels = n_of(Cell::label);
    expect(n_of(Cell::skipped) + numbers + labels == cells.size(),
           "a cell is skipped, a number or a label");
    CsvColumns columns{reinterpret_cast<const Cell*>(cells.data()), cells.size(), {}};
    for (const nb::bytes& word : missing) columns.missing.emplace_back(word.c_str(), word.size());
    CsvRows rows{values.data(), values.shape(1), codes.data(), {}};
    std::size_t count = 0;
    {
        const nb::gil_scoped_release unlocked;
        const std::size_t lines = count_lines(view(text));
        expect(values.shape(0) == numbers && (numbers == 0 || rows.stride >= lines),
               "there must be a place for every number");
        expect(labels == 0 || codes.size() >= lines, "there must be a place for every code");
        count = parse({view(text), separator}, columns, rows);
    }
    if (count == not_plain) return nb::none();
    nb::list found;
    for (const std::string_view label : rows.labels)
        found.append(nb::bytes(label.data(), label.size()));
    return nb::make_tuple(count, found);
}

// Where the first and the last record end, and whether a quote is open at the end.
nb::tuple record_ends(const Bytes& text, char separator) {
    RecordEnds ends;
    {
        const nb::gil_scoped_release unlocked;
        ends = find_record_ends(view(text), separator);
    }
    return nb::make_tuple(ends.first, ends.last, ends.is_open);
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("encode_text", &encode_text);
    m.def("encode_fixed", &encode_fixed);
    m.def("text_addresses", &text_addresses);
    bind_words(m);
    nb::class_<Alphabet>(m, "Alphabet").def(nb::new_(&make_alphabet));
    nb::class_<Counted>(m, "CountedTokens")
        .def_prop_ro("status", [](const Counted& counted) { return counted.status; })
        .def("sort_words", &sort_words)
        .def("move_places", &move_places)
        .def("take_rows", &take_rows);
    m.def("count_tokens", &count_tokens, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
          nb::arg(), nb::arg().none(), nb::arg());
    m.def("tally_hashed", &tally_words);
    m.def("count_lines", [](const Bytes& text) {
        const nb::gil_scoped_release unlocked;
        return count_lines(view(text));
    });
    m.def("record_ends", &record_ends);
    m.def("parse_csv", &parse_csv);
}

}  // namespace naively
