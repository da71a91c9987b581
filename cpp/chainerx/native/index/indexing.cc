// Gather along an axis.
#include <algorithm>
#include <cstring>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/native/index/index_plan.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/strided/copy_block.h"
#include "chainerx/native/strided/copy_bytes.h"
#include "chainerx/native/strided/copy_runs.h"

namespace chainerx::native {
namespace {

// Copies `count` items at arbitrary indices.
template <typename T>
void GatherItems(const char* from, int64_t stride, const int64_t* at, int64_t count, char* to,
                 int64_t to_stride) {
    constexpr int64_t kSize = sizeof(T);
    if (stride == kSize && to_stride == kSize) {
        for (int64_t j = 0; j < count; ++j) {
            std::memcpy(to + j * kSize, from + at[j] * kSize, kSize);
        }
    } else {
        for (int64_t j = 0; j < count; ++j) {
            std::memcpy(to + j * to_stride, from + at[j] * stride, kSize);
        }
    }
}

// Gathers the items at indices [begin, end), checking each index. Stops at the first index that is
// negative or out of range, and returns its position. Prefetches kAhead items ahead unless that is
// 0: then as many indices must follow `end`. Not inlined, since GCC's loop takes half as long again
// in the caller.
template <int64_t kAhead, typename T>
[[gnu::noinline]] int64_t GatherChecked(const T* from, int64_t length, const int64_t* indices,
                                        int64_t begin, int64_t end, T* to) {
    const auto n = static_cast<uint64_t>(length);
#pragma GCC unroll 4
    for (; begin < end; ++begin) {
        const auto i = static_cast<uint64_t>(indices[begin]);
        if (i >= n) [[unlikely]]
            break;
        if constexpr (kAhead != 0) PrefetchItem(from, sizeof(T), indices[begin + kAhead]);
        to[begin] = from[i];
    }
    return begin;
}

// Gathers `count` rows of `nbytes` at arbitrary indices.
void CopyRows(const char* from, int64_t stride, const int64_t* rows, int64_t count, int64_t nbytes,
              char* to, int64_t to_stride) {
    constexpr int64_t kAhead = 8;                // rows in flight
    constexpr int64_t kLine = 64;                // bytes
    constexpr int64_t kMoveBytes = 16;           // bytes per move
    constexpr int64_t kInline = 8 * kMoveBytes;  // above, memcpy is as fast
    const int64_t fetched = std::min(nbytes, 4 * kLine);
    const auto prefetch = [&](int64_t j) {
        const char* p = from + rows[j] * stride;
        for (int64_t k = 0; k < fetched; k += kLine) __builtin_prefetch(p + k);
    };
    const bool by_parts = nbytes % kMoveBytes == 0 && nbytes <= kInline;
    for (int64_t j = 0; j < std::min(count, kAhead); ++j) prefetch(j);
    for (int64_t j = 0; j < count; ++j) {
        if (j + kAhead < count) prefetch(j + kAhead);
        const char* p = from + rows[j] * stride;
        char* q = to + j * to_stride;
        if (by_parts) {
            for (int64_t k = 0; k < nbytes; k += kMoveBytes) std::memcpy(q + k, p + k, kMoveBytes);
        } else {
            CopyBytes(q, p, nbytes);
        }
    }
}

// Gathers a few indices at many positions: index by index, and for each of them all positions that
// fit in L1. Returns false, and does nothing, if there are many indices or few positions.
bool TryTakeFew(const Plan& plan, int64_t item_size) {
    constexpr int64_t kMaxIndices = 32;
    constexpr int64_t kMinPositions = 16;
    constexpr int64_t kMaxRunBytes = 256;  // bytes
    constexpr int64_t kChunkBytes = 8192;
    const StridedIterator<2>& rest = plan.rest;
    const int64_t nbytes = plan.run * item_size;
    if (plan.n > kMaxIndices || rest.ndim == 0 || rest.run_length() < kMinPositions) return false;
    if (plan.run != 1 && (plan.run_x != item_size || nbytes > kMaxRunBytes)) return false;
    int64_t buffer[kChunk];
    const int64_t* at = Resolve(plan.indices, 0, plan.n, plan.bound, buffer);
    const int64_t length = rest.run_length();
    const int64_t chunk =
        std::min(length, std::max(kMinPositions, kChunkBytes / (plan.n * nbytes)));
    const int64_t chunks = CeilDiv(length, chunk);
    const int64_t group = CeilDiv(kParallel, chunk * plan.n * plan.run);
    const int64_t count = plan.outer / length * chunks;
    ParallelFor(CeilDiv(count, group), [&](int64_t g) {
        for (int64_t i = g * group; i < std::min(count, (g + 1) * group); ++i) {
            const int64_t begin = i % chunks * chunk;
            const StridedCursor<2> cursor{rest, i / chunks * length + begin};
            for (int64_t j = 0; j < plan.n; ++j) {
                CopyRuns(cursor.p[1] + j * plan.axis_y, rest.run_stride(1),
                         cursor.p[0] + at[j] * plan.axis_x, rest.run_stride(0),
                         std::min(chunk, length - begin), nbytes);
            }
        }
    });
    return true;
}

void Take(const char* op, const Array& x, int8_t axis, const Array& indices, IndexBoundsMode mode,
          const Array& out) {
    const Plan plan{op, x, axis, indices, mode, out};
    if (plan.empty()) {
        CheckAll(indices, plan.bound);
        return;
    }
    if (TryTakeFew(plan, x.GetItemSize())) return;
    // f(from, to, resolved, count, items of each run)
    const auto all = [&](const auto& f) {
        const int64_t part = std::min(plan.run, kParallel);
        const int64_t parts = CeilDiv(plan.run, part);
        const int64_t index_block = std::min(plan.n, kParallel / part);
        const int64_t index_blocks = CeilDiv(plan.n, index_block);
        const int64_t outer_block = std::max<int64_t>(1, kParallel / (part * index_block));
        const int64_t outer_blocks = CeilDiv(plan.outer, outer_block);
        ParallelFor(outer_blocks * index_blocks * parts, [&](int64_t block) {
            const int64_t first = block % parts * part;
            block /= parts;
            const int64_t j = block % index_blocks * index_block;
            const int64_t o = block / index_blocks * outer_block;
            const int64_t items = std::min(part, plan.run - first);
            plan.Range(
                o, std::min(o + outer_block, plan.outer), j, std::min(j + index_block, plan.n),
                [&](const char* from, char* to, const int64_t* resolved, int64_t count) {
                    f(from + first * plan.run_x, to + first * plan.run_y, resolved, count, items);
                });
        });
    };
    if (plan.run > 1 && plan.run_x == x.GetItemSize()) {
        all([&](const char* from, char* to, const int64_t* at, int64_t count, int64_t items) {
            CopyRows(from, plan.axis_x, at, count, items * plan.run_x, to, plan.axis_y);
        });
        return;
    }
    VisitItemSize(x.GetItemSize(), [&]<typename T>() {
        if (plan.run == 1) {
            const auto gather = [&](const char* from, char* to, const int64_t* at, int64_t count,
                                    auto...) {
                GatherItems<T>(from, plan.axis_x, at, count, to, plan.axis_y);
            };
            const bool adjacent = plan.axis_x == sizeof(T) && plan.axis_y == sizeof(T);
            if (plan.outer == 1 && adjacent && indices.dtype() == Dtype::kInt64) {
                const auto* from = reinterpret_cast<const T*>(plan.rest.data[0]);
                const auto* at = reinterpret_cast<const int64_t*>(indices.raw_data());
                auto* to = reinterpret_cast<T*>(plan.rest.data[1]);
                ParallelFor(CeilDiv(plan.n, kParallel), [&](int64_t block) {
                    const int64_t end = std::min((block + 1) * kParallel, plan.n);
                    const int64_t length = plan.bound.length;
                    int64_t begin = block * kParallel;
                    if (length > kNearBytes / static_cast<int64_t>(sizeof(T))) {
                        const int64_t last = std::min(end, plan.n - kIndicesAhead);
                        begin = GatherChecked<kIndicesAhead>(from, length, at, begin, last, to);
                    }
                    begin = GatherChecked<0>(from, length, at, begin, end, to);
                    plan.Range(0, 1, begin, end, gather);
                });
            } else {
                all(gather);
            }
        } else {
            all([&](const char* from, char* to, const int64_t* at, int64_t count, int64_t items) {
                for (int64_t j = 0; j < count; ++j) {
                    CopyStrided(to + j * plan.axis_y, plan.run_y, from + at[j] * plan.axis_x,
                                plan.run_x, items, sizeof(T));
                }
            });
        }
    });
}
CX_NATIVE_KERNEL(Take)

void LinearIndex(const char* op, const Array& indices, int64_t length, int64_t factor,
                 const Array& out) {
    const Bound bound{op, length, IndexBoundsMode::kRaise};
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t n = indices.GetTotalSize();
    int64_t buffer[kChunk];
    for (int64_t begin = 0; begin < n; begin += kChunk) {
        const int64_t count = std::min(kChunk, n - begin);
        const int64_t* resolved = Resolve(indices, begin, count, bound, buffer);
        for (int64_t i = 0; i < count; ++i) to[begin + i] += factor * resolved[i];
        if (begin % (128 * kChunk) == 127 * kChunk) internal::CheckInterrupt();
    }
}
CX_NATIVE_KERNEL(LinearIndex)

}  // namespace
}  // namespace chainerx::native
