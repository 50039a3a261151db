// Counts of some columns, each with as many places as there are classes times slots: integers, or
// sums where rows have weights.
//
// A row's neighbour often has the same class and the same slot, and an increment that waits for
// the one before it in the same place takes several times as long. So neighbours count in tables
// of their own, where these are small, which are added up in the end. Sums have one table: their
// order is that of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace naively {

class Counts {
  public:
    // `weights` may be null: every row weighs 1.
    Counts(std::size_t columns, std::size_t n_classes, std::size_t slots, const double* weights);

    // What a column takes.
    static std::size_t bytes(std::size_t n_classes, std::size_t slots);

    // Counts rows row, row + 1, ... in their slots; the classes are of these rows. The slots become
    // places.
    void add(std::size_t column, const std::int32_t* classes, std::uint32_t* slots, std::size_t row,
             std::size_t rows);

    // out[k * stride + s] += what was counted of class k in each of the first n slots
    void write(std::size_t column, std::size_t n, double* out, std::size_t stride) const;

    void clear();

  private:
    const std::size_t n_classes_, slots_, places_, tables_;
    const double* weights_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> sums_;
};

// out[i] += sums[i]
void add_sums(const double* sums, std::size_t n, double* out);
void add_sums(const std::uint32_t* sums, std::size_t n, double* out);

}  // namespace naively
