// Plain CSV, read in one pass: the numbers and the labels of a block of whole records.
//
// Plain is what nearly all large files are: no quotes, lines that end with \n or \r\n, cells that
// are numbers as programs write them, or one of the texts that mean a missing cell. Numbers are
// rounded correctly. Whatever else stands in a block, be it an error or not, it is left to a reader
// that knows all of CSV: `parse` then says so, and what it has written does not count.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace naively {

// Decimal numbers become the doubles nearest to them, ties to even.
//
// A number w / 10^k, of at most 19 digits w, is w times an inverse of 10^k of 128 bits. The product
// is too small by less than 2 in its last bit, so that its leading bits are those of the true
// quotient unless all bits behind them are ones, and they say how to round unless they are a tie.
// Then, once in a thousand numbers, integers are divided. What is longer or has an exponent is left
// to the standard library.
//
// D. Lemire (2021), Number parsing at a gigabyte per second.

#if defined(__cpp_lib_to_chars) && defined(__SIZEOF_INT128__) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NAIVELY_READS_DECIMALS 1

namespace decimal {

__extension__ typedef unsigned __int128 Wide;

constexpr int most_digits = 19;  // so many always fit into 64 bits

// 10^k, how far it is shifted until its first bit is the highest, and 2^191 divided by that.
struct Power {
    std::uint64_t value;
    int shift;
    std::uint64_t inverse_high, inverse_low;
};

constexpr Power power_of(std::uint64_t value) {
    int shift = 0;
    while ((value << shift >> 63) == 0) ++shift;
    const std::uint64_t divisor = value << shift;
    Wide quotient = 0, rest = static_cast<Wide>(1) << 64;
    for (int bit = 0; bit < 128; ++bit) {
        const bool carries = rest >= divisor;
        quotient = quotient << 1 | (carries ? 1 : 0);
        rest = (rest - (carries ? divisor : 0)) << 1;
    }
    return {value, shift, static_cast<std::uint64_t>(quotient >> 64),
            static_cast<std::uint64_t>(quotient)};
}

struct Powers {
    Power of[most_digits + 1];
};

constexpr Powers make_powers() {
    Powers powers{};
    std::uint64_t value = 1;
    for (int k = 0; k <= most_digits; ++k, value *= 10) powers.of[k] = power_of(value);
    return powers;
}

inline constexpr Powers powers = make_powers();

// bits * 2^exponent, where the highest bit is set and `above` tells whether the number is larger.
inline double rounded(std::uint64_t bits, bool above, int exponent) {
    const std::uint64_t rest = bits & 0x7ff, half = 0x400;
    std::uint64_t mantissa = bits >> 11;
    mantissa += rest > half || (rest == half && (above || (mantissa & 1) == 1)) ? 1 : 0;
    const std::uint64_t scale_bits = static_cast<std::uint64_t>(1023 + 11 + exponent) << 52;
    double scale = 0.0;
    std::memcpy(&scale, &scale_bits, sizeof scale);
    return static_cast<double>(mantissa) * scale;
}

// w / 10^k for w > 0 and 0 < k <= most_digits.
inline double quotient(std::uint64_t w, int k) {
    const Power& power = powers.of[k];
    const int shift = __builtin_clzll(w);
    const std::uint64_t shifted = w << shift;
    const Wide low = static_cast<Wide>(shifted) * power.inverse_low;
    const Wide product = static_cast<Wide>(shifted) * power.inverse_high + (low >> 64);
    std::uint64_t q = static_cast<std::uint64_t>(product >> 64);  // 2^63 * shifted / divisor
    const int lead = (q >> 63) == 0 ? 1 : 0;
    const int exponent = power.shift - shift - 63 - lead;
    const bool is_tie = ((q << lead) & 0x7ff) == 0x400;
    if (!is_tie && static_cast<std::uint64_t>(product) < std::uint64_t(-2))
        return rounded(q << lead, false, exponent);
    const std::uint64_t divisor = power.value << power.shift;
    const Wide dividend = static_cast<Wide>(shifted) << 63;
    q = static_cast<std::uint64_t>(dividend / divisor);
    const int places = (q >> 63) == 0 ? 1 : 0;
    return rounded(q << places, static_cast<Wide>(q) * divisor != dividend,
                   power.shift - shift - 63 - places);
}

// The number that eight digits write, the first of which is in the lowest byte.
inline std::uint64_t eight_digits(std::uint64_t text) {
    text = (text & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;  // two digits in every other byte, and so on
    text = (text & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (text & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Appends digits to w, up to eight at a time, and returns where they end.
inline const char* read_digits(const char* at, const char* end, std::uint64_t& w) {
    constexpr std::uint64_t zeros = 0x3030303030303030u, highest_bits = 0x8080808080808080u;
    while (end - at >= 8) {
        std::uint64_t text = 0;
        std::memcpy(&text, at, sizeof text);
        const std::uint64_t others = (((text ^ zeros) + 0x7676767676767676u) | text) & highest_bits;
        const int count = others == 0 ? 8 : __builtin_ctzll(others) / 8;
        if (count > 0) w = w * powers.of[count].value + eight_digits(text << (64 - 8 * count));
        at += count;
        if (count < 8) return at;
    }
    for (; at < end && is_digit(*at); ++at) w = w * 10 + static_cast<std::uint64_t>(*at - '0');
    return at;
}

}  // namespace decimal

// Reads a number as std::from_chars does, but for names such as inf. Returns where it ends; null
// where there is none, or none that is a double.
inline const char* read_decimal(const char* start, const char* end, double& value) {
    const bool is_negative = start < end && *start == '-';
    const char* first = is_negative ? start + 1 : start;
    const char* at = first;
    std::uint64_t w = 0;
    for (; at < end && decimal::is_digit(*at); ++at)  // few, in most numbers
        w = w * 10 + static_cast<std::uint64_t>(*at - '0');
    std::ptrdiff_t digits = at - first, k = 0;
    if (at < end && *at == '.') {
        const char* fraction = ++at;
        at = decimal::read_digits(fraction, end, w);
        k = at - fraction;
        digits += k;
    }
    if (digits == 0) return nullptr;
    if (digits > decimal::most_digits || (at < end && (*at == 'e' || *at == 'E'))) {
        const auto found = std::from_chars(start, end, value);
        return found.ec == std::errc() ? found.ptr : nullptr;
    }
    const bool is_whole = w == 0 || k == 0;
    const double size =
        is_whole ? static_cast<double>(w) : decimal::quotient(w, static_cast<int>(k));
    value = is_negative ? -size : size;
    return at;
}

#endif

enum class Cell : std::uint8_t { skipped, number, label };

struct CsvBlock {
    std::string_view text;
    char separator;
};

// What the columns of a record are, and the texts that mean a missing cell.
struct CsvColumns {
    const Cell* cells;
    std::size_t count;
    std::vector<std::string_view> missing;
};

// Where numbers go: number j of row i to values[j * stride + i]; the label's code to codes[i].
struct CsvRows {
    double* values;
    std::size_t stride;  // at least the number of lines
    std::int32_t* codes;
    std::vector<std::string_view> labels;  // in the order of their codes
};

constexpr std::size_t not_plain = static_cast<std::size_t>(-1);

// The number of lines, including a last one without a newline.
std::size_t count_lines(std::string_view text);

// Where records end in a text that begins with one. A newline is \n, \r\n or \r; within a quoted
// cell it ends nothing, and a quote opens a cell only where it is the first character of it.
struct RecordEnds {
    std::size_t first = 0;  // behind its newline; 0 where no record ends
    std::size_t last = 0;
    bool is_open = false;  // whether the text ends within a quoted cell
};

RecordEnds find_record_ends(std::string_view text, char separator);

// Returns the number of rows, or not_plain.
std::size_t parse(const CsvBlock& block, const CsvColumns& columns, CsvRows& rows);

}  // namespace naively
