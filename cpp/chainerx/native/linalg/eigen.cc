// Eigenvalues by LAPACK: one matrix of a batch at a time, each in one thread.
//
// LAPACK is column-major. General matrices are transposed first; it sees
// Hermitian ones conjugated, which have the same eigenvalues and conjugate
// vectors.
#include <complex>
#include <cstdint>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/native/gemm/matrices.h"
#include "chainerx/native/linalg/lapack_batches.h"
#include "chainerx/native/native_backend.h"

namespace chainerx::native {
namespace {

template <typename T>
void RunSymmetricEigen(const char* op, bool lower, bool vectors, int64_t count, int64_t n, T* a,
                       RealOf<T>* w) {
    const LapackRoutines<T>& lapack = Lapack<T>(op);
    const int size = ToInt(op, n, n);
    const char job = vectors ? 'V' : 'N';
    const char triangle = lower ? 'U' : 'L';  // as LAPACK sees the matrix
    const auto prepare = [&](int64_t i) {
        for (int64_t row = 0; row < n; ++row) {
            T* const begin = a + (i * n + row) * n;
            begin[row] = RealPart(begin[row]);
            CheckFinite(op, i, begin + (lower ? 0 : row), lower ? row + 1 : n - row);
        }
    };
    const auto call = [&](int64_t i, const LapackWork<T>& work) {
        int info = 0;
        const auto run = [&](auto... real_work) {
            lapack.syevd(&job, &triangle, &size, a + i * n * n, &size, w + i * n, work.data,
                         &work.size, real_work..., work.integers, &work.n_integers, &info, 1, 1);
        };
        if constexpr (kIsComplexNumber<T>) {
            run(work.reals, &work.n_reals);
        } else {
            run();
        }
        return info;
    };
    const auto finish = [&](int64_t i, const LapackWork<T>&) {
        if (!vectors) return;
        T* const matrix = a + i * n * n;
        TransposeInPlace(n, matrix);
        if constexpr (kIsComplexNumber<T>) {
            for (int64_t j = 0; j < n * n; ++j) matrix[j] = Conjugate(matrix[j]);
        }
    };
    ForMatrices<T>(op, count, n, n, {}, prepare, call, finish);
}

void SymmetricEigen(const char* op, bool lower, bool vectors, const Array& a, const Array& w) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        RunSymmetricEigen(op, lower, vectors, count, n, Data<T>(a), Data<RealOf<T>>(w));
    });
}
CX_NATIVE_KERNEL(SymmetricEigen)

// For a real matrix, LAPACK returns the real and imaginary parts of
// eigenvalues, and a pair of conjugate vectors as two columns: the real and the
// imaginary part of the first.
template <typename T>
void ToComplex(int64_t n, const T* real, const T* imag, const T* columns, std::complex<T>* w,
               std::complex<T>* v) {
    for (int64_t j = 0; j < n; ++j) w[j] = {real[j], imag[j]};
    if (v == nullptr) return;
    for (int64_t j = 0; j < n; ++j) {
        const T* column = columns + j * n;
        if (imag[j] == 0 || j + 1 == n) {
            for (int64_t i = 0; i < n; ++i) v[i * n + j] = column[i];
            continue;
        }
        for (int64_t i = 0; i < n; ++i) {
            v[i * n + j] = {column[i], column[n + i]};
            v[i * n + j + 1] = {column[i], -column[n + i]};
        }
        ++j;
    }
}

// v is null if eigenvectors are not requested.
template <typename T>
void RunEigen(const char* op, int64_t count, int64_t n, T* a, std::complex<RealOf<T>>* w,
              std::complex<RealOf<T>>* v) {
    const LapackRoutines<T>& lapack = Lapack<T>(op);
    const int size = ToInt(op, n, n);
    constexpr char kNone = 'N';
    constexpr int kOne = 1;
    const char job = v != nullptr ? 'V' : 'N';
    const auto vectors_of = [&](int64_t i) { return v != nullptr ? v + i * n * n : nullptr; };
    const auto prepare = [&](int64_t i) {
        CheckFinite(op, i, a + i * n * n, n * n);
        TransposeInPlace(n, a + i * n * n);
    };
    const auto call = [&](int64_t i, const LapackWork<T>& work) {
        int info = 0;
        T* const matrix = a + i * n * n;
        if constexpr (kIsComplexNumber<T>) {
            lapack.geev(&kNone, &job, &size, matrix, &size, w + i * n, nullptr, &kOne,
                        vectors_of(i), &size, work.data, &work.size, work.reals, &info, 1, 1);
        } else {  // the real and the imaginary parts of the eigenvalues
            lapack.geev(&kNone, &job, &size, matrix, &size, work.reals, work.reals + n, nullptr,
                        &kOne, work.extra, &size, work.data, &work.size, &info, 1, 1);
        }
        return info;
    };
    const auto finish = [&](int64_t i, const LapackWork<T>& work) {
        if constexpr (kIsComplexNumber<T>) {
            if (v != nullptr) TransposeInPlace(n, vectors_of(i));
        } else {
            ToComplex(n, work.reals, work.reals + n, work.extra, w + i * n, vectors_of(i));
        }
    };
    const bool has_columns = v != nullptr && !kIsComplexNumber<T>;
    ForMatrices<T>(op, count, n, n, {2 * n, 0, has_columns ? n * n : 1}, prepare, call, finish);
}

void Eigen(const char* op, const Array& a, const Array& w, const Array& v) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        using C = std::complex<RealOf<T>>;
        RunEigen(op, count, n, Data<T>(a), Data<C>(w), v.ndim() == a.ndim() ? Data<C>(v) : nullptr);
    });
}
CX_NATIVE_KERNEL(Eigen)

}  // namespace
}  // namespace chainerx::native
