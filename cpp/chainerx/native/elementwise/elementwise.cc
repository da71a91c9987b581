#include "chainerx/native/elementwise/elementwise.h"

#include <cstring>
#include <optional>

#include "chainerx/core/scalar.h"
#include "chainerx/native/elementwise/divide_loops.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/strided/cast_loops.h"
#include "chainerx/native/strided/tiled_loop.h"

namespace chainerx::native {

CX_DISPATCH(divide, DivideLoops)

namespace {

// Elements per chunk of a thread. A result does not depend on its chunk.
constexpr int64_t kElementwiseBlock = 32 * 1024;
constexpr int64_t kHeavyBlock = 8 * 1024;
constexpr BlockSizes BlockSizesOf(Cost cost) {
    switch (cost) {
        case Cost::kLight:
            break;
        case Cost::kHeavy:
            return {kHeavyBlock, 4 * kHeavyBlock};
        case Cost::kSlow:
            return {kHeavyBlock, kHeavyBlock};
    }
    return BlockSizes::OfLight(kElementwiseBlock);
}
// Elements of a 16-bit float that are upcast at a time.
constexpr int64_t kHalfTile = 1024;

constexpr bool IsHalf(Dtype dtype) { return dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16; }

void ToFloat32(Dtype dtype, const void* x, void* out, int64_t n) {
    const CastLoops& loops = cast_loops();
    (dtype == Dtype::kFloat16 ? loops.float16_to_float32 : loops.bfloat16_to_float32)(x, out, n);
}
void FromFloat32(Dtype dtype, const void* x, void* out, int64_t n) {
    const CastLoops& loops = cast_loops();
    (dtype == Dtype::kFloat16 ? loops.float32_to_float16 : loops.float32_to_bfloat16)(x, out, n);
}

// Runs a kernel over N operands, the output first; all inputs have the same dtype.
template <int N, typename F>
void RunStrided(StridedIterator<N>& iter, Dtype in_dtype, Dtype out_dtype, Cost cost,
                const F& loop) {
    const bool is_half = IsHalf(in_dtype);
    LoopTraits<N> traits{{}, N > 2, is_half ? kHalfTile : INT64_MAX};
    traits.item_size[0] = GetItemSize(out_dtype);
    for (int k = 1; k < N; ++k) traits.item_size[k] = GetItemSize(in_dtype);
    const BlockSizes block = BlockSizesOf(cost);
    if (!is_half) {
        RunTiles(iter, traits, block, loop);
        return;
    }
    const bool half_out = IsHalf(out_dtype);
    RunTiles(iter, traits, block, [&](char* const* p, const int64_t* steps, int64_t n) {
        alignas(64) float wide[N][kHalfTile];
        char* q[N];
        for (int k = 0; k < N; ++k) q[k] = reinterpret_cast<char*>(wide[k]);
        for (int k = 1; k < N; ++k) ToFloat32(in_dtype, p[k], wide[k], steps[k] != 0 ? n : 1);
        if (!half_out) q[0] = p[0];
        loop(q, steps, n);
        if (half_out) FromFloat32(out_dtype, wide[0], p[0], n);
    });
}

[[noreturn]] CX_COLD void ThrowNoLoop(Dtype dtype) {
    ThrowUnexpectedDtype(dtype, "a dtype that the rule of this kernel computes in");
}

// Handles all but small contiguous arrays; out of line to keep the fast path short.
__attribute__((noinline)) void RunUnaryGeneral(const UnaryKernel& kernel, const Array& x,
                                               const Array& out) {
    const UnaryLoop loop = kernel.loops[static_cast<int>(x.dtype())];
    if (loop == nullptr) ThrowNoLoop(x.dtype());
    const Array* const arrays[2] = {&out, &x};
    char* const values[2] = {nullptr, nullptr};
    StridedIterator<2> iter{out.shape(), arrays, values, AxisOrder::kByStride};
    RunStrided(iter, x.dtype(), out.dtype(), kernel.cost,
               [loop](char* const* p, const int64_t*, int64_t n) { loop(p[1], p[0], n); });
}

struct ScalarValue {
    alignas(16) char bytes[sizeof(Complex128)];

    ScalarValue(const Scalar& scalar, Dtype dtype) {
        VisitDtype(dtype, [&]<typename T>() {
            const T value = scalar.To<T>();
            std::memcpy(bytes, &value, sizeof(T));
        });
    }
};

__attribute__((noinline)) void RunBinaryGeneral(const BinaryKernel& kernel, const Operand& x1,
                                                const Operand& x2, const Array& out) {
    const Dtype dtype = (x1.is_array() ? x1 : x2).array().dtype();
    const BinaryLoop loop = kernel.loops[static_cast<int>(dtype)];
    if (loop == nullptr) ThrowNoLoop(dtype);
    ScalarValue value1{x1.is_array() ? Scalar{} : x1.scalar(), dtype};
    ScalarValue value2{x2.is_array() ? Scalar{} : x2.scalar(), dtype};
    const Array* const arrays[3] = {&out, x1.is_array() ? &x1.array() : nullptr,
                                    x2.is_array() ? &x2.array() : nullptr};
    char* const values[3] = {nullptr, value1.bytes, value2.bytes};
    StridedIterator<3> iter{out.shape(), arrays, values, AxisOrder::kByStride};
    RunStrided(iter, dtype, out.dtype(), kernel.cost,
               [loop](char* const* p, const int64_t* steps, int64_t n) {
                   loop(p[1], steps[1], p[2], steps[2], p[0], n);
               });
}

}  // namespace

void RunUnary(const UnaryKernel& kernel, const Array& x, const Array& out) {
    const Dtype dtype = x.dtype();
    const UnaryLoop loop = kernel.loops[static_cast<int>(dtype)];
    if (out.GetTotalSize() <= kHeavyBlock && loop != nullptr && !IsHalf(dtype) &&
        out.IsContiguous() && InStep(x, out)) [[likely]] {
        loop(x.raw_data(), out.raw_data(), out.GetTotalSize());
        return;
    }
    RunUnaryGeneral(kernel, x, out);
}

void RunBinary(const BinaryKernel& kernel, const Operand& x1, const Operand& x2, const Array& out) {
    if (out.GetTotalSize() <= kHeavyBlock && out.IsContiguous()) [[likely]] {
        if (x1.is_array() && InStep(x1.array(), out)) {
            const Dtype dtype = x1.array().dtype();
            const BinaryLoop loop = kernel.loops[static_cast<int>(dtype)];
            if (loop != nullptr && !IsHalf(dtype)) {
                if (!x2.is_array()) {
                    const ScalarValue value{x2.scalar(), dtype};
                    loop(x1.array().raw_data(), 1, value.bytes, 0, out.raw_data(),
                         out.GetTotalSize());
                    return;
                }
                if (InStep(x2.array(), out)) {
                    loop(x1.array().raw_data(), 1, x2.array().raw_data(), 1, out.raw_data(),
                         out.GetTotalSize());
                    return;
                }
            }
        } else if (!x1.is_array() && InStep(x2.array(), out)) {
            const Dtype dtype = x2.array().dtype();
            const BinaryLoop loop = kernel.loops[static_cast<int>(dtype)];
            if (loop != nullptr && !IsHalf(dtype)) {
                const ScalarValue value{x1.scalar(), dtype};
                loop(value.bytes, 0, x2.array().raw_data(), 1, out.raw_data(), out.GetTotalSize());
                return;
            }
        }
    }
    RunBinaryGeneral(kernel, x1, x2, out);
}

void RunTernary(const TernaryKernel& kernel, const Operand& x1, const Operand& x2,
                const Operand& x3, const Array& out) {
    const Dtype dtype = (x1.is_array() ? x1 : x2.is_array() ? x2 : x3).array().dtype();
    const TernaryLoop loop = kernel.loops[static_cast<int>(dtype)];
    if (loop == nullptr) ThrowNoLoop(dtype);
    const Operand* const xs[3] = {&x1, &x2, &x3};
    const Array* arrays[4] = {&out};
    std::optional<ScalarValue> scalars[3];
    char* values[4] = {};
    bool in_step = out.GetTotalSize() <= kHeavyBlock && out.IsContiguous() && !IsHalf(dtype);
    for (int k = 0; k < 3; ++k) {
        if (xs[k]->is_array()) {
            arrays[k + 1] = &xs[k]->array();
            in_step = in_step && InStep(xs[k]->array(), out);
        } else {
            values[k + 1] = scalars[k].emplace(xs[k]->scalar(), dtype).bytes;
        }
    }
    if (in_step) {
        const auto data = [&](int k) {
            return arrays[k] != nullptr ? arrays[k]->raw_data() : values[k];
        };
        const auto step = [&](int k) { return arrays[k] != nullptr ? 1 : 0; };
        loop(data(1), step(1), data(2), step(2), data(3), step(3), out.raw_data(),
             out.GetTotalSize());
        return;
    }
    StridedIterator<4> iter{out.shape(), arrays, values, AxisOrder::kByStride};
    RunStrided(iter, dtype, out.dtype(), kernel.cost,
               [loop](char* const* p, const int64_t* steps, int64_t n) {
                   loop(p[1], steps[1], p[2], steps[2], p[3], steps[3], p[0], n);
               });
}

}  // namespace chainerx::native
