// Decompositions of matrices by LAPACK: each matrix of a batch by itself, in one thread.
//
// LAPACK sees rows as columns, so what it is given is the transposed matrix. Singular values and
// orthogonal factors are asked for in terms of that one (a^T = v s u^T, a^T = l q^T), and come out
// in the right order; eigenvectors are transposed afterwards.
#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/linalg.h"
#include "chainerx/native/blas_library.h"
#include "chainerx/native/lapack.h"
#include "chainerx/native/matrices.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {
namespace {

template <typename T>
const LapackRoutines<T>& Lapack(const char* op) {
    const LapackRoutines<T>* found = FindLapack<T>();
    if (found == nullptr) Fail(KernelError::NoLapack(op));
    return *found;
}

// An integer for LAPACK. Its work space may be some times the square of a matrix.
int ToInt(const char* op, int64_t m, int64_t n) {
    constexpr int64_t kMost = 20'000;
    if (std::min(m, n) > kMost || std::max(m, n) > INT_MAX / 8) {
        throw DimensionError{
            op, ": a has matrices of ", m, " x ", n, ", which 32-bit integers of LAPACK can't do"};
    }
    return static_cast<int>(m);
}

// The size that LAPACK wants for its work space: it says so in a float.
template <typename T>
int WorkSize(T size) {
    return static_cast<int>(std::ceil(static_cast<double>(size) * (1 + 1e-6)));
}

// Calls f(begin, end) for groups of `count` matrices, m x n, on the threads of the pool.
template <typename F>
void ForGroups(int64_t count, int64_t m, int64_t n, const F& f) {
    const double work =
        static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::min(m, n));
    const int64_t group = static_cast<int64_t>(std::max(1.0, 0x1p15 / (work + 1)));
    ParallelFor(CeilDiv(count, group),
                [&](int64_t g) { f(g * group, std::min(count, (g + 1) * group)); });
}

// Calls call(i, work, size) for each matrix i, in the work space that call(0, &size, -1) asks for.
template <typename T, typename F>
void ForMatrices(int64_t count, int64_t m, int64_t n, const F& call) {
    T size{};
    call(0, &size, -1);
    ForGroups(count, m, n, [&](int64_t begin, int64_t end) {
        const Scratch<T> work{WorkSize(size)};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            call(i, work.data(), WorkSize(size));
        }
    });
}

template <typename T>
void CheckFinite(const char* op, int64_t matrix, const T* a, int64_t size) {
    T sum = 0;  // 0 times anything but a finite number is NaN
    for (int64_t i = 0; i < size; ++i) sum += a[i] * 0;
    if (sum != 0) Fail(KernelError::NotFinite(op, "a", matrix));
}

template <typename T>
void FillIdentity(int64_t n, T* a) {
    std::fill_n(a, n * n, T{0});
    for (int64_t i = 0; i < n; ++i) a[i * (n + 1)] = 1;
}

template <typename T>
void TransposeInPlace(int64_t n, T* a) {
    constexpr int64_t kTile = 16;
    for (int64_t i = 0; i < n; i += kTile) {
        for (int64_t j = i; j < n; j += kTile) {
            for (int64_t p = i; p < std::min(n, i + kTile); ++p) {
                for (int64_t q = std::max(j, p + 1); q < std::min(n, j + kTile); ++q) {
                    std::swap(a[p * n + q], a[q * n + p]);
                }
            }
        }
    }
}

template <typename T>
class SingularValuesOf {
 public:
    SingularValuesOf(const char* op, char job, int64_t m, int64_t n)
        : op_{op}, lapack_{Lapack<T>(op)}, job_{job}, m_{ToInt(op, m, n)}, n_{ToInt(op, n, m)} {
        T size{};
        Call(nullptr, nullptr, nullptr, nullptr, &size, -1, nullptr);
        work_size_ = WorkSize(size);
    }

    // For matrices from `begin` to `end`.
    void Run(int64_t begin, int64_t end, T* a, T* u, T* s, T* vh) const {
        const int64_t k = std::min(m_, n_);
        const int64_t rows = job_ == 'A' ? n_ : k;     // of vh
        const int64_t columns = job_ == 'A' ? m_ : k;  // of u
        const int64_t size = int64_t{m_} * n_;
        const Scratch<T> work{work_size_};
        const Scratch<int> iwork{8 * k};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            CheckFinite(op_, i, a + i * size, size);
            const bool vectors = job_ != 'N';
            const int info = Call(a + i * size, s + i * k, vectors ? vh + i * rows * n_ : nullptr,
                                  vectors ? u + i * m_ * columns : nullptr, work.data(), work_size_,
                                  iwork.data());
            if (info != 0) Fail(KernelError::NoConvergence(op_, "a", i, info));
        }
    }

 private:
    // Of a^T, n x m by columns: its left singular vectors are the rows of vh.
    int Call(T* a, T* s, T* vh, T* u, T* work, int work_size, int* iwork) const {
        const int ldu = job_ == 'N' ? 1 : n_;
        const int ldvt = job_ == 'N' ? 1 : job_ == 'A' ? m_ : std::min(m_, n_);
        int info = 0;
        const BlasCall call;
        lapack_.gesdd(&job_, &n_, &m_, a, &n_, s, vh, &ldu, u, &ldvt, work, &work_size, iwork,
                      &info, 1);
        return info;
    }

    const char* op_;
    const LapackRoutines<T>& lapack_;
    char job_;
    int m_;
    int n_;
    int work_size_;
};

void SingularValues(const char* op, const Array& a, const Array& u, const Array& s,
                    const Array& vh) {
    const int64_t m = Rows(a);
    const int64_t n = Columns(a);
    const int64_t count = CountMatrices(a);
    const bool vectors = u.ndim() == a.ndim();
    if (count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        if (m == 0 || n == 0) {
            for (int64_t i = 0; vectors && i < count; ++i) {
                if (Columns(u) == m) FillIdentity(m, Data<T>(u) + i * m * m);
                if (Rows(vh) == n) FillIdentity(n, Data<T>(vh) + i * n * n);
            }
            return;
        }
        const bool full = vectors && Columns(u) == m && Rows(vh) == n;
        const SingularValuesOf<T> run{op, !vectors ? 'N' : full ? 'A' : 'S', m, n};
        ForGroups(count, m, n, [&](int64_t begin, int64_t end) {
            run.Run(begin, end, Data<T>(a), Data<T>(u), Data<T>(s), Data<T>(vh));
        });
    });
}
CX_NATIVE_KERNEL(SingularValues)

void SymmetricEigen(const char* op, bool lower, bool vectors, const Array& a, const Array& w) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        const LapackRoutines<T>& lapack = Lapack<T>(op);
        const int size = ToInt(op, n, n);
        const char job = vectors ? 'V' : 'N';
        const char triangle = lower ? 'U' : 'L';  // as it sees the matrix
        const auto call = [&](T* a, T* w, T* work, int work_size, int* iwork, int iwork_size) {
            int info = 0;
            const BlasCall call;
            lapack.syevd(&job, &triangle, &size, a, &size, w, work, &work_size, iwork, &iwork_size,
                         &info, 1, 1);
            return info;
        };
        T work_size{};
        int iwork_size = 0;
        call(nullptr, nullptr, &work_size, -1, &iwork_size, -1);
        ForGroups(count, n, n, [&](int64_t begin, int64_t end) {
            const Scratch<T> work{WorkSize(work_size)};
            const Scratch<int> iwork{iwork_size};
            for (int64_t i = begin; i < end; ++i) {
                internal::CheckInterrupt();
                T* matrix = Data<T>(a) + i * n * n;
                for (int64_t row = 0; row < n; ++row) {
                    const T* read = matrix + row * n + (lower ? 0 : row);
                    CheckFinite(op, i, read, lower ? row + 1 : n - row);
                }
                const int info = call(matrix, Data<T>(w) + i * n, work.data(), WorkSize(work_size),
                                      iwork.data(), iwork_size);
                if (info != 0) Fail(KernelError::NoConvergence(op, "a", i, info));
                if (vectors) TransposeInPlace(n, matrix);
            }
        });
    });
}
CX_NATIVE_KERNEL(SymmetricEigen)

// Of a real matrix, LAPACK gives real and imaginary parts of values; a pair of conjugate vectors as
// two columns, the real and the imaginary part of the first.
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

void Eigen(const char* op, const Array& a, const Array& w, const Array& v) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        const LapackRoutines<T>& lapack = Lapack<T>(op);
        const int size = ToInt(op, n, n);
        const bool vectors = v.ndim() == a.ndim();
        const char job = vectors ? 'V' : 'N';
        const auto call = [&](T* a, T* real, T* imag, T* columns, T* work, int work_size) {
            constexpr char kNone = 'N';
            constexpr int kOne = 1;
            int info = 0;
            const BlasCall call;
            lapack.geev(&kNone, &job, &size, a, &size, real, imag, nullptr, &kOne, columns, &size,
                        work, &work_size, &info, 1, 1);
            return info;
        };
        T work_size{};
        call(nullptr, nullptr, nullptr, nullptr, &work_size, -1);
        ForGroups(count, n, n, [&](int64_t begin, int64_t end) {
            const Scratch<T> work{WorkSize(work_size)};
            const Scratch<T> parts{2 * n};
            const Scratch<T> columns{vectors ? n * n : 1};
            for (int64_t i = begin; i < end; ++i) {
                internal::CheckInterrupt();
                T* matrix = Data<T>(a) + i * n * n;
                CheckFinite(op, i, matrix, n * n);
                TransposeInPlace(n, matrix);
                T* real = parts.data();
                const int info =
                    call(matrix, real, real + n, columns.data(), work.data(), WorkSize(work_size));
                if (info != 0) Fail(KernelError::NoConvergence(op, "a", i, info));
                ToComplex(n, real, real + n, columns.data(), Data<std::complex<T>>(w) + i * n,
                          vectors ? Data<std::complex<T>>(v) + i * n * n : nullptr);
            }
        });
    });
}
CX_NATIVE_KERNEL(Eigen)

void FactorOrthogonal(const char* op, const Array& a, const Array& tau) {
    const int64_t m = Rows(a);
    const int64_t n = Columns(a);
    const int64_t k = std::min(m, n);
    const int64_t count = CountMatrices(a);
    if (k == 0 || count == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        const LapackRoutines<T>& lapack = Lapack<T>(op);
        const int rows = ToInt(op, m, n);
        const int columns = ToInt(op, n, m);
        ForMatrices<T>(count, m, n, [&](int64_t i, T* work, int work_size) {
            int info = 0;
            const BlasCall call;
            lapack.gelqf(&columns, &rows, Data<T>(a) + i * m * n, &columns, Data<T>(tau) + i * k,
                         work, &work_size, &info);
        });
    });
}
CX_NATIVE_KERNEL(FactorOrthogonal)

void MakeOrthogonal(const char* op, const Array& q, const Array& tau) {
    const int64_t m = Rows(q);
    const int64_t n = Columns(q);
    const int64_t k = tau.shape().back();
    const int64_t count = CountMatrices(q);
    if (m == 0 || n == 0 || count == 0) return;
    InPrecision(q.dtype(), [&]<typename T>() {
        if (k == 0) {
            for (int64_t i = 0; i < count; ++i) FillIdentity(m, Data<T>(q) + i * m * n);
            return;
        }
        const LapackRoutines<T>& lapack = Lapack<T>(op);
        const int rows = ToInt(op, m, n);
        const int columns = ToInt(op, n, m);
        const auto reflections = static_cast<int>(k);
        ForMatrices<T>(count, m, n, [&](int64_t i, T* work, int work_size) {
            int info = 0;
            const BlasCall call;
            lapack.orglq(&columns, &rows, &reflections, Data<T>(q) + i * m * n, &columns,
                         Data<T>(tau) + i * k, work, &work_size, &info);
        });
    });
}
CX_NATIVE_KERNEL(MakeOrthogonal)

}  // namespace
}  // namespace chainerx::native
