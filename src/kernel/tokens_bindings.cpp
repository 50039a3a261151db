// The tokenizer's and the vocabularies' face to Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "table_bindings.hpp"
#include "tokens_count.hpp"

namespace nb = nanobind;

namespace {

using naively::expect;
template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Numpy = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// An array that owns what was a vector.
template <class T> Numpy<T> array_of(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Numpy<T>(owned->data(), {owned->size()}, owner);
}

template <class T> Numpy<T> array_of(naively::Buffer<T>&& values) {
    auto* owned = new naively::Buffer<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<naively::Buffer<T>*>(p); });
    return Numpy<T>(owned->data(), {owned->size()}, owner);
}

naively::WordsView words_of(const In<std::uint8_t>& block, const In<std::int64_t>& offsets) {
    const std::int64_t* at = offsets.data();
    expect(offsets.size() > 0 && at[0] == 0, "the offsets of words must begin with 0");
    for (std::size_t i = 1; i < offsets.size(); ++i)
        expect(at[i - 1] <= at[i], "the offsets of words must ascend");
    expect(static_cast<std::size_t>(at[offsets.size() - 1]) <= block.size(),
           "the offsets of words must be within their bytes");
    return {block.data(), at, offsets.size() - 1};
}

using Expansion = std::pair<std::uint32_t, std::vector<std::uint32_t>>;

std::size_t utf8_length(std::uint32_t point) {
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

// What the splitter relies on to have room for the lower case of every character.
void check_alphabet(const naively::Alphabet& alphabet) {
    using naively::Alphabet;
    for (std::uint32_t c = 0; c <= naively::last_code_point; ++c) {
        const std::int32_t entry = alphabet.entry(c);
        std::size_t points = 1, bytes = 0;
        if (entry & Alphabet::expansion) {
            points = alphabet.expanded(c).size();
            for (const std::uint32_t part : alphabet.expanded(c)) {
                expect(part <= naively::last_code_point, "a character is beyond Unicode");
                bytes += utf8_length(part);
            }
        } else {
            const std::uint32_t lower = Alphabet::lower(c, entry);
            expect(lower <= naively::last_code_point, "a character is beyond Unicode");
            bytes = utf8_length(lower);
        }
        expect(points <= utf8_length(c) && bytes <= 2 * utf8_length(c), "a lower case is too long");
    }
}

naively::Alphabet make_alphabet(const In<std::uint16_t>& blocks, const In<std::int32_t>& entries,
                                const std::vector<Expansion>& expansions, bool lowers) {
    expect(blocks.size() == 0x1100 && entries.size() % 256 == 0, "a block is 256 code points");
    for (std::size_t i = 0; i < blocks.size(); ++i)
        expect(blocks.data()[i] < entries.size() / 256, "a block is not there");
    std::vector<naively::Alphabet::Expansion> parts;
    for (const auto& [from, to] : expansions) parts.push_back({from, to});
    for (std::size_t i = 0; i < entries.size(); ++i)
        expect(!(entries.data()[i] & naively::Alphabet::expansion) || !parts.empty(),
               "an expansion is missing");
    naively::Alphabet made({blocks.data(), blocks.data() + blocks.size()},
                           {entries.data(), entries.data() + entries.size()}, std::move(parts),
                           lowers);
    check_alphabet(made);
    return made;
}

struct Index {
    In<std::uint8_t> block;  // keeps the words alive
    In<std::int64_t> offsets;
    naively::WordIndex index;
};

struct Counted {
    naively::CountedRows rows;
    naively::Dictionary dictionary;
    naively::CountOutcome outcome{naively::TextStatus::ok, 0};
};

naively::Documents documents_of(const In<std::uint64_t>& addresses,
                                const In<std::int64_t>& lengths) {
    expect(addresses.size() == lengths.size(), "there must be one length per text");
    return {addresses.data(), lengths.data(), addresses.size()};
}

// Counts the tokens of texts: those of `known`, a vocabulary or the width of a hash, or new ones.
std::unique_ptr<Counted> count_tokens(const In<std::uint64_t>& addresses,
                                      const In<std::int64_t>& lengths,
                                      const naively::Alphabet& alphabet, bool by_characters,
                                      std::uint32_t least_n, std::uint32_t greatest_n,
                                      const Index* known, std::uint32_t width) {
    const naively::Documents documents = documents_of(addresses, lengths);
    const naively::TokenRule rule{by_characters, least_n, greatest_n};
    expect(least_n > 0, "n-grams must have a length");
    auto counted = std::make_unique<Counted>();
    nb::gil_scoped_release unlocked;
    if (width > 0)
        counted->outcome = naively::count_hashed(documents, alphabet, rule, width, counted->rows);
    else if (known)
        counted->outcome =
            naively::count_known(documents, alphabet, rule, known->index, counted->rows);
    else
        counted->outcome =
            naively::count_new(documents, alphabet, rule, counted->dictionary, counted->rows);
    return counted;
}

using Pairs = nb::ndarray<std::uint32_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Counts hashed words of documents into a table by class, place and (occurrences, documents), from
// the place `start` on; `last` tells which document had each of the `width` places last.
nb::tuple tally_hashed(const In<std::uint64_t>& addresses, const In<std::int64_t>& lengths,
                       const In<std::int32_t>& classes, const naively::Alphabet& alphabet,
                       std::uint32_t least_n, std::uint32_t greatest_n, const Pairs& out,
                       std::size_t start, const Out<std::uint32_t>& last, std::uint32_t number) {
    const naively::Documents documents = documents_of(addresses, lengths);
    const std::size_t stride = out.shape(1);
    expect(classes.size() == documents.n, "there must be one class per text");
    expect(least_n > 0, "n-grams must have a length");
    expect(out.shape(2) == 2 && last.size() > 0 && start + last.size() <= stride,
           "the table must have a pair of counts for every place");
    expect(documents.n < 0xFFFFFFFFu - number, "there are too many texts");
    for (std::size_t i = 0; i < classes.size(); ++i)
        expect(static_cast<std::size_t>(classes.data()[i]) < out.shape(0), "a class is not there");
    auto* counts = reinterpret_cast<naively::TokenCount*>(out.data()) + start;
    const naively::HashedTable table{counts, stride, last.data(),
                                     static_cast<std::uint32_t>(last.size()), number};
    nb::gil_scoped_release unlocked;
    const naively::CountOutcome outcome = naively::tally_hashed(
        documents, classes.data(), alphabet, {false, least_n, greatest_n}, table);
    nb::gil_scoped_acquire locked;
    return nb::make_tuple(static_cast<int>(outcome.status), outcome.row);
}

// The words that were gathered, sorted; places become those among them.
nb::tuple sort_words(Counted& counted) {
    naively::OwnWords words;
    {
        nb::gil_scoped_release unlocked;
        const std::vector<std::uint32_t> order = naively::order_of(counted.dictionary.view());
        words = naively::sorted(counted.dictionary.view(), order);
        counted.dictionary = naively::Dictionary();
        std::vector<std::int32_t> rank(order.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            rank[order[i]] = static_cast<std::int32_t>(i);
        for (std::int32_t& place : counted.rows.places)
            place = rank[static_cast<std::size_t>(place)];
    }
    return nb::make_tuple(array_of(std::move(words.block)), array_of(std::move(words.offsets)));
}

// Places become others.
void move_places(Counted& counted, const In<std::int32_t>& places) {
    nb::gil_scoped_release unlocked;
    for (std::int32_t& place : counted.rows.places) {
        expect(static_cast<std::size_t>(place) < places.size(), "a place is not there");
        place = places.data()[place];
    }
}

// The ends of rows, places, counts and totals; nothing is left behind.
nb::tuple take_rows(Counted& counted) {
    naively::CountedRows& rows = counted.rows;
    return nb::make_tuple(array_of(std::move(rows.ends)), array_of(std::move(rows.places)),
                          array_of(std::move(rows.counts)), array_of(std::move(rows.totals)));
}

nb::tuple unite_words(const In<std::uint8_t>& a_block, const In<std::int64_t>& a_offsets,
                      const In<std::uint8_t>& b_block, const In<std::int64_t>& b_offsets) {
    const naively::WordsView a = words_of(a_block, a_offsets), b = words_of(b_block, b_offsets);
    naively::OwnWords both;
    {
        nb::gil_scoped_release unlocked;
        both = naively::unite(a, b);
    }
    return nb::make_tuple(array_of(std::move(both.block)), array_of(std::move(both.offsets)));
}

void word_positions(const In<std::uint8_t>& a_block, const In<std::int64_t>& a_offsets,
                    const In<std::uint8_t>& b_block, const In<std::int64_t>& b_offsets,
                    const Out<std::int32_t>& positions) {
    const naively::WordsView a = words_of(a_block, a_offsets), b = words_of(b_block, b_offsets);
    expect(positions.size() == a.n, "there must be one position per word");
    nb::gil_scoped_release unlocked;
    naively::find_positions(a, b, positions.data());
}

// Where texts of Python lie in memory, and those that had to be encoded. Returns the row of the
// first cell that is neither text nor None, or -1.
nb::tuple text_addresses(const nb::list& cells, const Out<std::uint64_t>& addresses,
                         const Out<std::int64_t>& lengths) {
    const std::size_t n = cells.size();
    expect(addresses.size() == n && lengths.size() == n, "there must be a place for every text");
    nb::list encoded;
    const auto put = [&](std::size_t i, const void* address, Py_ssize_t length) {
        addresses.data()[i] = reinterpret_cast<std::uint64_t>(address);
        lengths.data()[i] = static_cast<std::int64_t>(length);
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

}  // namespace

void bind_tokens(nb::module_& m) {
    nb::class_<naively::Alphabet>(m, "Alphabet")
        .def(nb::new_(&make_alphabet), nb::arg("blocks"), nb::arg("entries"), nb::arg("expansions"),
             nb::arg("lowers"));
    nb::class_<Index>(m, "WordIndex")
        .def(nb::new_([](const In<std::uint8_t>& block, const In<std::int64_t>& offsets) {
                 return new Index{block, offsets, naively::WordIndex(words_of(block, offsets))};
             }),
             nb::arg("block"), nb::arg("offsets"));
    nb::class_<Counted>(m, "CountedTokens")
        .def_prop_ro("status",
                     [](const Counted& counted) {
                         return nb::make_tuple(static_cast<int>(counted.outcome.status),
                                               counted.outcome.row);
                     })
        .def("sort_words", &sort_words)
        .def("move_places", &move_places, nb::arg("places"))
        .def("take_rows", &take_rows);
    m.def("count_tokens", &count_tokens, nb::arg("addresses"), nb::arg("lengths"),
          nb::arg("alphabet"), nb::arg("by_characters"), nb::arg("least_n"), nb::arg("greatest_n"),
          nb::arg("known").none(), nb::arg("width"));
    m.def("tally_hashed", &tally_hashed, nb::arg("addresses"), nb::arg("lengths"),
          nb::arg("classes"), nb::arg("alphabet"), nb::arg("least_n"), nb::arg("greatest_n"),
          nb::arg("out").noconvert(), nb::arg("start"), nb::arg("last").noconvert(),
          nb::arg("number"));
    m.def("unite_words", &unite_words, nb::arg("a_block"), nb::arg("a_offsets"), nb::arg("b_block"),
          nb::arg("b_offsets"));
    m.def("word_positions", &word_positions, nb::arg("a_block"), nb::arg("a_offsets"),
          nb::arg("b_block"), nb::arg("b_offsets"), nb::arg("positions").noconvert());
    m.def("text_addresses", &text_addresses, nb::arg("cells"), nb::arg("addresses").noconvert(),
          nb::arg("lengths").noconvert());
}
