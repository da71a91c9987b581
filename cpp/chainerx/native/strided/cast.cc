// Copies with dtype conversion.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "chainerx/kernels/elementwise/logic.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided/cast_loops.h"
#include "chainerx/native/strided/copy_runs.h"
#include "chainerx/native/strided/scalar_traits.h"
#include "chainerx/native/strided/tiled_loop.h"

namespace chainerx::native {

CX_DISPATCH(cast, CastLoops)

namespace {

constexpr int64_t kTile = 512;
constexpr int64_t kBlock = 64 * 1024;

template <typename From, typename To>
void CastLoop(const void* x_data, void* out_data, int64_t n) {
    const From* x = static_cast<const From*>(x_data);
    To* out = static_cast<To*>(out_data);
    // Unrolled, since it takes half as long again if its few instructions cross a cache line.
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) out[i] = Cast<To>(x[i]);
}

// int64 to double without a conversion instruction: the halves of the integer become mantissas of
// 2^84 and 2^52; the upper half of a signed one is biased by 2^31, so that it is not negative. The
// difference of the biases is exact, so there is one rounding. All steps exist for vectors; the
// conversion itself needs AVX-512.
template <typename From>
void CastToFloat64(const void* x_data, void* out_data, int64_t n) {
    constexpr uint64_t kSign = std::is_signed_v<From> ? uint64_t{1} << 31 : 0;
    constexpr double kMoved = 0x1p84 + (kSign != 0 ? 0x1p63 : 0.0) + 0x1p52;
    const auto* x = static_cast<const uint64_t*>(x_data);
    auto* out = static_cast<double*>(out_data);
    for (int64_t i = 0; i < n; ++i) {
        const auto upper =
            std::bit_cast<double>((x[i] >> 32 ^ kSign) | std::bit_cast<uint64_t>(0x1p84));
        const auto lower =
            std::bit_cast<double>((x[i] & 0xFFFFFFFF) | std::bit_cast<uint64_t>(0x1p52));
        out[i] = (upper - kMoved) + lower;
    }
}

// As Cast<int64_t>; the instruction, too, returns INT64_MIN on overflow.
template <typename From>
void CastToInt64(const void* x_data, void* out_data, int64_t n) {
    const auto* x = static_cast<const From*>(x_data);
    auto* out = static_cast<int64_t*>(out_data);
    for (int64_t i = 0; i < n; ++i) {
#if defined(__x86_64__)
        if constexpr (sizeof(From) == sizeof(float)) {
            out[i] = _mm_cvttss_si64(_mm_set_ss(x[i]));
        } else {
            out[i] = _mm_cvttsd_si64(_mm_set_sd(x[i]));
        }
#else
        out[i] = Cast<int64_t>(x[i]);
#endif
    }
}

void Float64ToFloat16(const void* x_data, void* out_data, int64_t n) {
    const auto* x = static_cast<const double*>(x_data);
    auto* out = static_cast<Float16*>(out_data);
    float tile[kTile];
    for (int64_t i = 0; i < n; i += kTile) {
        const int64_t count = std::min(kTile, n - i);
        for (int64_t j = 0; j < count; ++j) tile[j] = Float16::RoundToOdd(x[i + j]);
        cast_loops().float32_to_float16(tile, out + i, count);
    }
}

// Works on bytes: the compiler has no vectors of bool.
template <typename To>
void CastBool(const void* x_data, void* out_data, int64_t n) {
    const auto* x = static_cast<const uint8_t*>(x_data);
    To* out = static_cast<To*>(out_data);
    const To zero = Cast<To>(0);
    const To one = Cast<To>(1);
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] != 0 ? one : zero;
}

// Converts through int32, as NumPy does on x86-64.
template <typename From, typename To>
void CastToSmallInt(const void* x_data, void* out_data, int64_t n) {
    const Conversion to_int32 =
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

Conversion LoopOf(Dtype from, Dtype to);

// Converts the real parts of complex numbers.
template <typename R, typename To>
void CastReals(const void* x_data, void* out_data, int64_t n) {
    const auto* x = static_cast<const R*>(x_data);
    auto* out = static_cast<To*>(out_data);
    const Conversion loop = LoopOf(kDtypeOf<R>, kDtypeOf<To>);
    R tile[kTile];
    for (int64_t i = 0; i < n; i += kTile) {
        const int64_t count = std::min(kTile, n - i);
        for (int64_t j = 0; j < count; ++j) tile[j] = x[2 * (i + j)];
        loop(tile, out + i, count);
    }
}

template <typename From, typename To>
constexpr bool kByReals = kIsComplexType<From> && !kIsComplexType<To> &&
                          !std::is_same_v<To, bool> && !std::is_same_v<RealOf<From>, To>;

template <typename From>
Conversion LoopFrom(Dtype to) {
    return VisitDtype(to, []<typename To>() -> Conversion {
        if constexpr (kByReals<From, To>)
            return &CastReals<RealOf<From>, To>;
        else if constexpr (kThroughInt32<From, To>)
            return &CastToSmallInt<From, To>;
        else if constexpr (std::is_same_v<From, bool>)
            return &CastBool<To>;
        else
            return &CastLoop<From, To>;
    });
}

// Returns null if the dtypes are equal.
Conversion LoopOf(Dtype from, Dtype to) {
    if (from == to) return nullptr;
    if (from == Dtype::kFloat32 && to == Dtype::kFloat16) return cast_loops().float32_to_float16;
    if (from == Dtype::kFloat32 && to == Dtype::kBFloat16) return cast_loops().float32_to_bfloat16;
    if (from == Dtype::kFloat16 && to == Dtype::kFloat32) return cast_loops().float16_to_float32;
    if (from == Dtype::kBFloat16 && to == Dtype::kFloat32) return cast_loops().bfloat16_to_float32;
    if (from == Dtype::kFloat32 && to == Dtype::kInt32) return cast_loops().float32_to_int32;
    if (from == Dtype::kFloat64 && to == Dtype::kInt32) return cast_loops().float64_to_int32;
    if (from == Dtype::kFloat32 && to == Dtype::kInt64) return &CastToInt64<float>;
    if (from == Dtype::kFloat64 && to == Dtype::kInt64) return &CastToInt64<double>;
    if (from == Dtype::kFloat64 && to == Dtype::kFloat16) return &Float64ToFloat16;
    if (from == Dtype::kInt64 && to == Dtype::kFloat64) return &CastToFloat64<int64_t>;
    if (from == Dtype::kUInt64 && to == Dtype::kFloat64) return &CastToFloat64<uint64_t>;
    return VisitDtype(from, [to]<typename From>() { return LoopFrom<From>(to); });
}

// Whether the comparison of this dtype with 0 has a SIMD loop.
bool IsComparedInVectors(Dtype dtype) {
    const DtypeKind kind = GetKind(dtype);
    return kind == DtypeKind::kInt || kind == DtypeKind::kUInt || dtype == Dtype::kFloat32 ||
           dtype == Dtype::kFloat64;
}

void AsType(const Array& x, const Array& out) {
    if (out.dtype() == Dtype::kBool && IsComparedInVectors(x.dtype())) {
        CallOn<kernels::NotEqual>(out.device(), x, Scalar{0}, out);
        return;
    }
    const Array* const arrays[2] = {&out, &x};
    char* const values[2] = {nullptr, nullptr};
    StridedIterator<2> iter{out.shape(), arrays, values, AxisOrder::kByStride};
    const LoopTraits<2> traits{{out.GetItemSize(), x.GetItemSize()}, false, INT64_MAX};
    const Conversion loop = LoopOf(x.dtype(), out.dtype());
    if (loop == nullptr) {
        if (iter.total != 0 && TryCopyShortRuns(iter, x.GetItemSize())) return;
        RunTiles(iter, traits, BlockSizes::OfLight(kBlock), CopyLoop{});
    } else {
        RunTiles(iter, traits, BlockSizes::OfLight(kBlock),
                 [loop](char* const* p, const int64_t*, int64_t n) { loop(p[1], p[0], n); });
    }
}
CX_NATIVE_KERNEL(AsType)

}  // namespace
}  // namespace chainerx::native
