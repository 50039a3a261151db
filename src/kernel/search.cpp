#include <algorithm>
#include <limits>

#include "tally.hpp"

#ifdef NAIVELY_HAS_TARGET_CLONES
#include <immintrin.h>
#define NAIVELY_TARGET(name) __attribute__((target(name)))
#endif

namespace naively {
namespace {

constexpr std::size_t together = 16;  // searches that run side by side
constexpr std::size_t nodes_in_registers = 128;

// A tree, and what is sought in it.
struct Query {
    const double* tree;
    unsigned depth;
    const double* x;
    std::size_t n;
    std::uint32_t* bin;
};

template <std::size_t count> NAIVELY_INLINE void descend(const Query& q, std::size_t start) {
    std::uint32_t at[count];
    for (std::size_t i = 0; i < count; ++i) at[i] = 1;
    for (unsigned level = 0; level < q.depth; ++level)
        for (std::size_t i = 0; i < count; ++i)
            at[i] = 2 * at[i] + static_cast<std::uint32_t>(q.x[start + i] > q.tree[at[i]]);
    const std::uint32_t bins = std::uint32_t{1} << q.depth;
    for (std::size_t i = 0; i < count; ++i)
        q.bin[start + i] = q.x[start + i] == q.x[start + i] ? at[i] - bins : bins;
}

NAIVELY_INLINE void find_in_memory(const Query& q) {
    std::size_t i = 0;
    for (; i + together <= q.n; i += together) descend<together>(q, i);
    for (; i < q.n; ++i) descend<1>(q, i);
}

#ifdef NAIVELY_HAS_TARGET_CLONES

constexpr std::size_t ahead = 1024;  // numbers that are asked for before they are needed

NAIVELY_TARGET("arch=x86-64-v4")
NAIVELY_INLINE __m512i next_node(__m512i at, __m512d x, __m512d edge) {
    const __m512i left = _mm512_add_epi64(at, at);
    return _mm512_mask_add_epi64(left, _mm512_cmp_pd_mask(x, edge, _CMP_GT_OQ), left,
                                 _mm512_set1_epi64(1));
}

// For each lane, one of 16 `count` numbers, which the last bits of `at` choose.
template <unsigned count>
NAIVELY_TARGET("arch=x86-64-v4")
NAIVELY_INLINE __m512d pick_among(const __m512d* edges, __m512i at) {
    if constexpr (count == 1) {
        return _mm512_permutex2var_pd(edges[0], at, edges[1]);
    } else {
        const __mmask8 is_high = _mm512_test_epi64_mask(at, _mm512_set1_epi64(8 * count));
        return _mm512_mask_blend_pd(is_high, pick_among<count / 2>(edges, at),
                                    pick_among<count / 2>(edges + count, at));
    }
}

// A tree of up to 127 edges in registers, nodes 8r to 8r + 7 in register r.
template <unsigned depth> struct Tree {
    __m512d nodes[16];

    NAIVELY_TARGET("arch=x86-64-v4") NAIVELY_INLINE explicit Tree(const double* tree) {
        for (std::size_t r = 0; r < 16; ++r) nodes[r] = _mm512_load_pd(tree + 8 * r);
    }

    NAIVELY_TARGET("arch=x86-64-v4") NAIVELY_INLINE __m256i bins(__m512d x) const {
        constexpr __mmask8 all = 0xff;
        __m512i at = _mm512_set1_epi64(1);
        for (unsigned level = 0; level < (depth < 3 ? depth : 3); ++level)
            at = next_node(at, x, _mm512_maskz_permutexvar_pd(all, at, nodes[0]));
        if (depth > 3) at = next_node(at, x, _mm512_maskz_permutexvar_pd(all, at, nodes[1]));
        if (depth > 4) at = next_node(at, x, pick_among<1>(nodes + 2, at));
        if (depth > 5) at = next_node(at, x, pick_among<2>(nodes + 4, at));
        if (depth > 6) at = next_node(at, x, pick_among<4>(nodes + 8, at));
        const __m512i missing = _mm512_set1_epi64(1LL << depth);
        const __mmask8 present = _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
        return _mm512_maskz_cvtepi64_epi32(all,
                                           _mm512_mask_sub_epi64(missing, present, at, missing));
    }
};

template <unsigned depth>
NAIVELY_TARGET("arch=x86-64-v4")
NAIVELY_INLINE void find_in_registers(const Query& q) {
    const Tree<depth> tree(q.tree);
    const double* x = q.x;
    std::uint32_t* bin = q.bin;
    std::size_t left = q.n;
    for (; left >= 8; left -= 8, x += 8, bin += 8) {
        NAIVELY_PREFETCH(x + ahead);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(bin), tree.bins(_mm512_loadu_pd(x)));
    }
    const __mmask8 rest = static_cast<__mmask8>((1U << left) - 1);
    _mm256_mask_storeu_epi32(bin, rest, tree.bins(_mm512_maskz_loadu_pd(rest, x)));
}

NAIVELY_TARGET("arch=x86-64-v4") void find_bins(const Query& q) {
    switch (q.depth) {
        case 1: return find_in_registers<1>(q);
        case 2: return find_in_registers<2>(q);
        case 3: return find_in_registers<3>(q);
        case 4: return find_in_registers<4>(q);
        case 5: return find_in_registers<5>(q);
        case 6: return find_in_registers<6>(q);
        case 7: return find_in_registers<7>(q);
        default: return find_in_memory(q);
    }
}
NAIVELY_TARGET("default")
#endif
void find_bins(const Query& q) { find_in_memory(q); }

}  // namespace

Search::Search(const double* edges, std::size_t n_edges) {
    while ((std::size_t{1} << depth_) < n_edges + 1) ++depth_;
    const std::size_t bins = std::size_t{1} << depth_;
    tree_ = aligned_array(std::max(bins, nodes_in_registers));
    for (unsigned level = 0; level < depth_; ++level)
        for (std::size_t i = 0; i < (std::size_t{1} << level); ++i) {
            const std::size_t edge = (2 * i + 1) * (bins >> (level + 1)) - 1;
            tree_[(std::size_t{1} << level) + i] =
                edge < n_edges ? edges[edge] : std::numeric_limits<double>::infinity();
        }
}

void Search::find(const double* x, std::size_t n, std::uint32_t* bin) const {
    find_bins({tree_.get(), depth_, x, n, bin});
}

}  // namespace naively
