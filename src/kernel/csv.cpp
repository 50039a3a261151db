#include "csv.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace naively {
namespace {

#ifdef NAIVELY_READS_DECIMALS

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

// Distinct labels and their codes: a table of codes, twice as large as it is full.
class LabelTable {
  public:
    explicit LabelTable(std::vector<std::string_view>& labels) : labels_(labels), slots_(64, -1) {}

    std::int32_t code(std::string_view label) {
        std::size_t at = hash(label) & (slots_.size() - 1);
        for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
            if (labels_[static_cast<std::size_t>(slots_[at])] == label) return slots_[at];
        const std::int32_t code = static_cast<std::int32_t>(labels_.size());
        slots_[at] = code;
        labels_.push_back(label);
        if (2 * labels_.size() > slots_.size()) grow();
        return code;
    }

  private:
    static std::size_t hash(std::string_view label) {
        std::uint64_t h = 14695981039346656037u;  // of Fowler, Noll and Vo
        for (const char c : label) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
        return static_cast<std::size_t>(h ^ (h >> 32));
    }

    void grow() {
        std::vector<std::int32_t> slots(2 * slots_.size(), -1);
        for (std::size_t code = 0; code < labels_.size(); ++code) {
            std::size_t at = hash(labels_[code]) & (slots.size() - 1);
            while (slots[at] >= 0) at = (at + 1) & (slots.size() - 1);
            slots[at] = static_cast<std::int32_t>(code);
        }
        slots_.swap(slots);
    }

    std::vector<std::string_view>& labels_;
    std::vector<std::int32_t> slots_;
};

class Parser {
  public:
    Parser(const CsvBlock& block, const CsvColumns& columns, CsvRows& rows)
        : at_(block.text.data()), end_(at_ + block.text.size()), separator_(block.separator),
          columns_(columns), rows_(rows), labels_(rows.labels) {}

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
                    rows_.codes[row] = labels_.code(label);
                }
            }
        }
        return at_ == end_ || end_of_line();
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
    LabelTable labels_;
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
#ifdef NAIVELY_READS_DECIMALS
    const std::string_view text = block.text;
    const bool quoted = std::memchr(text.data(), '"', text.size()) != nullptr;
    return quoted ? not_plain : Parser(block, columns, rows).run();
#else
    static_cast<void>(columns), static_cast<void>(rows);
    return block.text.empty() ? 0 : not_plain;  // the library cannot read numbers quickly
#endif
}

}  // namespace naively
