// Copying with conversion.
#include <algorithm>
#include <type_traits>

#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

constexpr int64_t kTile = 512;
constexpr int64_t kBlock = 64 * 1024;

template <typename From, typename To>
void CastLoop(const void* x_data, void* out_data, int64_t n) {
    const From* x = static_cast<const From*>(x_data);
    To* out = static_cast<To*>(out_data);
    for (int64_t i = 0; i < n; ++i) out[i] = Cast<To>(x[i]);
}

// Through int32, as NumPy does it on x86-64.
template <typename From, typename To>
void CastToSmallInt(const void* x_data, void* out_data, int64_t n) {
    const UnaryLoop to_int32 =
        std::is_same_v<From, float> ? cast_loops().float32_to_int32 : cast_loops().float64_to_int32;
    const From* x = static_cast<const From*>(x_data);
    To* out = static_cast<To*>(out_data);
    int32_t tile[kTile];
    for (int64_t i = 0; i < n; i += kTile) {
        const int64_t count = std::min(kTile, n - i);
        to_int32(x + i, tile, count);
        for (int64_t j = 0; j < count; ++j) out[i + j] = static_cast<To>(tile[j]);
    }
}

template <typename From, typename To>
constexpr bool kThroughInt32 = std::is_floating_point_v<From> && std::is_integral_v<To> &&
                               !std::is_same_v<To, bool> && sizeof(To) <= 2;

template <typename From>
UnaryLoop LoopFrom(Dtype to) {
    return VisitDtype(to, []<typename To>() -> UnaryLoop {
        if constexpr (kThroughInt32<From, To>)
            return &CastToSmallInt<From, To>;
        else
            return &CastLoop<From, To>;
    });
}

// Null if the dtypes are the same.
UnaryLoop LoopOf(Dtype from, Dtype to) {
    if (from == to) return nullptr;
    if (from == Dtype::kFloat32 && to == Dtype::kFloat16) return cast_loops().float32_to_float16;
    if (from == Dtype::kFloat32 && to == Dtype::kBFloat16) return cast_loops().float32_to_bfloat16;
    if (from == Dtype::kFloat16 && to == Dtype::kFloat32) return cast_loops().float16_to_float32;
    if (from == Dtype::kBFloat16 && to == Dtype::kFloat32) return cast_loops().bfloat16_to_float32;
    if (from == Dtype::kFloat32 && to == Dtype::kInt32) return cast_loops().float32_to_int32;
    if (from == Dtype::kFloat64 && to == Dtype::kInt32) return cast_loops().float64_to_int32;
    return VisitDtype(from, [to]<typename From>() { return LoopFrom<From>(to); });
}

// Elements begin to end in C order. Runs of one element's stride need no tile.
void CastRange(const Walk<2>& walk, UnaryLoop loop, int64_t in_size, int64_t out_size,
               int64_t begin, int64_t end) {
    alignas(64) char tile_in[kTile * sizeof(Complex128)];
    alignas(64) char tile_out[kTile * sizeof(Complex128)];
    const int64_t in_stride = walk.run_stride(1);
    const int64_t out_stride = walk.run_stride(0);
    Cursor<2> cursor{walk, begin};
    while (begin < end) {
        int64_t n = std::min(cursor.left(), end - begin);
        if (loop == nullptr) {
            CopyStrided(cursor.p[0], out_stride, cursor.p[1], in_stride, n, in_size);
        } else if (in_stride == in_size && out_stride == out_size) {
            loop(cursor.p[1], cursor.p[0], n);
        } else {
            n = std::min(n, kTile);
            CopyStrided(tile_in, in_size, cursor.p[1], in_stride, n, in_size);
            loop(tile_in, tile_out, n);
            CopyStrided(cursor.p[0], out_stride, tile_out, out_size, n, out_size);
        }
        cursor.Advance(n);
        begin += n;
    }
}

void AsType(const Array& x, const Array& out) {
    const UnaryLoop loop = LoopOf(x.dtype(), out.dtype());
    const Array* const arrays[2] = {&out, &x};
    char* const values[2] = {nullptr, nullptr};
    const Walk<2> walk{out.shape(), arrays, values};
    const int64_t in_size = x.GetItemSize();
    const int64_t out_size = out.GetItemSize();
    if (walk.total == 0) return;
    if (walk.total <= 2 * kBlock) {
        CastRange(walk, loop, in_size, out_size, 0, walk.total);
        return;
    }
    ParallelFor((walk.total + kBlock - 1) / kBlock, [&](int64_t i) {
        CastRange(walk, loop, in_size, out_size, i * kBlock,
                  std::min(walk.total, (i + 1) * kBlock));
    });
}
CX_NATIVE_KERNEL(AsType)

}  // namespace
}  // namespace chainerx::native
