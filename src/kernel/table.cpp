#include "table.hpp"

#include <algorithm>

namespace naively {
namespace {

// Lines of a table: columns that lie anywhere, from the cell `start` on, or lines `step` bytes
// apart.
struct Lines {
    const Line* columns;
    const std::size_t start;
    const Line first;
    const std::ptrdiff_t step;

    NAIVELY_INLINE Line operator[](std::size_t l) const {
        if (columns != nullptr) return columns[l].from(start);
        return {first.data + static_cast<std::ptrdiff_t>(l) * step, first.stride, first.kind};
    }
};

// tile[l * stride + i] = number i of line l
NAIVELY_CLONES void pack_along(const Lines& lines, std::size_t n_lines, std::size_t n, double* tile,
                               std::size_t stride) {
    for (std::size_t l = 0; l < n_lines; ++l) {
        const Line line = lines[l];
        with_type(line.kind, [&](auto zero) { copy<decltype(zero)>(line, n, tile + l * stride); });
    }
}

// target[i * stride + l] = number i of eight lines without gaps, eight by eight; returns how many
// are done.
template <class T>
NAIVELY_INLINE std::size_t transpose(const Line* lines, std::size_t n, double* target,
                                     std::size_t stride) {
    std::size_t done = 0;
    for (; done + lane_count <= n; done += lane_count) {
        Lanes square[lane_count];
        for (std::size_t l = 0; l < lane_count; ++l) {
            T numbers[lane_count];
            double converted[lane_count];
            std::memcpy(numbers, lines[l].data + done * sizeof(T), sizeof numbers);
            for (std::size_t i = 0; i < lane_count; ++i)
                converted[i] = static_cast<double>(numbers[i]);
            load(converted, square[l]);
        }
        naively::transpose(square);
        for (std::size_t i = 0; i < lane_count; ++i) store(square[i], target + (done + i) * stride);
    }
    return done;
}

// target[i * stride + l] = number i of line l, of up to eight lines of one type
template <class T>
NAIVELY_INLINE void copy_across(const Line* lines, std::size_t n_lines, std::size_t n,
                                double* NAIVELY_RESTRICT target, std::size_t stride) {
    bool packed = n_lines == lane_count;
    for (std::size_t l = 0; l < n_lines; ++l)
        packed = packed && lines[l].stride == static_cast<std::ptrdiff_t>(sizeof(T));
    const std::size_t done = packed ? transpose<T>(lines, n, target, stride) : 0;
    for (std::size_t l = 0; l < n_lines; ++l)
        for (std::size_t i = done; i < n; ++i) target[i * stride + l] = lines[l].at<T>(i);
}

// tile[i * stride + l] = number i of line l
NAIVELY_CLONES void pack_across(const Lines& all, std::size_t n_lines, std::size_t n, double* tile,
                                std::size_t stride) {
    Line lines[lane_count];
    for (std::size_t l = 0; l < n_lines; l += lane_count) {
        const std::size_t together = std::min(lane_count, n_lines - l);
        bool alike = true;
        for (std::size_t at = 0; at < together; ++at) {
            lines[at] = all[l + at];
            alike = alike && lines[at].kind == lines[0].kind;
        }
        const std::size_t count = alike ? together : 1;
        for (std::size_t at = 0; at < together; at += count)
            with_type(lines[at].kind, [&](auto zero) {
                copy_across<decltype(zero)>(lines + at, count, n, tile + l + at, stride);
            });
    }
}

}  // namespace

void Table::pack_rows(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                      double* tile, std::size_t stride) const {
    if (has_row_lines())
        pack_along({nullptr, 0, this->row(row).from(column), row_stride_}, rows, columns, tile,
                   stride);
    else
        pack_across({is_grid_ ? nullptr : columns_.data() + column, row,
                     this->column(column).from(row), column_stride_},
                    columns, rows, tile, stride);
}

void Table::pack_columns(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                         double* tile, std::size_t stride) const {
    if (has_row_lines())
        pack_across({nullptr, 0, this->row(row).from(column), row_stride_}, rows, columns, tile,
                    stride);
    else
        pack_along({is_grid_ ? nullptr : columns_.data() + column, row,
                    this->column(column).from(row), column_stride_},
                   columns, rows, tile, stride);
}

}  // namespace naively
