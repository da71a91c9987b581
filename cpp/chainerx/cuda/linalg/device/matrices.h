// What is checked in matrices before a decomposition, and made of its results.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/errors.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/linalg/params.h"

namespace chainerx::cuda {

template <typename T>
inline T* MatrixOf(const Ptr<char>& p, int64_t size) {
    return reinterpret_cast<T*>(static_cast<char*>(p)) + blockIdx.x * size;
}

template <typename T>
inline bool IsFiniteNumber(const T& x) {
    if constexpr (kIsComplex<T>) {
        return x.real() * 0 == 0 && x.imag() * 0 == 0;
    } else {
        return x * 0 == 0;
    }
}

// A matrix that is not finite is reported and becomes 0, so that no iteration is without end. For a
// triangle, the diagonal becomes real.
template <typename T>
inline void CheckFinite(const MatrixParams& p) {
    const int64_t size = p.rows * p.n;
    T* const a = MatrixOf<T>(p.a, size);
    bool is_bad = false;
    for (int64_t i = threadIdx.x; i < size; i += kMatrixThreads) {
        const int64_t row = i / p.n;
        const int64_t column = i - row * p.n;
        if (p.part == MatrixPart::kLower ? column > row
                                         : p.part == MatrixPart::kUpper && column < row) {
            continue;
        }
        if constexpr (kIsComplex<T>) {
            if (p.part != MatrixPart::kAll && row == column) a[i] = T(a[i].real());
        }
        is_bad = is_bad || !IsFiniteNumber(a[i]);
    }
    if (__syncthreads_or(is_bad) == 0) return;
    if (threadIdx.x == 0) ReportError(p.log, p.site, blockIdx.x, 0);
    for (int64_t i = threadIdx.x; i < size; i += kMatrixThreads) a[i] = T(0);
}

inline void CheckInfo(const MatrixParams& p) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * kMatrixThreads + threadIdx.x;
    if (i >= p.count) return;
    const int32_t info = reinterpret_cast<const int32_t*>(static_cast<char*>(p.info))[i];
    if (info > 0) ReportError(p.log, p.site, i, info - p.first);
}

// b = the complex eigenvectors of real a, by columns: outs[0] are eigenvalues, and the rows of a
// are the vectors; two rows are the real and the imaginary part of the first of a conjugate pair.
template <typename T>
inline void MakeComplexVectors(const MatrixParams& p) {
    using R = typename T::value_type;
    const int64_t size = p.n * p.n;
    const R* const a = MatrixOf<R>(p.a, size);
    const T* const w = MatrixOf<T>(p.outs[0], p.n);
    T* const b = MatrixOf<T>(p.b, size);
    for (int64_t i = threadIdx.x; i < size; i += kMatrixThreads) {
        const int64_t row = i / p.n;
        const int64_t j = i - row * p.n;
        const R imag = w[j].imag();
        const int64_t first = imag < 0 && j > 0 ? j - 1 : j;
        const R other = imag == 0 || first + 1 == p.n ? R(0) : a[(first + 1) * p.n + row];
        b[i] = T(a[first * p.n + row], imag < 0 ? -other : other);
    }
}

}  // namespace chainerx::cuda
