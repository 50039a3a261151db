#include "labels.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "simd.hpp"
#include "table.hpp"

namespace naively {

namespace {

constexpr std::uint64_t widest_range = std::uint64_t{1} << 20;  // that is looked up in a table

constexpr std::uint64_t few = 64;  // labels from one on, that have a bit each
constexpr std::size_t sample = 1024;

template <class T> struct Range {
    T least, greatest;
};

template <class T> std::uint64_t width(const Range<T>& range) {
    return static_cast<std::uint64_t>(range.greatest) - static_cast<std::uint64_t>(range.least);
}

template <class T> NAIVELY_INLINE Range<T> find_range(const T* labels, std::size_t n) {
    T least = labels[0], greatest = labels[0];
    for (std::size_t i = 0; i < n; ++i) {
        least = std::min(least, labels[i]);
        greatest = std::max(greatest, labels[i]);
    }
    return {least, greatest};
}

// The bits of the labels that are there, if all are among the few from `least` on.
struct Present {
    std::uint64_t bits;
    bool all;
};

// Writes how far each label is above the least, in the same pass.
template <class T>
NAIVELY_INLINE Present find_differences(const T* labels, std::size_t n, T least,
                                        std::int32_t* NAIVELY_RESTRICT codes) {
    std::uint64_t bits = 0, any = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t slot =
            static_cast<std::uint64_t>(labels[i]) - static_cast<std::uint64_t>(least);
        any |= slot;
        bits |= std::uint64_t{1} << (slot % few);
        codes[i] = static_cast<std::int32_t>(slot);
    }
    return {bits, any < few};
}

// Almost all labels are of this type: it has the builds for newer processors.
NAIVELY_CLONES Range<std::int64_t> range_of(const std::int64_t* labels, std::size_t n) {
    return find_range(labels, n);
}
NAIVELY_CLONES Present differences_of(const std::int64_t* labels, std::size_t n, std::int64_t least,
                                      std::int32_t* codes) {
    return find_differences(labels, n, least, codes);
}

template <class T> Range<T> range_of(const T* labels, std::size_t n) {
    return find_range(labels, n);
}
template <class T>
Present differences_of(const T* labels, std::size_t n, T least, std::int32_t* codes) {
    return find_differences(labels, n, least, codes);
}

// code_of[s] is zero where least + s is a label, and becomes its code.
template <class T> std::vector<T> number(std::vector<std::int32_t>& code_of, T least) {
    std::vector<T> distinct;
    for (std::size_t slot = 0; slot < code_of.size(); ++slot)
        if (code_of[slot] == 0) {
            code_of[slot] = static_cast<std::int32_t>(distinct.size());
            distinct.push_back(static_cast<T>(static_cast<std::uint64_t>(least) + slot));
        }
    return distinct;
}

// Labels among the few from `least` on. Returns nothing where others are there.
template <class T>
std::vector<T> encode_few(const T* labels, std::size_t n, T least, std::int32_t* codes) {
    const Present present = differences_of(labels, n, least, codes);
    if (!present.all) return {};
    std::vector<std::int32_t> code_of(few, -1);
    for (std::size_t s = 0; s < few; ++s)
        if (present.bits >> s & 1) code_of[s] = 0;
    std::vector<T> distinct = number(code_of, least);
    if (present.bits & (present.bits + 1))  // there are gaps
        for (std::size_t i = 0; i < n; ++i) codes[i] = code_of[static_cast<std::size_t>(codes[i])];
    return distinct;
}

template <class T>
std::vector<T> encode_by_table(const T* labels, std::size_t n, const Range<T>& range,
                               std::int32_t* codes) {
    const auto slot = [&](T label) {
        return static_cast<std::uint64_t>(label) - static_cast<std::uint64_t>(range.least);
    };
    if (width(range) >= widest_range) return {};
    std::vector<std::int32_t> code_of(width(range) + 1, -1);
    for (std::size_t i = 0; i < n; ++i) code_of[slot(labels[i])] = 0;
    std::vector<T> distinct = number(code_of, range.least);
    for (std::size_t i = 0; i < n; ++i) codes[i] = code_of[slot(labels[i])];
    return distinct;
}

}  // namespace

// The first labels tell, most often, which is the least, and whether there are few.
template <class T> std::vector<T> encode(const T* labels, std::size_t n, std::int32_t* codes) {
    if (n == 0) return {};
    std::vector<T> distinct;
    const Range<T> first = range_of(labels, std::min(n, sample));
    if (width(first) < few) distinct = encode_few(labels, n, first.least, codes);
    if (!distinct.empty()) return distinct;
    const Range<T> range = range_of(labels, n);
    return width(range) < few ? encode_few(labels, n, range.least, codes)
                              : encode_by_table(labels, n, range, codes);
}

NAIVELY_CLONES std::uint32_t greatest_code(const std::int32_t* codes, std::size_t n) {
    std::uint32_t greatest = 0;
    for (std::size_t i = 0; i < n; ++i)
        greatest = std::max(greatest, static_cast<std::uint32_t>(codes[i]));
    return greatest;
}

template std::vector<std::int64_t> encode(const std::int64_t*, std::size_t, std::int32_t*);
template std::vector<std::int32_t> encode(const std::int32_t*, std::size_t, std::int32_t*);
template std::vector<std::int16_t> encode(const std::int16_t*, std::size_t, std::int32_t*);
template std::vector<std::int8_t> encode(const std::int8_t*, std::size_t, std::int32_t*);
template std::vector<std::uint64_t> encode(const std::uint64_t*, std::size_t, std::int32_t*);
template std::vector<std::uint32_t> encode(const std::uint32_t*, std::size_t, std::int32_t*);
template std::vector<std::uint16_t> encode(const std::uint16_t*, std::size_t, std::int32_t*);
template std::vector<std::uint8_t> encode(const std::uint8_t*, std::size_t, std::int32_t*);

namespace {

constexpr std::size_t tile_cells = 4096;  // some rows, in the first-level cache
constexpr std::size_t most_rows = 64;

// min(code, size), or size where it is missing. `unknown` becomes nonzero if code >= size.
template <class T, class Flag>
NAIVELY_INLINE std::uint32_t slot_of(T code, std::uint32_t size, Flag& unknown) {
    if constexpr (std::is_floating_point_v<T>) {
        const double given = code, limit = size;
        unknown |= static_cast<Flag>(given >= limit);
        const double kept = given >= 0.0 && given < limit ? given : limit;
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(kept));
    } else if constexpr (std::is_signed_v<T>) {
        unknown |= static_cast<Flag>(code >= static_cast<std::make_signed_t<Flag>>(size));
        const Flag given = static_cast<Flag>(code);  // a negative one is huge
        return static_cast<std::uint32_t>(given < size ? given : size);
    } else {
        const Flag given = code;
        unknown |= static_cast<Flag>(given >= size);
        return static_cast<std::uint32_t>(given < size ? given : size);
    }
}

// As wide as the codes, so that lanes need not change their width.
template <class T> using FlagOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T> NAIVELY_INLINE T read(const char* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

struct ReadColumn {
    const Line& column;
    const std::size_t n;
    const std::uint32_t size;
    std::uint32_t* const slots;
    bool& known;

    template <class T> NAIVELY_INLINE void operator()(T) const {
        if (column.stride == static_cast<std::ptrdiff_t>(sizeof(T)))
            read_by(sizeof(T), T{});
        else
            read_by(column.stride, T{});
    }
    template <class T> NAIVELY_INLINE void read_by(std::ptrdiff_t stride, T) const {
        std::uint32_t* NAIVELY_RESTRICT target = slots;
        const char* data = column.data;
        FlagOf<T> unknown = 0;
        for (std::size_t i = 0; i < n; ++i)
            target[i] =
                slot_of(read<T>(data + static_cast<std::ptrdiff_t>(i) * stride), size, unknown);
        known = known && unknown == 0;
    }
};

struct ReadRow {
    const char* const data;
    const Categories& categories;
    std::uint32_t* const slots;
    bool& known;

    template <class T> NAIVELY_INLINE void operator()(T) const {
        const std::uint32_t none = static_cast<std::uint32_t>(categories.total);
        const std::uint32_t* size = categories.size.data();
        const std::uint32_t* offset = categories.offset.data();
        std::uint32_t* NAIVELY_RESTRICT target = slots;
        FlagOf<T> unknown = 0;
        for (std::size_t j = 0, n = categories.size.size(); j < n; ++j) {
            const std::uint32_t slot = slot_of(read<T>(data + j * sizeof(T)), size[j], unknown);
            target[j] = slot < size[j] ? offset[j] + slot : none;
        }
        known = known && unknown == 0;
    }
};

NAIVELY_CLONES bool read_rows(const Table& X, const Categories& categories, std::size_t row,
                              std::size_t rows, std::uint32_t* slots) {
    bool known = true;
    for (std::size_t i = 0; i < rows; ++i) {
        const Line line = X.row(row + i);
        with_type(line.kind,
                  ReadRow{line.data, categories, slots + i * categories.size.size(), known});
    }
    return known;
}

NAIVELY_CLONES bool read_codes(const Line& column, std::size_t n, std::uint32_t size,
                               std::uint32_t* slots) {
    bool known = true;
    with_type(column.kind, ReadColumn{column, n, size, slots, known});
    return known;
}

NAIVELY_CLONES void add_offset(std::uint32_t* NAIVELY_RESTRICT slots, std::size_t n,
                               std::uint32_t size, std::uint32_t offset, std::uint32_t none) {
    for (std::size_t i = 0; i < n; ++i) slots[i] = slots[i] < size ? offset + slots[i] : none;
}

}  // namespace

Categories::Categories(const std::int64_t* offsets, std::size_t n_columns)
    : total(static_cast<std::size_t>(offsets[n_columns])) {
    for (std::size_t j = 0; j < n_columns; ++j) {
        offset.push_back(static_cast<std::uint32_t>(offsets[j]));
        size.push_back(static_cast<std::uint32_t>(offsets[j + 1] - offsets[j]));
    }
}

bool read_column(const Line& column, std::size_t n, std::uint32_t size, std::uint32_t* slots) {
    return read_codes(column, n, size, slots);
}

bool CodeTile::has_rows(const Table& X) {
    if (!X.has_row_lines()) return false;
    const Line line = X.row(0);
    bool packed = false;
    with_type(line.kind,
              [&](auto zero) { packed = line.stride == static_cast<std::ptrdiff_t>(sizeof zero); });
    return packed;
}

CodeTile::CodeTile(const Table& X, const Categories& categories)
    : X_(X), categories_(categories), by_row_(has_rows(X)),
      rows_(std::clamp<std::size_t>(tile_cells / std::max<std::size_t>(1, X.n_columns), 8,
                                    most_rows)),
      slots_(rows_ * X.n_columns) {}

bool CodeTile::load(std::size_t row, std::size_t rows) {
    if (by_row_) return read_rows(X_, categories_, row, rows, slots_.data());
    bool known = true;
    for (std::size_t j = 0; j < X_.n_columns; ++j) {
        std::uint32_t* slots = slots_.data() + j * rows_;
        known &= read_column(X_.column(j).from(row), rows, categories_.size[j], slots);
        add_offset(slots, rows, categories_.size[j], categories_.offset[j],
                   static_cast<std::uint32_t>(categories_.total));
    }
    return known;
}

// --- hashes --------------------------------------------------------------------------------------

namespace {

constexpr std::size_t hashed_rows = 256;  // whose numbers, a strip at a time, stay in the cache
constexpr std::size_t strip_columns = 8;
constexpr std::uint64_t start = 0x9E3779B97F4A7C15;
constexpr std::uint64_t factor = 0xD6E8FEB86659FD93;
constexpr std::uint64_t any_nan = 0x7ff8000000000000;
constexpr std::uint64_t largest = 0xFFFFFFFFFFFFFFFF;

NAIVELY_INLINE std::uint64_t step(std::uint64_t h, std::uint64_t v) {
    h = (h ^ v) * factor;
    return h ^ (h >> 32);
}

NAIVELY_INLINE std::uint64_t finish(std::uint64_t h) {
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EB;
    h ^= h >> 31;
    return h - (h == largest);
}

NAIVELY_INLINE std::uint64_t little_endian(const unsigned char* bytes, std::size_t n) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < n; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    return value;
}

NAIVELY_CLONES void hash_strip(const double* tile, std::size_t rows, std::size_t columns,
                               std::uint64_t* NAIVELY_RESTRICT h) {
    for (std::size_t j = 0; j < columns; ++j) {
        const double* x = tile + j * hashed_rows;
        for (std::size_t i = 0; i < rows; ++i) {
            const double number = x[i] + 0.0;  // -0.0 becomes 0.0
            std::uint64_t bits;
            std::memcpy(&bits, &number, sizeof bits);
            h[i] = step(h[i], number == number ? bits : any_nan);
        }
    }
}

NAIVELY_CLONES void hash_slots(const std::uint32_t* slots, std::size_t n, const Hashes& hashes,
                               std::uint64_t* NAIVELY_RESTRICT h) {
    for (std::size_t i = 0; i < n; ++i)
        h[i] = step(h[i], slots[i] < hashes.n ? hashes.values[slots[i]] : 0);
}

NAIVELY_CLONES void finish_rows(std::size_t n, std::uint64_t* NAIVELY_RESTRICT h) {
    for (std::size_t i = 0; i < n; ++i) h[i] = finish(h[i]);
}

}  // namespace

std::uint64_t finish_hash(std::uint64_t h) { return finish(h); }

bool hash_rows(const Table& numbers, const Table& codes, const std::vector<Hashes>& code_hashes,
               std::size_t n, std::uint64_t* out) {
    alignas(64) double tile[strip_columns * hashed_rows];
    std::uint32_t slots[hashed_rows];
    std::fill_n(out, n, start);
    for (std::size_t row = 0; row < n; row += hashed_rows) {
        const std::size_t rows = std::min(hashed_rows, n - row);
        for (std::size_t j = 0; j < numbers.n_columns; j += strip_columns) {
            const std::size_t columns = std::min(strip_columns, numbers.n_columns - j);
            numbers.pack_columns(row, rows, j, columns, tile, hashed_rows);
            hash_strip(tile, rows, columns, out + row);
        }
        for (std::size_t j = 0; j < codes.n_columns; ++j) {
            const Hashes& hashes = code_hashes[j];
            if (!read_column(codes.column(j).from(row), rows, static_cast<std::uint32_t>(hashes.n),
                             slots))
                return false;
            hash_slots(slots, rows, hashes, out + row);
        }
        finish_rows(rows, out + row);
    }
    return true;
}

void hash_texts(const std::uint64_t* addresses, const std::int64_t* lengths, std::size_t n,
                std::uint64_t* out) {
    for (std::size_t i = 0; i < n; ++i) {
        if (lengths[i] < 0) {
            out[i] = 0;
            continue;
        }
        const auto* text = reinterpret_cast<const unsigned char*>(addresses[i]);
        auto left = static_cast<std::size_t>(lengths[i]);
        std::uint64_t h = start;
        for (; left >= 8; left -= 8, text += 8) h = step(h, little_endian(text, 8));
        if (left > 0) h = step(h, little_endian(text, left));
        h = finish(step(h, static_cast<std::uint64_t>(lengths[i])));
        out[i] = h + (h == 0);
    }
}

}  // namespace naively
