// Eigenvalues by LAPACK: one matrix of a batch at a time, each in one thread.
//
// LAPACK is column-major. General matrices are transposed first; it sees Hermitian ones
// conjugated, which have the same eigenvalues and conjugate vectors.
#include <complex>
#include <cstdint>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/native/gemm/matrices.h"
#include "chainerx/native/linalg/lapack_batches.h"
#include "chainerx/native/native_backend.h"

namespace chainerx::native {
namespace {

template <typename T>
class SymmetricEigenOf {
 public:
    using R = RealOf<T>;

    SymmetricEigenOf(const char* op, bool lower, bool vectors, int64_t n)
        : op_{op}, lapack_{Lapack<T>(op)}, lower_{lower}, vectors_{vectors}, n_{ToInt(op, n, n)} {
        T size{};
        R real_size{};
        Call(nullptr, nullptr, &size, -1, &real_size, -1, &integer_size_, -1);
        size_ = WorkSize(size);
        real_size_ = WorkSize(real_size);
    }

    // Runs matrices [begin, end).
    void Run(int64_t begin, int64_t end, T* a, R* w) const {
        const int64_t n = n_;
        const Scratch<T> work{size_};
        const Scratch<R> real_work{real_size_ + 1};
        const Scratch<int> integers{integer_size_};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            T* matrix = a + i * n * n;
            for (int64_t row = 0; row < n; ++row) {
                T& diagonal = matrix[row * (n + 1)];
                diagonal = RealPart(diagonal);
                CheckFinite(op_, i, matrix + row * n + (lower_ ? 0 : row),
                            lower_ ? row + 1 : n - row);
            }
            const int info = Call(matrix, w + i * n, work.data(), size_, real_work.data(),
                                  real_size_, integers.data(), integer_size_);
            if (info != 0) Fail(KernelError::NoConvergence(op_, "a", i, info));
            if (!vectors_) continue;
            TransposeInPlace(n, matrix);
            if constexpr (kIsComplexNumber<T>) {
                for (int64_t j = 0; j < n * n; ++j) matrix[j] = Conjugate(matrix[j]);
            }
        }
    }

 private:
    int Call(T* a, R* w, T* work, int size, [[maybe_unused]] R* real_work,
             [[maybe_unused]] int real_size, int* integers, int integer_size) const {
        const char job = vectors_ ? 'V' : 'N';
        const char triangle = lower_ ? 'U' : 'L';  // as LAPACK sees the matrix
        int info = 0;
        const BlasCall call;
        if constexpr (kIsComplexNumber<T>) {
            lapack_.syevd(&job, &triangle, &n_, a, &n_, w, work, &size, real_work, &real_size,
                          integers, &integer_size, &info, 1, 1);
        } else {
            lapack_.syevd(&job, &triangle, &n_, a, &n_, w, work, &size, integers, &integer_size,
                          &info, 1, 1);
        }
        return info;
    }

    const char* op_;
    const LapackRoutines<T>& lapack_;
    bool lower_;
    bool vectors_;
    int n_;
    int size_;
    int real_size_;
    int integer_size_{0};
};

void SymmetricEigen(const char* op, bool lower, bool vectors, const Array& a, const Array& w) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        const SymmetricEigenOf<T> run{op, lower, vectors, n};
        ForGroups(count, n, n, [&](int64_t begin, int64_t end) {
            run.Run(begin, end, Data<T>(a), Data<RealOf<T>>(w));
        });
    });
}
CX_NATIVE_KERNEL(SymmetricEigen)

// For a real matrix, LAPACK returns the real and imaginary parts of eigenvalues, and a pair of
// conjugate vectors as two columns: the real and the imaginary part of the first.
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

template <typename T>
class EigenOf {
 public:
    using R = RealOf<T>;
    using C = std::complex<R>;

    EigenOf(const char* op, bool vectors, int64_t n)
        : op_{op}, lapack_{Lapack<T>(op)}, vectors_{vectors}, n_{ToInt(op, n, n)} {
        T size{};
        R parts{};
        Call(nullptr, nullptr, &parts, nullptr, &size, -1);
        size_ = WorkSize(size);
    }

    // Runs matrices [begin, end); v is null if eigenvectors are not requested.
    void Run(int64_t begin, int64_t end, T* a, C* w, C* v) const {
        const int64_t n = n_;
        const Scratch<T> work{size_};
        const Scratch<R> parts{2 * n};
        const Scratch<T> columns{vectors_ && !kIsComplexNumber<T> ? n * n : 1};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            T* matrix = a + i * n * n;
            C* values = w + i * n;
            C* vectors = vectors_ ? v + i * n * n : nullptr;
            CheckFinite(op_, i, matrix, n * n);
            TransposeInPlace(n, matrix);
            if constexpr (kIsComplexNumber<T>) {
                Check(i, Call(matrix, values, parts.data(), vectors, work.data(), size_));
                if (vectors_) TransposeInPlace(n, vectors);
            } else {
                R* real = parts.data();
                Check(i, Call(matrix, nullptr, real, columns.data(), work.data(), size_));
                ToComplex(n, real, real + n, columns.data(), values, vectors);
            }
        }
    }

 private:
    void Check(int64_t matrix, int info) const {
        if (info != 0) Fail(KernelError::NoConvergence(op_, "a", matrix, info));
    }

    // `parts` holds the eigenvalues of a real matrix, and is work space for a complex one.
    int Call(T* a, [[maybe_unused]] C* w, R* parts, T* columns, T* work, int size) const {
        constexpr char kNone = 'N';
        constexpr int kOne = 1;
        const char job = vectors_ ? 'V' : 'N';
        int info = 0;
        const BlasCall call;
        if constexpr (kIsComplexNumber<T>) {
            lapack_.geev(&kNone, &job, &n_, a, &n_, w, nullptr, &kOne, columns, &n_, work, &size,
                         parts, &info, 1, 1);
        } else {
            lapack_.geev(&kNone, &job, &n_, a, &n_, parts, parts + n_, nullptr, &kOne, columns, &n_,
                         work, &size, &info, 1, 1);
        }
        return info;
    }

    const char* op_;
    const LapackRoutines<T>& lapack_;
    bool vectors_;
    int n_;
    int size_;
};

void Eigen(const char* op, const Array& a, const Array& w, const Array& v) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        using C = std::complex<RealOf<T>>;
        const EigenOf<T> run{op, v.ndim() == a.ndim(), n};
        ForGroups(count, n, n, [&](int64_t begin, int64_t end) {
            run.Run(begin, end, Data<T>(a), Data<C>(w), Data<C>(v));
        });
    });
}
CX_NATIVE_KERNEL(Eigen)

}  // namespace
}  // namespace chainerx::native
