#include "chainerx/ops/complex_parts.h"

#include <bit>
#include <cstdint>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/bitwise.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

constexpr OpInfo kReal{"real", nullptr, Batching::kAxes};
constexpr OpInfo kImag{"imag", nullptr, Batching::kAxes};
constexpr OpInfo kConj{"conj", nullptr, Batching::kAxes};
constexpr OpInfo kComplex{"complex", nullptr, Batching::kAxes};

Dtype ComplexOf(Dtype dtype) {
    return dtype == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64;
}

// Part 0 or 1 of complex numbers, outside all graphs.
Array PartView(const Array& x, int part) {
    const Dtype dtype = RealDtype(x.dtype());
    x.buffer()->Ref();
    Array y = internal::MakeArray(x.shape(), x.strides(), dtype, x.device(), x.buffer(),
                                  x.raw_data() + part * GetItemSize(dtype));
    y.body()->read_only = x.body()->read_only;
    return y;
}

// Whether all elements lie where one of `size` bytes may.
bool IsAligned(const Array& x, int64_t size) {
    bool is_aligned = reinterpret_cast<uintptr_t>(x.raw_data()) % static_cast<size_t>(size) == 0;
    for (const int64_t stride : x.strides()) is_aligned &= stride % size == 0;
    return is_aligned;
}

// The conjugates of numbers of two float32, in one pass over memory: the sign of the imaginary part
// is the last bit of both together.
Array FlipLastSign(const Array& x) {
    static_assert(std::endian::native == std::endian::little);
    const Array flipped = BitwiseXor(ViewAs(x, Dtype::kUInt64), Scalar{uint64_t{1} << 63});
    return ViewAs(flipped, Dtype::kComplex64);
}

Array ConjugateByParts(const Array& x) {
    Array y = Copy(x);
    CallOn<kernels::AsType>(y.device(), Negative(PartView(x, 1)), PartView(y, 1));
    return y;
}

// One part of complex numbers whose other part is zero.
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
    const Array source = internal::Detached(x);
    const bool is_one_word = x.dtype() == Dtype::kComplex64 && IsAligned(source, sizeof(uint64_t));
    Array y = is_one_word ? FlipLastSign(source) : ConjugateByParts(source);
    if (Record rec{kConj, {x}, y}) {
        rec.Grad(0, [](const Array& gy) { return Conj(gy); });
    }
    return y;
}

}  // namespace chainerx
