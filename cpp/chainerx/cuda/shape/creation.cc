// arange, triangles, concatenate, bits. cuda/shape/device computes.
#include "chainerx/kernels/shape/creation.h"

#include <bit>

#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/cuda/shape/params.h"
#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kHeader = "shape/device/shape.h";

CX_DEVICE_KERNEL(kArange, kHeader, ArangeParams, "Arange<T>", Dtype)
void Arange(const Scalar& start, const Scalar& step, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    ArangeParams p{};
    p.out = out.raw_data();
    p.n = out.GetTotalSize();
    p.stride = out.strides()[0];
    p.is_whole = start.kind() < DtypeKind::kFloat && step.kind() < DtypeKind::kFloat;
    if (p.is_whole) {
        p.first_whole = static_cast<uint64_t>(start.To<int64_t>());
        p.step_whole = static_cast<uint64_t>(step.To<int64_t>());
    } else {
        p.first = start.To<double>();
        p.step = step.To<double>();
    }
    kArange.Launch(Prepare(out), ThreadsFor(p.n), p, out.dtype());
}
CX_CUDA_KERNEL(Arange)

CX_DEVICE_KERNEL(kTriangle, kHeader, TriangleParams, "Triangle<T>", ItemSize)
void Triangle(const Array& x, int64_t k, bool lower, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    TriangleParams p{};
    p.x = x.raw_data();
    p.out = out.raw_data();
    p.n = out.GetTotalSize();
    p.k = k;
    p.lower = lower;
    p.ndim = x.ndim();
    for (int d = 0; d < p.ndim; ++d) {
        const int from = p.ndim - 1 - d;
        p.dims[d] = x.shape()[from];
        p.strides[0][d] = x.strides()[from];
        p.strides[1][d] = out.strides()[from];
    }
    kTriangle.Launch(Prepare(x, out), ThreadsFor(p.n), p, ItemSize{x.GetItemSize()});
}
CX_CUDA_KERNEL(Triangle)

CX_DEVICE_KERNEL(kConcatenate, kHeader, ConcatenateParams, "Concatenate<T>", ItemSize)

// Copies contiguous inputs, many per launch, in items as large as all lengths and addresses allow.
class Joiner {
 public:
    Joiner(const Array& out, int64_t rows, int64_t row)
        : out_{out}, device_{Prepare(out)}, rows_{rows}, row_{row} {
        Clear();
    }

    // `place` and `length` are in bytes of a row.
    void Add(const Array& x, int64_t place, int64_t length) {
        device_.RecordUse(x, device_.current_stream());
        if (params_.n_pieces == kMaxPieces) Flush();
        bits_ |= reinterpret_cast<uintptr_t>(x.raw_data()) | static_cast<uint64_t>(place | length);
        const int k = params_.n_pieces++;
        params_.from[k] = x.raw_data();
        params_.places[k] = place;
        params_.row += length;
        params_.ends[k] = params_.row;
    }

    void Flush() {
        if (params_.n_pieces == 0) return;
        const int64_t size = int64_t{1} << std::countr_zero(bits_);
        params_.out_row = row_ / size;
        params_.row /= size;
        for (int k = 0; k < params_.n_pieces; ++k) {
            params_.places[k] /= size;
            params_.ends[k] /= size;
        }
        kConcatenate.Launch(device_, ThreadsFor(rows_ * params_.row), params_, ItemSize{size});
        Clear();
    }

 private:
    void Clear() {
        params_ = {};
        params_.out = out_.raw_data();
        params_.rows = rows_;
        bits_ = reinterpret_cast<uintptr_t>(out_.raw_data()) | static_cast<uint64_t>(row_) | 16;
    }

    const Array& out_;
    CudaDevice& device_;
    int64_t rows_;
    int64_t row_;
    uint64_t bits_{16};
    ConcatenateParams params_{};
};

void Concatenate(std::span<const ConstArrayRef> arrays, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    int64_t rows = 1;
    for (int8_t i = 0; i < axis; ++i) rows *= out.shape()[i];
    const int64_t row = out.GetNBytes() / rows;
    const int64_t step = row / out.shape()[axis];  // bytes of one index of the axis
    Joiner joiner{out, rows, row};
    int64_t place = 0;
    for (const Array& x : arrays) {
        const int64_t length = x.shape()[axis] * step;
        if (length != 0 && x.IsContiguous()) {
            joiner.Add(x, place, length);
        } else if (length != 0) {
            CallOn<kernels::AsType>(
                out.device(), x,
                internal::MakeView(out, x.shape(), out.strides(), out.raw_data() + place));
        }
        place += length;
    }
    joiner.Flush();
}
CX_CUDA_KERNEL(Concatenate)

constinit const ElementwiseKernel kCountBits{
    "CountBits",
    "bits",
    DtypeRule::kAny,
    static_cast<int>(Dtype::kUInt8),
    1,
    "const T& x",
    "__popcll(x < T(0) ? 0ull - static_cast<unsigned long long>(x)"
    " : static_cast<unsigned long long>(x))"};

void CountBits(const Array& x, const Array& out) {
    const Operand inputs[] = {x};
    RunElementwise(kCountBits, inputs, x.dtype(), out);
}
CX_CUDA_KERNEL(CountBits)

CX_DEVICE_KERNEL(kPackBits, kHeader, BitsParams, "PackBits")
CX_DEVICE_KERNEL(kUnpackBits, kHeader, BitsParams, "UnpackBits")

void RunBits(const Kernel<BitsParams>& kernel, const Array& x, const Array& bits, bool big,
             const Array& out) {
    if (out.GetTotalSize() == 0) return;
    BitsParams p{};
    p.x = x.raw_data();
    p.out = out.raw_data();
    p.n = out.GetTotalSize();
    p.row = out.shape()[out.ndim() - 1];
    p.bits = bits.shape()[bits.ndim() - 1];
    p.is_big = big;
    kernel.Launch(Prepare(x, out), ThreadsFor(p.n), p);
}

void PackBits(const Array& x, bool big, const Array& out) { RunBits(kPackBits, x, x, big, out); }
CX_CUDA_KERNEL(PackBits)

void UnpackBits(const Array& x, bool big, const Array& out) {
    RunBits(kUnpackBits, x, out, big, out);
}
CX_CUDA_KERNEL(UnpackBits)

}  // namespace
}  // namespace chainerx::cuda
