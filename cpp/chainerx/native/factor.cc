// Kernels that factor matrices: each matrix of a batch by itself.
#include "chainerx/native/factor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/linalg.h"
#include "chainerx/native/matrices.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"

namespace chainerx::native {
namespace {

// Calls f(i) for each of `count` matrices with n rows: large ones one by one, each on all threads,
// small ones in groups, a group to a thread.
template <typename F>
void ForMatrices(int64_t count, int64_t n, const F& f) {
    constexpr int64_t kLarge = 128;
    if (n >= kLarge) {
        for (int64_t i = 0; i < count; ++i) f(i);
        return;
    }
    const int64_t group = CeilDiv(int64_t{1} << 16, n * n * n + 1);
    ParallelFor(CeilDiv(count, group), [&](int64_t g) {
        const Part part{g * group, std::min(count, (g + 1) * group)};
        for (int64_t i = part.begin; i < part.end; ++i) f(i);
    });
}

template <typename T>
void SolveOne(const char* op, int64_t matrix, int64_t n, int64_t columns, T* a, T* b) {
    const Scratch<int64_t> pivots{n};
    FactorLu(n, n, a, n, pivots.data());
    for (int64_t i = 0; i < n; ++i) {
        if (a[i * (n + 1)] == 0) Fail(KernelError::Singular(op, "a", matrix, i, n));
    }
    for (int64_t i = 0; i < n; ++i) SwapRows(columns, b, columns, i, pivots.data()[i]);
    SolveLower(true, n, columns, a, n, b, columns);
    SolveUpper(n, columns, a, n, b, columns);
}

void SolveInPlace(const char* op, const Array& a, const Array& b) {
    const int64_t n = Rows(a);
    const int64_t columns = Columns(b);
    if (n == 0 || columns == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        ForMatrices(CountMatrices(a), n, [&](int64_t i) {
            SolveOne(op, i, n, columns, Data<T>(a) + i * n * n, Data<T>(b) + i * n * columns);
        });
    });
}
CX_NATIVE_KERNEL(SolveInPlace)

void Determinant(const Array& a, const Array& det, const Array& sign, const Array& log) {
    const int64_t n = Rows(a);
    InPrecision(a.dtype(), [&]<typename T>() {
        ForMatrices(CountMatrices(a), n, [&](int64_t i) {
            T* matrix = Data<T>(a) + i * n * n;
            const Scratch<int64_t> pivots{n + 1};
            FactorLu(n, n, matrix, n, pivots.data());
            T product = 1;
            T sum = 0;
            T sign_of_all = 1;
            for (int64_t k = 0; k < n; ++k) {
                const T pivot = matrix[k * (n + 1)];
                if (pivots.data()[k] != k) {
                    product = -product;
                    sign_of_all = -sign_of_all;
                }
                product *= pivot;
                sum += std::log(std::abs(pivot));
                sign_of_all *= pivot < 0 ? T(-1) : pivot > 0 ? T(1) : std::abs(pivot);
            }
            Data<T>(det)[i] = product;
            Data<T>(sign)[i] = sign_of_all;
            Data<T>(log)[i] = sum;
        });
    });
}
CX_NATIVE_KERNEL(Determinant)

void CholeskyInPlace(const Array& a) {
    const int64_t n = Rows(a);
    if (n == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        ForMatrices(CountMatrices(a), n, [&](int64_t i) {
            T* matrix = Data<T>(a) + i * n * n;
            const int64_t done = FactorCholesky(n, matrix, n);
            if (done < n) Fail(KernelError::Indefinite("cholesky", "a", i, done, n));
            for (int64_t row = 0; row < n; ++row) {
                std::fill(matrix + row * n + row + 1, matrix + (row + 1) * n, T(0));
            }
        });
    });
}
CX_NATIVE_KERNEL(CholeskyInPlace)

}  // namespace
}  // namespace chainerx::native
