#include "chainerx/native/strided/copy_runs.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

typedef int64_t Batch __attribute__((vector_size(16)));  // NOLINT: `using` can't say this

template <typename T>
inline void Move(char* dst, const char* src) {
    std::memcpy(dst, src, sizeof(T));
}

inline void ForRuns(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n,
                    const auto& move) {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i, dst += dst_stride, src += src_stride) move(dst, src);
}

}  // namespace

void CopyRuns(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t n,
              int64_t nbytes) {
    const auto each = [&](const auto& move) { ForRuns(dst, dst_stride, src, src_stride, n, move); };
    // Copies by one move, or by two that overlap.
    const auto twice = [&]<typename T>(T) {
        const int64_t rest = nbytes - static_cast<int64_t>(sizeof(T));
        if (rest == 0) {
            each([](char* to, const char* from) { Move<T>(to, from); });
        } else {
            each([rest](char* to, const char* from) {
                Move<T>(to, from);
                Move<T>(to + rest, from + rest);
            });
        }
    };
    constexpr int64_t kBatch = sizeof(Batch);
    constexpr int64_t kInline = 256;  // above, memcpy is faster
    if (nbytes == 1) {
        twice(uint8_t{});
    } else if (nbytes < 4) {
        twice(uint16_t{});
    } else if (nbytes < 8) {
        twice(uint32_t{});
    } else if (nbytes < kBatch) {
        twice(uint64_t{});
    } else if (nbytes <= 2 * kBatch) {
        twice(Batch{});
    } else if (nbytes > kInline) {
        each([nbytes](char* to, const char* from) {
            std::memcpy(to, from, static_cast<size_t>(nbytes));
        });
    } else {
        each([nbytes, last = nbytes - kBatch](char* to, const char* from) {
            int64_t k = 0;
            for (; k + 4 * kBatch <= nbytes; k += 4 * kBatch) {
                Batch x[4];
                for (int j = 0; j < 4; ++j) std::memcpy(&x[j], from + k + j * kBatch, kBatch);
                for (int j = 0; j < 4; ++j) std::memcpy(to + k + j * kBatch, &x[j], kBatch);
            }
            for (; k < last; k += kBatch) Move<Batch>(to + k, from + k);
            Move<Batch>(to + last, from + last);
        });
    }
}

namespace {

constexpr int64_t kLongAxis = 16;
constexpr int64_t kMaxPlaces = 64;      // items in a row: squares are transposed in registers
constexpr int64_t kMaxRunBytes = 1024;  // bytes; above, a call per row is as fast
constexpr int64_t kChunkBytes = 8192;   // bytes of the output, which stay in L1
constexpr int64_t kGroupBytes = 256 << 10;

// The axes before `axis`, `axis` itself in chunks, and those after it up to `last`, whose positions
// are enumerated as places.
struct Places {
    const StridedIterator<2>& iter;
    int axis;
    int last;
    int64_t nbytes;

    void CopyChunk(int64_t i, int64_t chunk) const {
        const int64_t chunks = CeilDiv(iter.dims[axis], chunk);
        const int64_t begin = i % chunks * chunk;
        const int64_t n = std::min(chunk, iter.dims[axis] - begin);
        i /= chunks;
        char* p[2];
        for (int k = 0; k < 2; ++k) p[k] = iter.data[k] + begin * iter.strides[k][axis];
        for (int d = axis - 1; d >= 0; --d) {
            const int64_t at = i % iter.dims[d];
            i /= iter.dims[d];
            for (int k = 0; k < 2; ++k) p[k] += at * iter.strides[k][d];
        }
        CopyFrom(axis + 1, p[0], p[1], n);
    }

    void CopyFrom(int d, char* dst, const char* src, int64_t n) const {
        if (d > last) {
            CopyRuns(dst, iter.strides[0][axis], src, iter.strides[1][axis], n, nbytes);
            return;
        }
        for (int64_t i = 0; i < iter.dims[d]; ++i) {
            CopyFrom(d + 1, dst + i * iter.strides[0][d], src + i * iter.strides[1][d], n);
        }
    }
};

}  // namespace

bool TryCopyShortRuns(const StridedIterator<2>& iter, int64_t item_size) {
    int last = iter.ndim - 1;
    if (last < 1 || iter.dims[last] >= kMaxRunBytes) return false;
    int64_t nbytes = item_size;
    const bool has_runs = iter.run_stride(0) == item_size && iter.run_stride(1) == item_size;
    if (has_runs) {
        nbytes *= iter.dims[last--];
        if (nbytes > kMaxRunBytes) return false;
    }
    int axis = last;
    int64_t places = 1;
    for (; axis >= 0 && iter.dims[axis] < kLongAxis; --axis) places *= iter.dims[axis];
    // A single short axis of items is a 2-D block for CopyBlock.
    if (axis < 0 || places >= kMaxPlaces || (!has_runs && last - axis < 2)) return false;
    const int64_t chunk = std::max(kChunkBytes / (places * nbytes), kLongAxis);
    int64_t chunks = CeilDiv(iter.dims[axis], chunk);
    for (int d = 0; d < axis; ++d) chunks *= iter.dims[d];
    const Places all{iter, axis, last, nbytes};
    const int64_t bytes = std::min(chunk, iter.dims[axis]) * places * nbytes;
    const int64_t group = std::max<int64_t>(1, kGroupBytes / bytes);
    ParallelFor(CeilDiv(chunks, group), [&](int64_t g) {
        const int64_t end = std::min(chunks, (g + 1) * group);
        for (int64_t i = g * group; i < end; ++i) all.CopyChunk(i, chunk);
    });
    return true;
}

}  // namespace chainerx::native
