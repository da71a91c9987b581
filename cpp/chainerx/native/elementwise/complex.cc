// Complex kernels with SIMD loops.
#include "chainerx/kernels/elementwise/complex.h"

#include <complex>
#include <cstdint>

#include "chainerx/native/elementwise/complex_loops.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided/tiled_loop.h"

namespace chainerx::native {

CX_DISPATCH(complex, ComplexLoops)

namespace {

constexpr int64_t kComplexBlock = 16 * 1024;  // elements of a chunk

void RunLoop(const UnaryLoops& loops, const Array& x, const Array& out) {
    const UnaryLoop loop = RealDtype(x.dtype()) == Dtype::kFloat32 ? loops.f32 : loops.f64;
    if (out.GetTotalSize() <= kComplexBlock && out.IsContiguous() && InStep(x, out)) {
        loop(x.raw_data(), out.raw_data(), out.GetTotalSize());
        return;
    }
    StridedIterator<2> iter{AxisOrder::kByStride, out, x};
    const LoopTraits<2> traits{{out.GetItemSize(), x.GetItemSize()}, false, INT64_MAX};
    RunTiles(iter, traits, BlockSizes::OfLight(kComplexBlock),
             [loop](char* const* p, const int64_t*, int64_t n) { loop(p[1], p[0], n); });
}

void ComplexAbsolute(const Array& x, const Array& out) {
    RunLoop(complex_loops().absolute, x, out);
}
CX_NATIVE_KERNEL(ComplexAbsolute)

void ComplexConjugate(const Array& x, const Array& out) {
    RunLoop(complex_loops().conjugate, x, out);
}
CX_NATIVE_KERNEL(ComplexConjugate)

void ConjugateDot(const Array& x1, const Array& x2, const Array& out) {
    const auto run = [&]<typename T>(T) {
        const auto data = [](const Array& x) {
            return reinterpret_cast<std::complex<T>*>(x.raw_data());
        };
        *data(out) = complex_loops().Dots<T>().conjugate(x1.GetTotalSize(), data(x1), data(x2));
    };
    if (out.dtype() == Dtype::kComplex64) {
        run(float{});
    } else {
        run(double{});
    }
}
CX_NATIVE_KERNEL(ConjugateDot)

}  // namespace
}  // namespace chainerx::native
