// Matrix products: prepares raw matrices for Gemm from arrays.
#include <algorithm>
#include <cstring>

#include "chainerx/core/dims.h"
#include "chainerx/kernels/elementwise/activation.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/elementwise/complex_loops.h"
#include "chainerx/native/gemm/gemm_algorithms.h"
#include "chainerx/native/gemm/gemm_plain.h"
#include "chainerx/native/gemm/small_gemm.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/strided/scalar_traits.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {
namespace {

// The layout in which Gemm reads the last two axes of an array.
struct Layout {
    bool trans{false};
    int64_t ld{0};
};

// Returns false if neither axis is contiguous. Strides are in bytes.
bool FindLayout(const Array& x, Layout* layout) {
    const int64_t size = x.GetItemSize();
    const int8_t i = x.ndim() - 2;
    const int64_t rows = x.shape()[i];
    const int64_t cols = x.shape()[i + 1];
    const int64_t row_stride = x.strides()[i];
    const int64_t col_stride = x.strides()[i + 1];
    // BLAS requires a row stride of at least the width.
    const auto reads = [size](int64_t rows, int64_t cols, int64_t rs, int64_t cs) {
        return (cols <= 1 || cs == size) &&
               (rows <= 1 || (rs % size == 0 && rs / size >= std::max<int64_t>(cols, 1)));
    };
    if (reads(rows, cols, row_stride, col_stride)) {
        *layout = {false, rows <= 1 ? std::max<int64_t>(cols, 1) : row_stride / size};
        return true;
    }
    if (reads(cols, rows, col_stride, row_stride)) {
        *layout = {true, cols <= 1 ? std::max<int64_t>(rows, 1) : col_stride / size};
        return true;
    }
    return false;
}

// A copy of `dtype` with contiguous matrices. Broadcast axes stay broadcast.
Array CopyMatrices(const Array& x, Dtype dtype) {
    Shape shape = x.shape();
    for (int8_t i = 0; i < x.ndim() - 2; ++i) {
        if (x.strides()[i] == 0 && shape[i] > 1) shape[i] = 1;
    }
    const Array copy = EmptyUnchecked(shape, dtype, x.device());
    CallOn<kernels::AsType>(x.device(), internal::MakeView(x, shape, x.strides(), x.raw_data()),
                            copy);
    return internal::MakeView(copy, x.shape(), BroadcastStrides(shape, copy.strides(), x.shape()),
                              copy.raw_data());
}

// Byte offset of the i-th matrix.
int64_t MatrixOffset(const Array& x, int64_t i) {
    // avoids a division, which takes as long as a 3 x 3 product
    if (x.ndim() == 3) return i * x.strides()[0];
    int64_t offset = 0;
    for (int8_t d = x.ndim() - 3; d >= 0; --d) {
        offset += i % x.shape()[d] * x.strides()[d];
        i /= x.shape()[d];
    }
    return offset;
}

// Returns whether one matrix x2 is broadcast, and the rows of all matrices x1 are evenly spaced:
// then the batch is one product of a tall matrix.
bool IsTall(const Array& x1, const Array& x2) {
    int64_t step = x1.shape()[x1.ndim() - 2] * x1.strides()[x1.ndim() - 2];
    for (int8_t d = x1.ndim() - 3; d >= 0; --d) {
        const int64_t length = x1.shape()[d];
        if (length == 1) continue;
        if (x2.strides()[d] != 0 || x1.strides()[d] != step) return false;
        step *= length;
    }
    return true;
}

template <typename T>
void RunMatmul(const Array& x1, const Array& x2, const Array& out, bool accumulate) {
    Layout l1;
    Layout l2;
    if (!FindLayout(x1, &l1))
        return RunMatmul<T>(CopyMatrices(x1, x1.dtype()), x2, out, accumulate);
    if (!FindLayout(x2, &l2))
        return RunMatmul<T>(x1, CopyMatrices(x2, x2.dtype()), out, accumulate);
    const int8_t ndim = out.ndim();
    int64_t m = x1.shape()[ndim - 2];
    const int64_t k = x1.shape()[ndim - 1];
    const int64_t n = x2.shape()[ndim - 1];
    int64_t count = 1;
    for (int8_t i = 0; i < ndim - 2; ++i) count *= out.shape()[i];
    if (count == 0) return;
    if (count > 1 && !l1.trans && m > 1 && IsTall(x1, x2)) {
        m *= count;
        count = 1;
    }
    const auto* a = reinterpret_cast<const T*>(x1.raw_data());
    const auto* b = reinterpret_cast<const T*>(x2.raw_data());
    auto* c = reinterpret_cast<T*>(out.raw_data());
    const MatrixProduct<T> p{l1.trans, l2.trans, accumulate, m, n, k, a, l1.ld, b, l2.ld, c, n};
    if (count == 1) {
        ForcibleGemm(p);
        return;
    }
    GemmBatch(count, p, [&](int64_t i, const auto& run) {
        run(reinterpret_cast<const T*>(x1.raw_data() + MatrixOffset(x1, i)),
            reinterpret_cast<const T*>(x2.raw_data() + MatrixOffset(x2, i)), c + i * m * n);
    });
}

// Returns false for a dtype that is upcast. Integers wrap, so their sign doesn't matter.
bool TryMatmul(const Array& x1, const Array& x2, const Array& out, bool accumulate) {
    switch (out.dtype()) {
        case Dtype::kFloat32:
            RunMatmul<float>(x1, x2, out, accumulate);
            return true;
        case Dtype::kFloat64:
            RunMatmul<double>(x1, x2, out, accumulate);
            return true;
        case Dtype::kComplex64:
            RunMatmul<Complex64>(x1, x2, out, accumulate);
            return true;
        case Dtype::kComplex128:
            RunMatmul<Complex128>(x1, x2, out, accumulate);
            return true;
        case Dtype::kInt32:
        case Dtype::kUInt32:
            RunMatmul<uint32_t>(x1, x2, out, accumulate);
            return true;
        case Dtype::kInt64:
        case Dtype::kUInt64:
            RunMatmul<uint64_t>(x1, x2, out, accumulate);
            return true;
        default:
            return false;
    }
}

// 16-bit floats are summed in float32, and rounded once.
Dtype UpcastDtype(Dtype dtype) { return IsFloat(dtype) ? Dtype::kFloat32 : Dtype::kUInt32; }

// x[..., begin:end, ...] along an axis.
Array SliceOf(const Array& x, int8_t axis, int64_t begin, int64_t end) {
    Shape shape = x.shape();
    shape[axis] = end - begin;
    return internal::MakeView(x, shape, x.strides(), x.raw_data() + begin * x.strides()[axis]);
}

// Upcasts: out = x1 x2 + bias (of the shape of out, or null). The longer operand and the result are
// upcast in slices that fit in cache.
void UpcastMatmul(const Array& x1, const Array& x2, const Array* bias, const Array& out) {
    constexpr int64_t kSlice = int64_t{1} << 20;  // elements
    constexpr int64_t kMinSlice = 128;
    const Dtype wide = UpcastDtype(out.dtype());
    const int8_t rows = out.ndim() - 2;
    const int8_t columns = out.ndim() - 1;
    // Slices either the batch or the longer side of a single matrix.
    const int8_t axis = rows > 0 ? 0 : out.shape()[columns] > out.shape()[rows] ? columns : rows;
    const int64_t length = out.shape()[axis];
    if (length == 0) return;
    // Operands that are broadcast are not sliced.
    const auto is_cut = [&](const Array& x, int8_t other) {
        return rows > 0 ? x.strides()[0] != 0 : axis != other;
    };
    const bool cuts_x1 = is_cut(x1, columns);
    const bool cuts_x2 = is_cut(x2, rows);
    const int64_t n =
        (cuts_x1 ? x1.GetTotalSize() : 0) + (cuts_x2 ? x2.GetTotalSize() : 0) + out.GetTotalSize();
    const int64_t least = rows > 0 ? 1 : kMinSlice;
    const int64_t count = std::clamp<int64_t>(n / kSlice, 1, std::max<int64_t>(length / least, 1));
    const Array whole1 = cuts_x1 ? x1 : CopyMatrices(x1, wide);
    const Array whole2 = cuts_x2 ? x2 : CopyMatrices(x2, wide);
    for (int64_t i = 0; i < count; ++i) {
        internal::CheckInterrupt();
        const Range part{length, count, i};
        const auto cut = [&](const Array& x) { return SliceOf(x, axis, part.begin, part.end); };
        const Array to = cut(out);
        const Array y = EmptyUnchecked(to.shape(), wide, out.device());
        if (bias != nullptr) CallOn<kernels::AsType>(out.device(), cut(*bias), y);
        const auto operand = [&](const Array& x, bool cuts) {
            return cuts ? CopyMatrices(cut(x), wide) : rows > 0 ? cut(x) : x;
        };
        TryMatmul(operand(whole1, cuts_x1), operand(whole2, cuts_x2), y, bias != nullptr);
        CallOn<kernels::AsType>(out.device(), y, to);
    }
}

void Matmul(const Array& x1, const Array& x2, const Array& out) {
    if (!TryMatmul(x1, x2, out, false)) [[unlikely]]
        UpcastMatmul(x1, x2, nullptr, out);
}
CX_NATIVE_KERNEL(Matmul)

// Dot products of integers, which wrap, and of complex numbers. Strides are in bytes.
template <typename T>
void PlainDots(int64_t count, int64_t k, const char* a, int64_t a_step, const char* b,
               int64_t b_step, char* y, int64_t y_step) {
    constexpr int64_t kCalled = 16;  // a call takes longer than shorter sums
    for (int64_t i = 0; i < count; ++i, a += a_step, b += b_step, y += y_step) {
        const T* x1 = reinterpret_cast<const T*>(a);
        const T* x2 = reinterpret_cast<const T*>(b);
        T sum{};
        if constexpr (kIsComplexNumber<T>) {
            if (k >= kCalled) {
                sum = complex_loops().Dots<RealOf<T>>().plain(k, x1, x2);
                *reinterpret_cast<T*>(y) = sum;
                continue;
            }
        }
        for (int64_t q = 0; q < k; ++q) MultiplyAdd(sum, x1[q], x2[q]);
        *reinterpret_cast<T*>(y) = sum;
    }
}

void Vecdot(const Array& x1, const Array& x2, const Array& out) {
    constexpr int64_t kWork = 1 << 16;  // products in a chunk
    const int8_t last = out.ndim();
    const int64_t k = x1.shape()[last];
    const auto without_last = [last](const Array& x) {
        const Shape shape{x.shape().begin(), x.shape().begin() + last};
        const Strides strides{x.strides().begin(), x.strides().begin() + last};
        return internal::MakeView(x, shape, strides, x.raw_data());
    };
    StridedIterator<3> iter{AxisOrder::kGiven, without_last(x1), without_last(x2), out};
    if (iter.total == 0) return;
    iter.EnsureAxis();
    const int64_t run = iter.run_length();
    const int64_t size = out.GetItemSize();
    const auto dots = [&]<typename T>(const char* a, const char* b, char* y, int64_t count) {
        if constexpr (std::is_floating_point_v<T>) {
            small_gemm_loops().Of<T>().dots(
                count, k, reinterpret_cast<const T*>(a), iter.run_stride(0) / size,
                reinterpret_cast<const T*>(b), iter.run_stride(1) / size, reinterpret_cast<T*>(y),
                iter.run_stride(2) / size);
        } else {
            PlainDots<T>(count, k, a, iter.run_stride(0), b, iter.run_stride(1), y,
                         iter.run_stride(2));
        }
    };
    const int64_t block = std::max<int64_t>(1, kWork / std::max<int64_t>(k, 1));
    const int64_t blocks = CeilDiv(run, block);
    ParallelFor(iter.total / run * blocks, [&](int64_t i) {
        const Range part{i % blocks * block, std::min(run, (i % blocks + 1) * block)};
        const StridedCursor<3> at{iter, i / blocks * run + part.begin};
        const auto run_dots = [&]<typename T>() {
            dots.template operator()<T>(at.p[0], at.p[1], at.p[2], part.size());
        };
        if (out.dtype() == Dtype::kFloat32) {
            run_dots.template operator()<float>();
        } else if (out.dtype() == Dtype::kFloat64) {
            run_dots.template operator()<double>();
        } else if (out.dtype() == Dtype::kComplex64) {
            run_dots.template operator()<Complex64>();
        } else if (out.dtype() == Dtype::kComplex128) {
            run_dots.template operator()<Complex128>();
        } else if (size == sizeof(uint32_t)) {
            run_dots.template operator()<uint32_t>();
        } else {
            run_dots.template operator()<uint64_t>();
        }
    });
}
CX_NATIVE_KERNEL(Vecdot)

// out = x wt + b, followed by ReLU if `rectified`, if GEMM can do it in one pass; else returns
// false.
bool TryLinear(const Array& x, const Array& wt, const Array& b, const Array& out, bool rectified) {
    Layout lx;
    Layout lw;
    if (out.dtype() != Dtype::kFloat32 || !b.IsContiguous() || !FindLayout(x, &lx) ||
        !FindLayout(wt, &lw)) {
        return false;
    }
    const auto data = [](const Array& a) { return reinterpret_cast<float*>(a.raw_data()); };
    return TryGemmAndRow({lx.trans, lw.trans, false, out.shape()[0], out.shape()[1], x.shape()[1],
                          data(x), lx.ld, data(wt), lw.ld, data(out), out.shape()[1]},
                         data(b), rectified);
}

// The transposed matrix.
Array Transposed(const Array& w) {
    return internal::MakeView(w, Shape{w.shape()[1], w.shape()[0]},
                              Strides{w.strides()[1], w.strides()[0]}, w.raw_data());
}

// Copies a row, of one example. A call of a kernel takes a fifth of the product of a small layer.
bool TryCopyRow(const Array& from, const Array& to) {
    if (from.dtype() != to.dtype() || from.GetTotalSize() != to.GetTotalSize() ||
        !from.IsContiguous() || !to.IsContiguous()) {
        return false;
    }
    std::memcpy(to.raw_data(), from.raw_data(), static_cast<size_t>(to.GetNBytes()));
    return true;
}

// Otherwise the bias is written first and the product accumulated, which saves a second pass over
// `out`.
void Linear(const Array& x, const Array& w, const Array& b, const Array& out) {
    const Array wt = Transposed(w);
    const Strides rows{0, b.strides()[0]};
    const Array bias = internal::MakeView(b, out.shape(), rows, b.raw_data());
    const Dtype wide = out.GetItemSize() < 4 ? UpcastDtype(out.dtype()) : out.dtype();
    if (wide == out.dtype()) {
        if (TryLinear(x, wt, b, out, false)) return;
        if (!TryCopyRow(b, out)) CallOn<kernels::AsType>(out.device(), bias, out);
        TryMatmul(x, wt, out, true);
        return;
    }
    UpcastMatmul(x, wt, &bias, out);
}
CX_NATIVE_KERNEL(Linear)

void RectifiedLinear(const Array& x, const Array& w, const Array& b, const Array& out) {
    if (TryLinear(x, Transposed(w), b, out, true)) return;
    Linear(x, w, b, out);
    CallOn<kernels::Rectify>(out.device(), out, out);
}
CX_NATIVE_KERNEL(RectifiedLinear)

void LinearParamGrad(const Array& gy, const Array& x, const Array& gw, const Array& gb) {
    const Array gyt = Transposed(gy);
    Layout lg;
    Layout lx;
    if (gw.dtype() == Dtype::kFloat32 && FindLayout(gyt, &lg) && FindLayout(x, &lx)) {
        const auto data = [](const Array& a) { return reinterpret_cast<float*>(a.raw_data()); };
        const int64_t ins = gw.shape()[1];
        if (TryGemmAndSums({lg.trans, lx.trans, false, gw.shape()[0], ins, gy.shape()[0], data(gy),
                            lg.ld, data(x), lx.ld, data(gw), ins},
                           data(gb))) {
            return;
        }
    }
    Matmul(gyt, x, gw);
    if (!TryCopyRow(gy, gb)) CallOn<kernels::Sum>(gb.device(), gy, Axes{0}, gb);
}
CX_NATIVE_KERNEL(LinearParamGrad)

}  // namespace
}  // namespace chainerx::native
