// Copying with conversion.
#include <algorithm>
#include <type_traits>

#include "chainerx/kernels/memory.h"
#include "chainerx/native/copy_runs.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/tiles.h"

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

// As bytes: the compiler has no vectors of bool.
template <typename To>
void CastBool(const void* x_data, void* out_data, int64_t n) {
    const auto* x = static_cast<const uint8_t*>(x_data);
    To* out = static_cast<To*>(out_data);
    const To zero = Cast<To>(0);
    const To one = Cast<To>(1);
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] != 0 ? one : zero;
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
        else if constexpr (std::is_same_v<From, bool>)
            return &CastBool<To>;
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

void AsType(const Array& x, const Array& out) {
    const Array* const arrays[2] = {&out, &x};
    char* const values[2] = {nullptr, nullptr};
    Walk<2> walk{out.shape(), arrays, values, AxisOrder::kByStride};
    const LoopTraits<2> traits{{out.GetItemSize(), x.GetItemSize()}, false, INT64_MAX};
    const UnaryLoop loop = LoopOf(x.dtype(), out.dtype());
    if (loop == nullptr) {
        if (walk.total != 0 && TryCopyShortRuns(walk, x.GetItemSize())) return;
        RunTiles(walk, traits, kBlock, CopyLoop{});
    } else {
        RunTiles(walk, traits, kBlock,
                 [loop](char* const* p, const int64_t*, int64_t n) { loop(p[1], p[0], n); });
    }
}
CX_NATIVE_KERNEL(AsType)

}  // namespace
}  // namespace chainerx::native
