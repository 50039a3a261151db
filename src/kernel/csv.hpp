// Plain CSV, read in one pass: the numbers and the labels of a block of whole records.
//
// Plain is what nearly all large files are: no quotes, lines that end with \n or \r\n, cells that
// are numbers as programs write them, or one of the texts that mean a missing cell. Numbers are
// rounded correctly. Whatever else stands in a block, be it an error or not, it is left to a reader
// that knows all of CSV: `parse` then says so, and what it has written does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace naively {

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
