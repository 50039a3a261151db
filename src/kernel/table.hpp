// A rectangle of numbers in the user's memory, read in place: any numeric type, any strides,
// rows or columns contiguous, or each column somewhere else, as data frames keep them.
//
// The compute kernels want doubles in one of two shapes, and a Table packs a small tile into
// either: row by row, or column by column (then the rows of the tile are the lanes).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "simd.hpp"

namespace naively {

enum class Kind : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

template <class F> NAIVELY_INLINE void with_type(Kind kind, F&& f) {
    switch (kind) {
        case Kind::f64: return f(double{});
        case Kind::f32: return f(float{});
        case Kind::i64: return f(std::int64_t{});
        case Kind::i32: return f(std::int32_t{});
        case Kind::i16: return f(std::int16_t{});
        case Kind::i8: return f(std::int8_t{});
        case Kind::u64: return f(std::uint64_t{});
        case Kind::u32: return f(std::uint32_t{});
        case Kind::u16: return f(std::uint16_t{});
        case Kind::u8:
        case Kind::boolean: return f(std::uint8_t{});
    }
}

// A line of numbers in the user's memory: a row or a column.
struct Line {
    const char* data;
    std::ptrdiff_t stride;  // in bytes
    Kind kind;

    template <class T> NAIVELY_INLINE double at(std::size_t i) const {
        T value;
        std::memcpy(&value, data + static_cast<std::ptrdiff_t>(i) * stride, sizeof(T));
        return static_cast<double>(value);
    }
    Line from(std::size_t i) const {
        return {data + static_cast<std::ptrdiff_t>(i) * stride, stride, kind};
    }
    template <class T> bool is_plain() const {
        return kind == (sizeof(T) == sizeof(double) ? Kind::f64 : Kind::f32) &&
               stride == static_cast<std::ptrdiff_t>(sizeof(T));
    }
};

// target[i] = number i of the line
template <class T>
NAIVELY_INLINE void copy(const Line& line, std::size_t n, double* NAIVELY_RESTRICT target) {
    if (line.stride == static_cast<std::ptrdiff_t>(sizeof(T))) {
        const Line packed{line.data, sizeof(T), line.kind};
        for (std::size_t i = 0; i < n; ++i) target[i] = packed.at<T>(i);
    } else {
        for (std::size_t i = 0; i < n; ++i) target[i] = line.at<T>(i);
    }
}

// A piece of memory.
struct Segment {
    const char* data;
    std::size_t bytes;
};

enum class Status { ok, not_finite };

// The class of each row, and its weight. `weights` may be null: every row weighs 1. A row of weight
// zero is left out, whatever it holds.
struct Labelled {
    const std::int32_t* codes;
    const double* weights;
    std::size_t n_classes;

    double weight(std::size_t i) const { return weights == nullptr ? 1.0 : weights[i]; }
};

class Table {
  public:
    // A two-dimensional array.
    Table(const char* data, std::ptrdiff_t row_stride, std::ptrdiff_t column_stride, Kind kind,
          std::size_t n_rows, std::size_t n_columns)
        : n_rows(n_rows), n_columns(n_columns), is_grid_(true), data_(data),
          row_stride_(row_stride), column_stride_(column_stride), kind_(kind) {}

    // One array per column.
    Table(std::vector<Line> columns, std::size_t n_rows)
        : n_rows(n_rows), n_columns(columns.size()), is_grid_(false), columns_(std::move(columns)) {
    }

    Line row(std::size_t i) const {  // of a grid
        return {data_ + static_cast<std::ptrdiff_t>(i) * row_stride_, column_stride_, kind_};
    }
    Line column(std::size_t j) const {
        if (!is_grid_) return columns_[j];
        return {data_ + static_cast<std::ptrdiff_t>(j) * column_stride_, row_stride_, kind_};
    }
    double cell(std::size_t i, std::size_t j) const {
        double value = 0.0;
        const Line line = column(j);
        with_type(line.kind, [&](auto zero) { value = line.at<decltype(zero)>(i); });
        return value;
    }

    // Whether the cells of a row are nearer to each other than those of a column.
    bool has_row_lines() const {
        return is_grid_ && column_stride_ > 0 && column_stride_ < row_stride_;
    }

    // Rows of T one after the other can be read where they are, without packing.
    template <class T> bool has_plain_rows() const {
        const auto size = static_cast<std::ptrdiff_t>(sizeof(T));
        return is_grid_ && row(0).is_plain<T>() && row_stride_ % size == 0 &&
               row_stride_ / size >= static_cast<std::ptrdiff_t>(n_columns) &&
               reinterpret_cast<std::uintptr_t>(data_) % alignof(T) == 0;
    }
    template <class T> const T* plain_row(std::size_t i) const {
        return reinterpret_cast<const T*>(row(i).data);
    }
    template <class T> std::size_t plain_stride() const {
        return static_cast<std::size_t>(row_stride_) / sizeof(T);
    }

    // Up to this one, memory for 7 numbers more can be read behind each such row.
    template <class T> std::size_t end_of_readable() const {
        const std::size_t last = (lane_count - 2) / plain_stride<T>() + 1;
        return n_rows - std::min(n_rows, last);
    }

    template <class T> bool reads_behind(std::size_t end) const {
        return has_plain_rows<T>() && end <= end_of_readable<T>();
    }

    // tile[i * stride + j] = cell (row + i, column + j)
    void pack_rows(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                   double* tile, std::size_t stride) const;

    // tile[j * stride + i] = cell (row + i, column + j)
    void pack_columns(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                      double* tile, std::size_t stride) const;

    // Lists the memory under a tile, piece by piece: at most one a row or one a column of it.
    std::size_t segments(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                         Segment* out) const {
        const bool by_row = has_row_lines();
        const std::ptrdiff_t step = (by_row ? this->row(0) : this->column(0)).stride;
        if (step <= 0 || step > 64) return 0;  // not every cache line is needed
        const auto bytes = [](const Line& line, std::size_t n) {
            return n * static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, line.stride));
        };
        if (by_row && static_cast<std::size_t>(row_stride_) == bytes(this->row(0), columns)) {
            out[0] = {this->row(row).data, rows * static_cast<std::size_t>(row_stride_)};
            return 1;
        }
        const std::size_t n_lines = by_row ? rows : columns;
        for (std::size_t l = 0; l < n_lines; ++l) {
            const Line line =
                by_row ? this->row(row + l).from(column) : this->column(column + l).from(row);
            out[l] = {line.data, bytes(line, by_row ? columns : rows)};
        }
        return n_lines;
    }

    const std::size_t n_rows;
    const std::size_t n_columns;

  private:
    const bool is_grid_;
    const char* data_ = nullptr;
    std::ptrdiff_t row_stride_ = 0;
    std::ptrdiff_t column_stride_ = 0;
    Kind kind_ = Kind::f64;
    std::vector<Line> columns_;
};

}  // namespace naively
