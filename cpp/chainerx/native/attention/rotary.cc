// Rotary embedding: rotates pairs of numbers.
#include "chainerx/kernels/attention/rotary.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/native/native_kernel.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

// The pairs of a row are (x[step i], x[step i + gap]).
template <typename T, int64_t kStep>
void RotateRow(const T* x, const T* cos, const T* sin, int64_t n, int64_t gap, T* __restrict y) {
    for (int64_t i = 0; i < n; ++i) {
        const T a = x[kStep * i];
        const T b = x[kStep * i + gap];
        y[kStep * i] = a * cos[i] - b * sin[i];
        y[kStep * i + gap] = b * cos[i] + a * sin[i];
    }
}

// Iterates over the rows of the operands in the order of `out`.
class Rows {
 public:
    static constexpr int kOperands = 3;

    Rows(const Array& x, const Array& cos, const Array& sin, int64_t row)
        : shape_{x.shape()}, operands_{&x, &cos, &sin} {
        shape_.pop_back();
        at_.resize(shape_.ndim());
        for (int o = 0; o < kOperands; ++o) data_[o] = Data<const char>(*operands_[o]);
        for (int64_t a = shape_.ndim() - 1; a >= 0; --a) {
            at_[a] = row % shape_[a];
            row /= shape_[a];
            Move(a, at_[a]);
        }
    }

    template <typename T>
    const T* at(int operand) const {
        return reinterpret_cast<const T*>(data_[operand]);
    }

    void Next() {
        for (int64_t a = shape_.ndim() - 1; a >= 0; --a) {
            Move(a, 1);
            if (++at_[a] < shape_[a]) return;
            Move(a, -at_[a]);
            at_[a] = 0;
        }
    }

 private:
    void Move(int64_t axis, int64_t count) {
        for (int o = 0; o < kOperands; ++o) {
            data_[o] += count * operands_[o]->strides()[axis];
        }
    }

    Shape shape_;
    Shape at_;
    const Array* operands_[kOperands];
    const char* data_[kOperands];
};

template <typename T>
void Rotate(const Array& x, const Array& cos, const Array& sin, bool interleaved,
            const Array& out) {
    const int64_t n = cos.shape().back();
    const int64_t rows = out.GetTotalSize() / (2 * n);
    const int64_t group = CeilDiv(1 << 13, 2 * n);  // rows worth a thread
    ParallelFor(CeilDiv(rows, group), [&](int64_t g) {
        const int64_t begin = g * group;
        const int64_t end = std::min(rows, begin + group);
        Rows in{x, cos, sin, begin};
        for (int64_t row = begin; row < end; ++row, in.Next()) {
            T* y = Data<T>(out) + row * 2 * n;
            if (interleaved) {
                RotateRow<T, 2>(in.at<T>(0), in.at<T>(1), in.at<T>(2), n, 1, y);
            } else {
                RotateRow<T, 1>(in.at<T>(0), in.at<T>(1), in.at<T>(2), n, n, y);
            }
        }
    });
}

void RotatePairs(const Array& x, const Array& cos, const Array& sin, bool interleaved,
                 const Array& out) {
    if (out.GetTotalSize() == 0) return;
    if (RunUpcast(out, [&](const Array& wide) {
            RotatePairs(ToFloat32(x), cos, sin, interleaved, wide);
        })) {
        return;
    }
    if (x.dtype() == Dtype::kFloat32) {
        Rotate<float>(x, cos, sin, interleaved, out);
    } else {
        Rotate<double>(x, cos, sin, interleaved, out);
    }
}
CX_NATIVE_KERNEL(RotatePairs)

}  // namespace
}  // namespace chainerx::native
