#include "codes.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace naively {
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

}  // namespace naively
