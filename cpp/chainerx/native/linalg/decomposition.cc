// Matrix decompositions by LAPACK: one matrix of a batch at a time, each in one thread.
//
// LAPACK is column-major, so it sees the transposed matrix. Singular values and orthogonal factors
// are requested for that one (a^T = conj(v) s u^T, a^T = l q^T), and come out in the right order.
#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/native/gemm/matrices.h"
#include "chainerx/native/linalg/lapack_batches.h"
#include "chainerx/native/native_backend.h"

namespace chainerx::native {
namespace {

template <typename T>
class SingularValuesOf {
 public:
    SingularValuesOf(const char* op, char job, int64_t m, int64_t n)
        : op_{op}, lapack_{Lapack<T>(op)}, job_{job}, m_{ToInt(op, m, n)}, n_{ToInt(op, n, m)} {
        T size{};
        RealOf<T> real{};
        int integer = 0;
        Call(nullptr, nullptr, nullptr, nullptr, &size, -1, &real, &integer);
        work_size_ = WorkSize(size);
    }

    // Runs matrices [begin, end).
    void Run(int64_t begin, int64_t end, T* a, T* u, RealOf<T>* s, T* vh) const {
        const int64_t k = std::min(m_, n_);
        const int64_t rows = job_ == 'A' ? n_ : k;     // of vh
        const int64_t columns = job_ == 'A' ? m_ : k;  // of u
        const int64_t size = int64_t{m_} * n_;
        const Scratch<T> work{work_size_};
        const Scratch<RealOf<T>> real_work{CountRealWork()};
        const Scratch<int> iwork{8 * k};
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            CheckFinite(op_, i, a + i * size, size);
            const bool vectors = job_ != 'N';
            const int info = Call(a + i * size, s + i * k, vectors ? vh + i * rows * n_ : nullptr,
                                  vectors ? u + i * m_ * columns : nullptr, work.data(), work_size_,
                                  real_work.data(), iwork.data());
            if (info != 0) Fail(KernelError::NoConvergence(op_, "a", i, info));
        }
    }

 private:
    // Size of the real work space for complex matrices, according to LAPACK's documentation.
    int64_t CountRealWork() const {
        const int64_t k = std::min(m_, n_);
        const int64_t most = std::max(m_, n_);
        if (!kIsComplexNumber<T>) return 1;
        return job_ == 'N' ? 7 * k : k * std::max(5 * k + 7, 2 * most + 2 * k + 1);
    }

    // Decomposes a^T, n x m by columns: its left singular vectors are the rows of vh.
    int Call(T* a, RealOf<T>* s, T* vh, T* u, T* work, int work_size,
             [[maybe_unused]] RealOf<T>* real_work, int* iwork) const {
        const int ldu = job_ == 'N' ? 1 : n_;
        const int ldvt = job_ == 'N' ? 1 : job_ == 'A' ? m_ : std::min(m_, n_);
        int info = 0;
        const BlasCall call;
        if constexpr (kIsComplexNumber<T>) {
            lapack_.gesdd(&job_, &n_, &m_, a, &n_, s, vh, &ldu, u, &ldvt, work, &work_size,
                          real_work, iwork, &info, 1);
        } else {
            lapack_.gesdd(&job_, &n_, &m_, a, &n_, s, vh, &ldu, u, &ldvt, work, &work_size, iwork,
                          &info, 1);
        }
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
            run.Run(begin, end, Data<T>(a), Data<T>(u), Data<RealOf<T>>(s), Data<T>(vh));
        });
    });
}
CX_NATIVE_KERNEL(SingularValues)

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
