#include <algorithm>

#include "labels.hpp"
#include "table.hpp"

namespace naively {
namespace {

constexpr std::size_t chunk_rows = 256;  // whose numbers, a strip at a time, stay in the cache
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
        const double* x = tile + j * chunk_rows;
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
    alignas(64) double tile[strip_columns * chunk_rows];
    std::uint32_t slots[chunk_rows];
    std::fill_n(out, n, start);
    for (std::size_t row = 0; row < n; row += chunk_rows) {
        const std::size_t rows = std::min(chunk_rows, n - row);
        for (std::size_t j = 0; j < numbers.n_columns; j += strip_columns) {
            const std::size_t columns = std::min(strip_columns, numbers.n_columns - j);
            numbers.pack_columns(row, rows, j, columns, tile, chunk_rows);
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
