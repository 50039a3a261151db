// The bin of a number among ascending edges: how many edges are below it.
//
// The edges stand in the order of a binary tree, level by level, filled up with infinity to
// 2^depth - 1 of them: at node i the search goes on at 2i, or at 2i + 1 if the edge there is below
// x, and after `depth` steps it is at 2^depth + bin. No branch depends on the data; where there are
// permutations of registers (AVX-512), trees of up to 127 edges live in sixteen of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.hpp"

namespace naively {

class Search {
  public:
    // The edges ascend, equal ones and infinity allowed.
    Search(const double* edges, std::size_t n_edges);

    // bin[i] for x[i], which is finite, or `missing()` where it is NaN.
    void find(const double* x, std::size_t n, std::uint32_t* bin) const;

    // Above every bin.
    std::uint32_t missing() const { return std::uint32_t{1} << depth_; }

  private:
    unsigned depth_ = 0;
    AlignedArray tree_;
};

}  // namespace naively
