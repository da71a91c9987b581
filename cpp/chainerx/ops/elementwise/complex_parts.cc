#include "chainerx/ops/elementwise/complex_parts.h"

#include "chainerx/kernels/elementwise/complex.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kReal{"real", nullptr, Batching::kAxes};
constexpr OpInfo kImag{"imag", nullptr, Batching::kAxes};
constexpr OpInfo kConj{"conj", nullptr, Batching::kAxes};
constexpr OpInfo kComplex{"complex", nullptr, Batching::kAxes};

Dtype ComplexOf(Dtype dtype) {
    return dtype == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64;
}

// Returns a view of the real (0) or imaginary (1) part, outside all graphs.
Array PartView(const Array& x, int part) {
    const Dtype dtype = RealDtype(x.dtype());
    x.buffer()->Ref();
    Array y = internal::MakeArray(x.shape(), x.strides(), dtype, x.device(), x.buffer(),
                                  x.raw_data() + part * GetItemSize(dtype));
    y.body()->read_only = x.body()->read_only;
    return y;
}

Array Conjugates(const Array& x) {
    if (HasKernel<kernels::ComplexConjugate>(x.device())) {
        Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
        CallOn<kernels::ComplexConjugate>(y.device(), x, y);
        return y;
    }
    Array y = Copy(x);
    CallOn<kernels::AsType>(y.device(), Negative(PartView(x, 1)), PartView(y, 1));
    return y;
}

// Makes complex numbers of one part; the other part is zero.
Array FromPart(const Array& g, int part) {
    const Array zeros = ZerosLike(g);
    return part == 0 ? MakeComplex(g, zeros) : MakeComplex(zeros, Negative(g));
}

}  // namespace

Array Real(const Array& x) {
    if (!IsComplex(x.dtype())) return MakeView(x);
    Array y = PartView(x, 0);
    if (Record rec{kReal, {x}, y}) {
        rec.Grad(0, [](const Array& gy) { return FromPart(gy, 0); });
    }
    return y;
}

Array Imag(const Array& x) {
    if (!IsComplex(x.dtype())) return ZerosLike(x);
    Array y = PartView(x, 1);
    if (Record rec{kImag, {x}, y}) {
        rec.Grad(0, [](const Array& gy) { return FromPart(gy, 1); });
    }
    return y;
}

Array MakeComplex(const Array& real, const Array& imag) {
    const Dtype dtype = ComplexOf(real.dtype());
    CheckedNBytes("complex", real.shape(), GetItemSize(dtype));
    Array y = EmptyUnchecked(real.shape(), dtype, real.device());
    CallOn<kernels::AsType>(y.device(), internal::Detached(real), PartView(y, 0));
    CallOn<kernels::AsType>(y.device(), internal::Detached(imag), PartView(y, 1));
    if (Record rec{kComplex, {real, imag}, y}) {
        rec.Grad(0, [](const Array& gy) { return Real(gy); });
        rec.Grad(1, [](const Array& gy) { return Negative(Imag(gy)); });
    }
    return y;
}

Array Conj(const Array& x) {
    if (!IsComplex(x.dtype())) return Copy(x);
    Array y = Conjugates(internal::Detached(x));
    if (Record rec{kConj, {x}, y}) {
        rec.Grad(0, [](const Array& gy) { return Conj(gy); });
    }
    return y;
}

}  // namespace chainerx
