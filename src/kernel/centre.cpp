#include "centre.hpp"

#include <algorithm>
#include <limits>

#include "simd.hpp"

namespace naively {
namespace {

constexpr std::size_t chunk = 128;  // rows, whose classes stay in the first-level cache
constexpr double infinity = std::numeric_limits<double>::infinity();

NAIVELY_CLONES void centre_chunk(double* values, std::size_t apart, std::size_t n_classes,
                                 std::size_t n, double floor) {
    double highest[chunk], least[chunk], mean[chunk];
    for (std::size_t i = 0; i < n; ++i) highest[i] = -infinity, least[i] = infinity, mean[i] = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const double* of_class = values + k * apart;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = of_class[i];
            highest[i] = x > highest[i] ? x : highest[i];
            least[i] = x > -infinity && x < least[i] ? x : least[i];
        }
    }
    for (std::size_t k = 0; k < n_classes; ++k) {
        double* of_class = values + k * apart;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = of_class[i] > -infinity ? of_class[i] : least[i];
            const double d = x - highest[i];
            of_class[i] = highest[i] == -infinity ? 0.0 : d > -floor ? d : -floor;
            mean[i] += of_class[i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) mean[i] /= static_cast<double>(n_classes);
    for (std::size_t k = 0; k < n_classes; ++k)
        for (std::size_t i = 0; i < n; ++i) values[k * apart + i] -= mean[i];
}

}  // namespace

void centre_term(const JudgedTerm& term, double floor, double* out, std::size_t apart) {
    for (std::size_t start = 0; start < term.n_rows; start += chunk) {
        const std::size_t n = std::min(chunk, term.n_rows - start);
        const double* values = term.values + start * term.n_classes;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < term.n_classes; ++k)
                out[k * apart + start + i] = values[i * term.n_classes + k];
        for (std::size_t i = start; i < start + n; ++i)
            out[static_cast<std::size_t>(term.codes[i]) * apart + i] =
                term.own[static_cast<std::ptrdiff_t>(i) * term.step];
        centre_chunk(out + start, apart, term.n_classes, n, floor);
    }
}

}  // namespace naively
