// Terms that are looked up: lines of a table, one number per class, add up to a row's joint.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "labels.hpp"
#include "registers.hpp"
#include "simd.hpp"
#include "table.hpp"
#include "tally.hpp"
#include "terms.hpp"
#include "tile.hpp"

namespace naively {
namespace {

constexpr std::size_t quad = 4;        // classes that move together
constexpr std::size_t most_quads = 4;  // whose sums stay in registers
constexpr std::size_t piece_rows = 128;
constexpr std::size_t piece_columns = 16;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Lines of n_classes numbers in the user's memory, and behind them a line of zeros, for what is
// missing. They are read by quads, so a few numbers behind a line must be readable: the last lines
// are kept in a copy, where they are.
class Lines {
  public:
    Lines(const double* values, std::size_t n_lines, std::size_t n_classes)
        : values_(values), n_classes_(n_classes) {
        const std::size_t behind = (quad - n_classes % quad) % quad;
        const std::size_t last = n_classes == 0 ? 0 : (behind + n_classes - 1) / n_classes;
        safe_ = n_lines - std::min(n_lines, last);
        last_.assign((n_lines - safe_ + 1) * n_classes + behind, 0.0);
        std::copy(values + safe_ * n_classes, values + n_lines * n_classes, last_.begin());
    }

    NAIVELY_INLINE const double* at(std::size_t line) const {
        const double* end = last_.data();
        return line < safe_ ? values_ + line * n_classes_ : end + (line - safe_) * n_classes_;
    }

  private:
    const double* values_;
    const std::size_t n_classes_;
    std::size_t safe_;
    std::vector<double> last_;
};

// Where the cells of one row point to: `first`, or between it and `second`, at `share` of the way.
// Cells stand `step` apart.
struct Cells {
    const std::uint32_t* first;
    const std::uint32_t* second;
    const double* share;
    std::size_t n, step;
};

template <std::size_t quads, bool between>
NAIVELY_INLINE void add_quads(const Lines& lines, const Cells& cells, std::size_t first_class,
                              std::size_t n_classes, double* joint) {
    FourLanes sum[quads]{};
    for (std::size_t j = 0; j < cells.n; ++j) {
        const double* a = lines.at(cells.first[j * cells.step]) + first_class;
        const double* b = between ? lines.at(cells.second[j * cells.step]) + first_class : a;
        const double t = between ? cells.share[j * cells.step] : 0.0;
        for (std::size_t q = 0; q < quads; ++q) {
            FourLanes value, next;
            load(a + q * quad, value);
            if (between) {
                load(b + q * quad, next);
                value = value * (1.0 - t) + next * t;
            }
            sum[q] += value;
        }
    }
    for (std::size_t k = 0; k < n_classes; ++k) joint[k] += sum[k / quad][k % quad];
}

template <bool between>
NAIVELY_INLINE void add_lines_of_row(const Lines& lines, const Cells& cells, std::size_t n_classes,
                                     double* joint) {
    for (std::size_t first = 0; first < n_classes; first += most_quads * quad) {
        const std::size_t some = std::min(most_quads * quad, n_classes - first);
        switch ((some + quad - 1) / quad) {
            case 1: add_quads<1, between>(lines, cells, first, some, joint + first); break;
            case 2: add_quads<2, between>(lines, cells, first, some, joint + first); break;
            case 3: add_quads<3, between>(lines, cells, first, some, joint + first); break;
            default: add_quads<4, between>(lines, cells, first, some, joint + first);
        }
    }
}

// For `rows` rows, whose cells stand `apart` from those of the row before.
NAIVELY_CLONES void add_codes(const Lines& lines, const Cells& cells, std::size_t apart,
                              std::size_t rows, const Joint& joint, std::size_t row) {
    for (std::size_t i = 0; i < rows; ++i) {
        const Cells own{cells.first + i * apart, nullptr, nullptr, cells.n, cells.step};
        add_lines_of_row<false>(lines, own, joint.n_classes,
                                joint.values + (row + i) * joint.n_classes);
    }
}

NAIVELY_CLONES void add_shares(const Lines& lines, const Cells& cells, std::size_t rows,
                               const Joint& joint, std::size_t row) {
    for (std::size_t i = 0; i < rows; ++i) {
        const Cells own{cells.first + i, cells.second + i, cells.share + i, cells.n, cells.step};
        add_lines_of_row<true>(lines, own, joint.n_classes,
                               joint.values + (row + i) * joint.n_classes);
    }
}

// The pieces between one column's knots. Piece p ends at knot p; the first and the last are flat.
struct Pieces {
    Search search;
    double unit;  // 1/2 where the knots' distance would overflow
    std::vector<double> start, width;

    Pieces(const double* knots, std::size_t m)
        : search(knots, m), unit(std::isinf(knots[m - 1] - knots[0]) ? 0.5 : 1.0),
          start(search.missing() + 1), width(search.missing() + 1, infinity) {
        for (std::size_t p = 1; p < m; ++p) {
            start[p] = knots[p - 1] * unit;
            width[p] = knots[p] * unit - start[p];
        }
    }
};

NAIVELY_CLONES void find_shares(const Pieces& pieces, const double* x, const std::uint32_t* piece,
                                std::size_t n, double* NAIVELY_RESTRICT share) {
    const double* start = pieces.start.data();
    const double* width = pieces.width.data();
    for (std::size_t i = 0; i < n; ++i) {
        const double t = (x[i] * pieces.unit - start[piece[i]]) / width[piece[i]];
        share[i] = x[i] == x[i] ? t : 0.0;
    }
}

// first = the line of the knot where the piece starts, second = where it ends
NAIVELY_CLONES void find_lines(const std::uint32_t* NAIVELY_RESTRICT piece, std::size_t n,
                               std::uint32_t line, std::uint32_t n_knots, std::uint32_t missing,
                               std::uint32_t zeros, std::uint32_t* NAIVELY_RESTRICT first,
                               std::uint32_t* NAIVELY_RESTRICT second) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t p = piece[i];
        const std::uint32_t a = p > 0 ? p - 1 : 0, b = p < n_knots ? p : n_knots - 1;
        first[i] = p < missing ? line + a : zeros;
        second[i] = p < missing ? line + b : zeros;
    }
}

NAIVELY_CLONES bool is_infinite(const double* x, std::size_t n) { return has_infinity(x, n); }

class PieceAdder {
  public:
    PieceAdder(const Table& X, std::size_t n_knots, const double* knots, const double* values,
               const Joint& joint)
        : X_(X), n_knots_(n_knots), joint_(joint),
          lines_(values, X.n_columns * n_knots, joint.n_classes),
          tile_(aligned_array(piece_columns * piece_rows)) {
        for (std::size_t j = 0; j < X.n_columns; ++j)
            pieces_.emplace_back(knots + j * n_knots, n_knots);
    }

    Status run() {
        for (std::size_t row = 0; row < X_.n_rows; row += piece_rows)
            for (std::size_t column = 0; column < X_.n_columns; column += piece_columns)
                if (!add(row, column)) return Status::not_finite;
        return Status::ok;
    }

  private:
    bool add(std::size_t row, std::size_t column) {
        const std::size_t rows = std::min(piece_rows, X_.n_rows - row);
        const std::size_t columns = std::min(piece_columns, X_.n_columns - column);
        X_.pack_columns(row, rows, column, columns, tile_.get(), piece_rows);
        const std::uint32_t zeros = static_cast<std::uint32_t>(X_.n_columns * n_knots_);
        for (std::size_t j = 0; j < columns; ++j) {
            const double* x = tile_.get() + j * piece_rows;
            if (is_infinite(x, rows)) return false;
            const Pieces& pieces = pieces_[column + j];
            std::uint32_t piece[piece_rows];
            pieces.search.find(x, rows, piece);
            find_shares(pieces, x, piece, rows, share_ + j * piece_rows);
            find_lines(piece, rows, static_cast<std::uint32_t>((column + j) * n_knots_),
                       static_cast<std::uint32_t>(n_knots_), pieces.search.missing(), zeros,
                       first_ + j * piece_rows, second_ + j * piece_rows);
        }
        add_shares(lines_, {first_, second_, share_, columns, piece_rows}, rows, joint_, row);
        return true;
    }

    const Table& X_;
    const std::size_t n_knots_;
    const Joint joint_;
    const Lines lines_;
    std::vector<Pieces> pieces_;
    AlignedArray tile_;
    std::uint32_t first_[piece_columns * piece_rows], second_[piece_columns * piece_rows];
    double share_[piece_columns * piece_rows];
};

// How far x is on the way from a to b: 0 before, 1 after, 0 where there is no way. In halves, so
// that no difference overflows.
NAIVELY_INLINE double share_of_way(double x, double a, double b) {
    const double way = 0.5 * b - 0.5 * a, done = 0.5 * x - 0.5 * a;
    return way > 0.0 && done > 0.0 ? std::min(done / way, 1.0) : 0.0;
}

}  // namespace

void left_out_of_bins(const Table& X, const std::int32_t* codes, const NearbyBins& bins,
                      double* out) {
    const std::size_t B = bins.n_bins, side = X.n_columns * B, of_side = bins.n_classes * side;
    double x[piece_rows];
    std::uint32_t bin[piece_rows];
    for (std::size_t j = 0; j < X.n_columns; ++j) {
        const Search search(bins.cuts + j * (B - 1), B - 1);
        for (std::size_t row = 0; row < X.n_rows; row += piece_rows) {
            const std::size_t rows = std::min(piece_rows, X.n_rows - row);
            X.pack_columns(row, rows, j, 1, x, piece_rows);
            search.find(x, rows, bin);
            for (std::size_t i = 0; i < rows; ++i) {
                double& term = out[(row + i) * X.n_columns + j];
                term = 0.0;
                if (std::isnan(x[i])) continue;
                const double* knot = bins.knots + j * B + bin[i];
                const std::size_t k = static_cast<std::size_t>(codes[row + i]);
                const double* value = bins.values + k * side + j * B + bin[i];
                const std::size_t from = x[i] >= knot[side] ? 1 : 0;
                const double t = share_of_way(x[i], knot[from * side], knot[(from + 1) * side]);
                const double a = value[from * of_side], b = value[(from + 1) * of_side];
                term = a + t * (b - a);
            }
        }
    }
}

Status add_pieces(const Table& X, std::size_t n_knots, const double* knots, const double* values,
                  const Joint& joint) {
    return PieceAdder(X, n_knots, knots, values, joint).run();
}

bool add_tables(const Table& X, const std::int64_t* offsets, const double* values,
                const Joint& joint) {
    const Categories categories(offsets, X.n_columns);
    const Lines lines(values, categories.total, joint.n_classes);
    CodeTile tile(X, categories);
    for (std::size_t row = 0; row < X.n_rows; row += tile.rows()) {
        const std::size_t rows = std::min(tile.rows(), X.n_rows - row);
        if (!tile.load(row, rows)) return false;
        const Cells cells{tile.row(0), nullptr, nullptr, X.n_columns, tile.step()};
        add_codes(lines, cells, rows > 1 ? static_cast<std::size_t>(tile.row(1) - tile.row(0)) : 0,
                  rows, joint, row);
    }
    return true;
}

}  // namespace naively
