// Blocks are combined in a cascade of radix 16, whose error grows with the logarithm of the number
// of elements, as with pairwise summation.
#include "chainerx/native/reduce/reduce_cascade.h"

#include <algorithm>
#include <cstring>

#include "chainerx/core/interrupt.h"
#include "chainerx/native/strided/copy_block.h"

namespace chainerx::native {
namespace {

constexpr int64_t kMaxItem = 16;

// Sums rows of accumulators, of up to kRowBytes, in levels. The caller fills level 0.
template <int64_t kRowBytes>
class Cascade {
 public:
    static constexpr int kRadix = 16;
    static constexpr int kLevels = 8;  // 16^7 groups; the last level takes those beyond

    Cascade(const FoldLoops& loops, int64_t width)
        : loops_{loops}, width_{width}, size_{static_cast<size_t>(width * loops.acc_size)} {
        std::fill_n(counts_, kLevels, 0);
    }

    // The destination of the next group of rows.
    char* bottom() { return rows_[0]; }

    // Call this when the bottom is full.
    void Push() {
        int l = 0;
        do {
            Merge(l);
            ++l;
        } while (counts_[l] == kRadix && l + 1 < kLevels);
        if (l > 2) internal::CheckInterrupt();  // after each 256 groups
    }

    // Combines all levels, lowest first, and returns the address of the result.
    char* Finish() {
        int l = 1;
        while (counts_[l] == 0) ++l;
        char* total = rows_[l];
        for (++l; l < kLevels; ++l) {
            if (counts_[l] == 0) continue;
            loops_.combine(rows_[l], total, width_);
            total = rows_[l];
        }
        return total;
    }

 private:
    // Merges level l into level l + 1.
    void Merge(int l) {
        if (counts_[l + 1] == 0) {
            std::memcpy(rows_[l + 1], rows_[l], size_);
        } else {
            loops_.combine(rows_[l + 1], rows_[l], width_);
        }
        counts_[l] = 0;
        ++counts_[l + 1];
    }

    const FoldLoops& loops_;
    int64_t width_;
    size_t size_;
    int counts_[kLevels];
    alignas(64) char rows_[kLevels][kRowBytes];
};

bool IsAdjacent(const FoldLoops& loops, const Nest& nest) {
    return nest.ndim == 1 && nest.strides[0][0] == loops.item_size;
}

}  // namespace

void FoldRun(const FoldLoops& loops, const char* data, const Nest& nest, int64_t begin, int64_t n,
             const char* center, void* acc) {
    alignas(64) char buffer[kReduceBlock * kMaxItem];
    const int64_t item = loops.item_size;
    const bool adjacent = IsAdjacent(loops, nest);
    const auto fetch = [&](int64_t k) {
        return adjacent ? data + begin * item : FetchBlock(data, nest, item, begin, k, buffer);
    };
    if (n <= kReduceBlock) {
        loops.runs(fetch(n), 0, 1, n, center, acc);
        return;
    }
    if (loops.longest > kReduceBlock) {
        const int64_t most = adjacent ? loops.longest : kReduceBlock;
        int64_t k = std::min(n, most);
        loops.runs(fetch(k), 0, 1, k, center, acc);
        for (int64_t block = 1; n > k; ++block) {
            if (loops.is_final != nullptr && loops.is_final(acc)) return;
            begin += k;
            n -= k;
            k = std::min(n, most);
            alignas(16) char next[kMaxItem];
            loops.runs(fetch(k), 0, 1, k, center, next);
            loops.combine(acc, next, 1);
            if (block % 64 == 0) internal::CheckInterrupt();
        }
        return;
    }
    const int64_t n_lanes = ReduceLanes(loops.acc_size);
    Cascade<kReduceLaneBytes> cascade{loops, n_lanes};
    while (n > 0) {
        const int64_t k = std::min(n, kReduceBlock);
        loops.block(fetch(k), k, center, cascade.bottom());
        cascade.Push();
        begin += k;
        n -= k;
    }
    char* lanes = cascade.Finish();
    for (int64_t w = n_lanes / 2; w > 0; w /= 2) {
        loops.combine(lanes, lanes + w * loops.acc_size, w);
    }
    std::memcpy(acc, lanes, static_cast<size_t>(loops.acc_size));
}

void FoldRuns(const FoldLoops& loops, const char* data, int64_t step, int64_t n_runs,
              const Nest& nest, int64_t n, const char* centers, char* acc) {
    if (n <= loops.longest && IsAdjacent(loops, nest)) {
        loops.runs(data, step, n_runs, n, centers, acc);
        return;
    }
    for (int64_t j = 0; j < n_runs; ++j) {
        const char* center = centers == nullptr ? nullptr : centers + j * loops.center_size;
        FoldRun(loops, data + j * step, nest, 0, n, center, acc + j * loops.acc_size);
    }
}

void FoldRows(const FoldLoops& loops, const char* data, const Nest& nest, int64_t begin, int64_t n,
              int64_t stride, int64_t width, const char* centers, void* acc) {
    const int64_t item = loops.item_size;
    const char* rows[kReduceGroup];
    alignas(64) char buffer[kReduceGroup * kGatheredRowBytes];
    const auto fetch = [&](int64_t k) {
        FetchRows(data, nest, begin, k, rows);
        if (stride == item) return;
        for (int64_t r = 0; r < k; ++r) {
            char* to = buffer + r * kGatheredRowBytes;
            CopyStrided(to, item, rows[r], stride, width, item);
            rows[r] = to;
        }
    };
    if (n <= kReduceGroup) {
        fetch(n);
        loops.rows(rows, n, width, centers, acc);
        return;
    }
    Cascade<kReduceRowBytes> cascade{loops, width};
    while (n > 0) {
        const int64_t k = std::min(n, kReduceGroup);
        fetch(k);
        loops.rows(rows, k, width, centers, cascade.bottom());
        cascade.Push();
        begin += k;
        n -= k;
    }
    std::memcpy(acc, cascade.Finish(), static_cast<size_t>(width * loops.acc_size));
}

}  // namespace chainerx::native
