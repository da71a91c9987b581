// Matrix decompositions by LAPACK: one matrix of a batch at a time, each in one
// thread.
//
// LAPACK is column-major, so it sees the transposed matrix. Singular values and
// orthogonal factors are requested for that one (a^T = conj(v) s u^T, a^T = l
// q^T), and come out in the right order.
#include <algorithm>
#include <cstdint>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/native/gemm/matrices.h"
#include "chainerx/native/linalg/lapack_batches.h"
#include "chainerx/native/native_backend.h"

namespace chainerx::native {
namespace {

constexpr auto kNothing = [](auto&&...) {};

// Size of the real work space of gesdd for complex matrices, according to
// LAPACK's documentation.
int64_t CountRealWork(char job, int64_t m, int64_t n) {
    const int64_t k = std::min(m, n);
    const int64_t most = std::max(m, n);
    return job == 'N' ? 7 * k : k * std::max(5 * k + 7, 2 * most + 2 * k + 1);
}

// Decomposes each a^T, n x m by columns: its left singular vectors are the rows
// of vh.
template <typename T>
void RunSingularValues(const char* op, char job, int64_t count, int64_t rows, int64_t columns, T* a,
                       T* u, RealOf<T>* s, T* vh) {
    const LapackRoutines<T>& lapack = Lapack<T>(op);
    const int m = ToInt(op, rows, columns);
    const int n = ToInt(op, columns, rows);
    const int64_t k = std::min(m, n);
    const int64_t size = rows * columns;
    const int64_t vh_rows = job == 'A' ? n : k;
    const int64_t u_columns = job == 'A' ? m : k;
    const int ldu = job == 'N' ? 1 : n;
    const int ldvt = job == 'N' ? 1 : static_cast<int>(u_columns);
    ForMatrices<T>(
        op, count, m, n, {kIsComplexNumber<T> ? CountRealWork(job, m, n) : 0, 8 * k},
        [&](int64_t i) { CheckFinite(op, i, a + i * size, size); },
        [&](int64_t i, const LapackWork<T>& work) {
            int info = 0;
            const auto call = [&](auto... real_work) {
                lapack.gesdd(&job, &n, &m, a + i * size, &n, s + i * k,
                             job == 'N' ? nullptr : vh + i * vh_rows * n, &ldu,
                             job == 'N' ? nullptr : u + i * m * u_columns, &ldvt, work.data,
                             &work.size, real_work..., work.integers, &info, 1);
            };
            if constexpr (kIsComplexNumber<T>) {
                call(work.reals);
            } else {
                call();
            }
            return info;
        },
        kNothing);
}

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
        RunSingularValues(op,
                          !vectors ? 'N'
                          : full   ? 'A'
                                   : 'S',
                          count, m, n, Data<T>(a), Data<T>(u), Data<RealOf<T>>(s), Data<T>(vh));
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
        const auto call = [&](int64_t i, const LapackWork<T>& work) {
            int info = 0;
            lapack.gelqf(&columns, &rows, Data<T>(a) + i * m * n, &columns, Data<T>(tau) + i * k,
                         work.data, &work.size, &info);
            return info;
        };
        ForMatrices<T>(op, count, m, n, {}, kNothing, call, kNothing);
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
        const auto call = [&](int64_t i, const LapackWork<T>& work) {
            int info = 0;
            lapack.orglq(&columns, &rows, &reflections, Data<T>(q) + i * m * n, &columns,
                         Data<T>(tau) + i * k, work.data, &work.size, &info);
            return info;
        };
        ForMatrices<T>(op, count, m, n, {}, kNothing, call, kNothing);
    });
}
CX_NATIVE_KERNEL(MakeOrthogonal)

}  // namespace
}  // namespace chainerx::native
