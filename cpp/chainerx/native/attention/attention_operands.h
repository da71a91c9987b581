// Inputs of attention: matrices of its operands, and panels of masks and dropout factors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "chainerx/core/array.h"
#include "chainerx/kernels/attention/attention_options.h"
#include "chainerx/native/attention/attention_loops.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/random/number_loops.h"
#include "chainerx/native/random/random.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

// A strided matrix; strides are in elements.
template <typename T>
struct StridedMatrix {
    T* data;
    int64_t row;
    int64_t column;

    T* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// Matrix i of the last two axes.
template <typename T>
StridedMatrix<T> MatrixAt(const Array& x, int64_t i) {
    constexpr int64_t kSize = sizeof(T);
    const int8_t ndim = x.ndim();
    int64_t offset = 0;
    for (int8_t d = ndim - 3; d >= 0; --d) {
        offset += i % x.shape()[d] * x.strides()[d];
        i /= x.shape()[d];
    }
    return {reinterpret_cast<T*>(x.raw_data() + offset), x.strides()[ndim - 2] / kSize,
            x.strides()[ndim - 1] / kSize};
}

// Returns x, or a copy if its strides are not multiples of the element size.
Array WithElementStrides(const Array& x);

// Returns rows [begin, begin + n) of `width` elements in the compute type: in place, or converted
// into `memory`.
template <typename T, typename C>
StridedMatrix<const C> ReadRows(const StridedMatrix<const T>& x, int64_t begin, int64_t n,
                                int64_t width, C* memory) {
    if constexpr (std::is_same_v<T, C>) {
        return {x.at(begin, 0), x.row, x.column};
    } else {
        for (int64_t i = 0; i < n; ++i) {
            const T* from = x.at(begin + i, 0);
            for (int64_t j = 0; j < width; ++j) {
                memory[i * width + j] = Cast<C>(from[j * x.column]);
            }
        }
        return {memory, width, 1};
    }
}

// Whether queries are so few that packing keys and values takes longer than reading them in place;
// the elements of a row must be adjacent, in memory or after conversion.
template <typename T>
bool AreFewQueries(int64_t queries, int64_t lanes, const Array& k, const Array& v) {
    constexpr int64_t kMaxFewQueries = 16;
    const auto is_adjacent = [](const Array& x) {
        return !std::is_same_v<T, ComputeType<T>> || x.strides().back() == x.GetItemSize();
    };
    return queries <= std::min(kMaxFewQueries, lanes) && is_adjacent(k) && is_adjacent(v);
}

// Common sizes of an attention.
struct AttentionSizes {
    // Broadcast rows may be wider, but no memory holds a block of that many elements: allocating
    // one fails, and its size does not overflow.
    static constexpr int64_t kMaxWidth = int64_t{1} << 44;

    int64_t matrices;      // of queries
    int64_t key_matrices;  // of keys
    int64_t queries;
    int64_t keys;
    int64_t width;
    int64_t value_width;

    AttentionSizes(const Array& q, const Array& k, const Array& v)
        : matrices{1},
          key_matrices{1},
          queries{q.shape()[q.ndim() - 2]},
          keys{k.shape()[k.ndim() - 2]},
          width{std::min(q.shape()[q.ndim() - 1], kMaxWidth)},
          value_width{std::min(v.shape()[v.ndim() - 1], kMaxWidth)} {
        for (int8_t d = 0; d < q.ndim() - 2; ++d) {
            matrices *= q.shape()[d];
            key_matrices *= k.shape()[d];
        }
    }
    int64_t group() const { return key_matrices == 0 ? 1 : matrices / key_matrices; }
};

// Panels of masks and dropout factors: one row per key, one lane per query.
template <typename C>
class AttentionExtras {
 public:
    AttentionExtras(const Array& mask, const Array& key, const AttentionOptions& options,
                    const AttentionSizes& sizes)
        : mask_{WithElementStrides(mask)},
          has_mask_{mask.ndim() >= 2},
          has_dropout_{key.GetTotalSize() != 0},
          options_{options},
          sizes_{sizes} {
        if (!has_dropout_) return;
        const auto* words = reinterpret_cast<const uint64_t*>(key.raw_data());
        stream_ = {words[0], words[1]};
        // As in the kernel Dropout.
        threshold_ =
            static_cast<uint32_t>(std::min(std::ceil(options.dropout * 0x1p32), 0x1p32 - 1));
        factor_ = static_cast<C>(1 / (1 - options.dropout));
    }

    bool has_dropout() const { return has_dropout_; }
    // Size for a panel of that many keys.
    static int64_t MemorySize(int64_t most_keys) {
        return GemmLoopsOf<C>().columns * (most_keys + 2 * kGroup) + most_keys + 2 * kGroup;
    }

    // The panel of scores of these queries and keys of a matrix; the masks are packed into `masks`.
    AttentionPanel<C> PanelOf(int64_t matrix, const Range& queries, const Range& keys, C* memory,
                              C* masks, C* scores) const {
        AttentionPanel<C> panel{keys.size(),
                                scores,
                                static_cast<C>(options_.scale * 1.4426950408889634),
                                AttentionMask::kNone,
                                masks,
                                options_.is_causal && keys.end - 1 > queries.begin,
                                queries.begin - keys.begin};
        if (!has_mask_) return panel;
        if (mask_.dtype() == Dtype::kBool) {
            panel.mask = AttentionMask::kSelect;
            // As bytes, since foreign memory may hold any byte.
            Pack<uint8_t>(MatrixAt<const uint8_t>(mask_, matrix), queries, keys, memory, masks,
                          [](uint8_t is_in) {
                              return is_in != 0 ? C{0} : -std::numeric_limits<C>::infinity();
                          });
            return panel;
        }
        panel.mask = AttentionMask::kAdd;
        VisitFloat(mask_.dtype(), [&]<typename T>() {
            Pack<T>(MatrixAt<const T>(mask_, matrix), queries, keys, memory, masks,
                    [](T x) { return Cast<C>(x); });
        });
        return panel;
    }

    // Draws the dropout factors for the weights of these queries and keys.
    void DrawFactors(int64_t matrix, const Range& queries, const Range& keys, C* memory,
                     C* panel) const {
        const int64_t step = keys.size() + 2 * kGroup;
        C* ones = memory + queries.size() * step;
        std::fill_n(ones, step, C{1});
        const auto& loops = random_loops().Of<C>();
        for (int64_t i = 0; i < queries.size(); ++i) {
            // Index of the row's first weight in the array of all weights.
            const int64_t row =
                (matrix * sizes_.queries + queries.begin + i) * sizes_.keys + keys.begin;
            const int64_t first = row / kGroup;
            const int64_t n = CeilDiv(row + keys.size(), kGroup) - first;
            C* to = memory + i * step;
            loops.dropout(stream_.seed, stream_.call, static_cast<uint64_t>(first * 8), n, 0,
                          threshold_, factor_, ones, to);
            const int64_t skipped = row - first * kGroup;
            if (skipped != 0) std::copy(to + skipped, to + skipped + keys.size(), to);
        }
        GemmLoopsOf<C>().pack_b(memory, 1, step, queries.size(), keys.size(), panel);
    }

 private:
    static constexpr int64_t kGroup = 32;  // see the kernel Dropout

    template <typename T, typename F>
    void Pack(const StridedMatrix<const T>& x, const Range& queries, const Range& keys, C* memory,
              C* panel, const F& convert) const {
        const auto& loops = GemmLoopsOf<C>();
        if constexpr (std::is_same_v<T, C>) {
            loops.pack_b(x.at(queries.begin, keys.begin), x.column, x.row, queries.size(),
                         keys.size(), panel);
        } else {
            for (int64_t i = 0; i < queries.size(); ++i) {
                const T* from = x.at(queries.begin + i, keys.begin);
                C* to = memory + i * keys.size();
                for (int64_t j = 0; j < keys.size(); ++j) to[j] = convert(from[j * x.column]);
            }
            loops.pack_b(memory, 1, keys.size(), queries.size(), keys.size(), panel);
        }
    }

    const Array mask_;
    const bool has_mask_;
    const bool has_dropout_;
    const AttentionOptions options_;
    const AttentionSizes sizes_;
    philox::Stream stream_{};
    uint32_t threshold_{0};
    C factor_{1};
};

}  // namespace chainerx::native
