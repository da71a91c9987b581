// Fourier transforms of rows.
#include "chainerx/kernels/fft.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/fourier.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {
namespace {

// The opposite sign is the same transform with real and imaginary parts exchanged.
template <typename T>
void TransformRows(int64_t n, int64_t rows, const T* real, const T* imag, T* out_real,
                   T* out_imag) {
    using Complex = Fourier::Complex;
    const Fourier fourier{n};
    const int64_t group = std::max<int64_t>(1, (1 << 13) / n);
    ParallelFor(CeilDiv(rows, group), [&](int64_t g) {
        const Scratch<Complex> memory{2 * n + fourier.scratch()};
        Complex* in = memory.data();
        Complex* out = in + n;
        const int64_t end = std::min(rows, (g + 1) * group);
        for (int64_t row = g * group; row < end; ++row) {
            for (int64_t k = 0; k < n; ++k) in[k] = {real[row * n + k], imag[row * n + k]};
            fourier.Run(in, out, out + n);
            for (int64_t k = 0; k < n; ++k) {
                out_real[row * n + k] = static_cast<T>(out[k].real());
                out_imag[row * n + k] = static_cast<T>(out[k].imag());
            }
        }
    });
}

template <typename T>
void Transform(const Array& real, const Array& imag, bool inverse, const Array& out_real,
               const Array& out_imag) {
    const int64_t n = real.shape().back();
    const int64_t rows = real.GetTotalSize() / n;
    const auto in = [](const Array& x) { return reinterpret_cast<const T*>(x.raw_data()); };
    const auto out = [](const Array& x) { return reinterpret_cast<T*>(x.raw_data()); };
    if (inverse) {
        TransformRows(n, rows, in(imag), in(real), out(out_imag), out(out_real));
    } else {
        TransformRows(n, rows, in(real), in(imag), out(out_real), out(out_imag));
    }
}

void FourierTransform(const Array& real, const Array& imag, bool inverse, const Array& out_real,
                      const Array& out_imag) {
    if (real.GetTotalSize() == 0) return;
    if (real.dtype() == Dtype::kFloat32) {
        Transform<float>(real, imag, inverse, out_real, out_imag);
    } else {
        Transform<double>(real, imag, inverse, out_real, out_imag);
    }
}
CX_NATIVE_KERNEL(FourierTransform)

}  // namespace
}  // namespace chainerx::native
