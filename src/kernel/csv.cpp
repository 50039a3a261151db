#include "csv.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "labels.hpp"

namespace naively {
namespace {

#ifdef __cpp_lib_to_chars  // else, the library cannot read numbers

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

std::uint64_t hash_of(std::string_view label) {
    std::uint64_t h = 14695981039346656037u;  // of Fowler, Noll and Vo
    for (const char c : label) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return h;
}

// Reads a number, but for names such as inf. Returns where it ends; null where there is none, or
// none that is a double.
const char* read_decimal(const char* start, const char* end, double& value) {
    const char* first = start < end && *start == '-' ? start + 1 : start;
    if (first == end || (*first != '.' && !(*first >= '0' && *first <= '9'))) return nullptr;
    const auto read = std::from_chars(start, end, value);
    return read.ec == std::errc() ? read.ptr : nullptr;
}

class Parser {
  public:
    Parser(const CsvBlock& block, const CsvColumns& columns, CsvRows& rows)
        : at_(block.text.data()), end_(at_ + block.text.size()), separator_(block.separator),
          columns_(columns), rows_(rows) {}

    std::size_t run() {
        std::size_t row = 0;
        while (at_ < end_) {
            if (end_of_line()) continue;  // a blank line is no record
            if (!record(row++)) return not_plain;
        }
        return row;
    }

  private:
    // Steps over a newline, if there is one.
    bool end_of_line() {
        const bool pair = end_ - at_ >= 2 && at_[0] == '\r' && at_[1] == '\n';
        if (!pair && *at_ != '\n') return false;
        at_ += pair ? 2 : 1;
        return true;
    }

    bool ends_cell() const {
        return at_ == end_ || *at_ == separator_ || *at_ == '\n' || *at_ == '\r';
    }

    bool record(std::size_t row) {
        std::size_t number = 0;
        for (std::size_t j = 0; j < columns_.count; ++j) {
            if (j > 0 && (at_ == end_ || *at_++ != separator_)) return false;
            switch (columns_.cells[j]) {
                case Cell::skipped: skip(); break;
                case Cell::number:
                    if (!read_number(rows_.values[rows_.stride * number++ + row])) return false;
                    break;
                case Cell::label: {
                    const std::string_view label = skip();
                    if (is_missing(label)) return false;
                    rows_.codes[row] = code(label);
                }
            }
        }
        return at_ == end_ || end_of_line();
    }

    std::int32_t code(std::string_view label) {
        std::vector<std::string_view>& labels = rows_.labels;
        const auto is_label = [&](std::size_t j) { return labels[j] == label; };
        const std::int32_t found = distinct_.code(labels.size(), hash_of(label), is_label);
        if (static_cast<std::size_t>(found) == labels.size()) labels.push_back(label);
        return found;
    }

    std::string_view skip() {
        const char* start = at_;
        while (!ends_cell()) ++at_;
        return {start, static_cast<std::size_t>(at_ - start)};
    }

    bool read_number(double& value) {
        const char* start = at_;
        skip_spaces();
        if (const char* behind = read_decimal(at_, end_, value)) {
            at_ = behind;
            skip_spaces();
            return ends_cell();
        }
        at_ = start;
        value = missing_value;
        return is_missing(skip());
    }

    void skip_spaces() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\t') && *at_ != separator_) ++at_;
    }

    bool is_missing(std::string_view cell) const {
        return std::find(columns_.missing.begin(), columns_.missing.end(), cell) !=
               columns_.missing.end();
    }

    const char* at_;
    const char* const end_;
    const char separator_;
    const CsvColumns& columns_;
    CsvRows& rows_;
    Distinct distinct_;  // whose cells are the labels
};

#endif

// The place behind a quoted cell whose first quote lies before `at`, or npos where it is not
// closed.
std::size_t behind_quotes(std::string_view text, std::size_t at) {
    while ((at = text.find('"', at)) != text.npos) {
        if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
        at += 2;  // two quotes are one within the cell
    }
    return at;
}

}  // namespace

RecordEnds find_record_ends(std::string_view text, char separator) {
    RecordEnds ends;
    bool begins_cell = true;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at++];
        if (begins_cell && c == '"') {
            at = behind_quotes(text, at);
            ends.is_open = at == text.npos;
            begins_cell = false;
            continue;
        }
        begins_cell = c == separator;
        if (c != '\n' && c != '\r') continue;
        if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
        begins_cell = true;
        ends.last = at;
        if (ends.first == 0) ends.first = at;
    }
    return ends;
}

std::size_t count_lines(std::string_view text) {
    std::size_t lines = text.empty() || text.back() == '\n' ? 0 : 1;
    for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) ++lines;
    return lines;
}

std::size_t parse(const CsvBlock& block, const CsvColumns& columns, CsvRows& rows) {
#ifdef __cpp_lib_to_chars
    const std::string_view text = block.text;
    const bool quoted = std::memchr(text.data(), '"', text.size()) != nullptr;
    return quoted ? not_plain : Parser(block, columns, rows).run();
#else
    static_cast<void>(columns), static_cast<void>(rows);
    return block.text.empty() ? 0 : not_plain;
#endif
}

}  // namespace naively
