// Absolute values of complex numbers: real and imaginary parts come apart in registers.
#include "chainerx/kernels/complex.h"

#include <cstdint>

#include "chainerx/native/complex_loops.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/tiles.h"

namespace chainerx::native {
namespace {

constexpr int64_t kBlock = 16 * 1024;  // elements of a thread

void ComplexAbsolute(const Array& x, const Array& out) {
    const UnaryLoops& loops = complex_loops().absolute;
    const UnaryLoop loop = out.dtype() == Dtype::kFloat32 ? loops.f32 : loops.f64;
    if (out.GetTotalSize() <= kBlock && out.IsContiguous() && InStep(x, out)) {
        loop(x.raw_data(), out.raw_data(), out.GetTotalSize());
        return;
    }
    Walk<2> walk{AxisOrder::kByStride, out, x};
    const LoopTraits<2> traits{{out.GetItemSize(), x.GetItemSize()}, false, INT64_MAX};
    RunTiles(walk, traits, kBlock,
             [loop](char* const* p, const int64_t*, int64_t n) { loop(p[1], p[0], n); });
}
CX_NATIVE_KERNEL(ComplexAbsolute)

}  // namespace
}  // namespace chainerx::native
