// Kernels of matrix factorizations: one matrix of a batch at a time.
#include "chainerx/native/linalg/factor.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/native/gemm/matrices.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

CX_DISPATCH(factor, FactorLoops)

namespace {

// Calls f(i) for each of `count` matrices with n rows: large ones one by one, each on all threads;
// small ones in groups, one group per thread.
void ForMatrices(int64_t count, int64_t n, const auto& f) {
    constexpr int64_t kLarge = 128;
    if (n >= kLarge) {
        for (int64_t i = 0; i < count; ++i) f(i);
        return;
    }
    const int64_t group = CeilDiv(int64_t{1} << 16, n * n * n + 1);
    ParallelFor(CeilDiv(count, group), [&](int64_t g) {
        const Range part{g * group, std::min(count, (g + 1) * group)};
        for (int64_t i = part.begin; i < part.end; ++i) f(i);
    });
}

template <typename T>
void SolveOne(const char* op, int64_t matrix, int64_t n, int64_t columns, T* a, T* b) {
    const Scratch<int64_t> pivots{n};
    FactorLu(n, n, a, n, pivots.data());
    for (int64_t i = 0; i < n; ++i) {
        if (a[i * (n + 1)] == T(0)) Fail(KernelError::Singular(op, "a", matrix, i, n));
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

// A product of many numbers, as a mantissa and an exponent: intermediate products may be out of
// range.
class LongProduct {
 public:
    void Multiply(double x) {
        int exponent = 0;
        product_ = std::frexp(product_ * x, &exponent);
        if (std::isfinite(product_)) power_ += exponent;
    }
    double Value() const { return std::ldexp(product_, power_); }
    double Sign() const { return product_ < 0 ? -1 : product_ > 0 ? 1 : std::abs(product_); }

 private:
    double product_{1};
    int power_{0};
};

class LongComplexProduct {
 public:
    using Complex = std::complex<double>;

    void Multiply(const Complex& x) { product_ = Scaled(ProductOf(product_, Scaled(x))); }
    Complex Value() const {
        return {std::ldexp(product_.real(), power_), std::ldexp(product_.imag(), power_)};
    }
    Complex Sign() const { return product_ == 0.0 ? product_ : product_ / std::abs(product_); }

 private:
    Complex Scaled(const Complex& x) {
        int exponent = 0;
        const double size = std::frexp(std::max(std::abs(x.real()), std::abs(x.imag())), &exponent);
        if (!std::isfinite(size)) return x;
        power_ += exponent;
        return {std::ldexp(x.real(), -exponent), std::ldexp(x.imag(), -exponent)};
    }

    Complex product_{1};
    int power_{0};
};

void Determinant(const Array& a, const Array& det, const Array& sign, const Array& log) {
    const int64_t n = Rows(a);
    InPrecision(a.dtype(), [&]<typename T>() {
        ForMatrices(CountMatrices(a), n, [&](int64_t i) {
            using Product =
                std::conditional_t<kIsComplexNumber<T>, LongComplexProduct, LongProduct>;
            T* matrix = Data<T>(a) + i * n * n;
            const Scratch<int64_t> pivots{n + 1};
            FactorLu(n, n, matrix, n, pivots.data());
            Product product;
            RealOf<T> sum = 0;
            for (int64_t k = 0; k < n; ++k) {
                const T pivot = matrix[k * (n + 1)];
                product.Multiply(pivots.data()[k] != k ? -pivot : pivot);
                sum += std::log(std::abs(pivot));
            }
            Data<T>(det)[i] = static_cast<T>(product.Value());
            Data<T>(sign)[i] = static_cast<T>(product.Sign());
            Data<RealOf<T>>(log)[i] = sum;
        });
    });
}
CX_NATIVE_KERNEL(Determinant)

// x = L^-1 P, y = Q U^-1 where P a Q = L diag(d) U; `a` holds the factors.
template <typename T>
void TakeFactorsApart(int64_t n, T* a, const int64_t* rows, const int64_t* columns, T* x, T* d,
                      T* y) {
    const auto set_identity = [n](T* m) {
        std::fill_n(m, n * n, T(0));
        for (int64_t k = 0; k < n; ++k) m[k * (n + 1)] = 1;
    };
    set_identity(x);
    set_identity(y);
    bool is_negative = false;
    for (int64_t k = 0; k < n; ++k) {
        SwapRows(n, x, n, k, rows[k]);
        is_negative ^= (rows[k] != k) != (columns[k] != k);
        T* row = a + k * n;
        d[k] = row[k];
        const Divisor<T> divisor{d[k]};
        for (int64_t j = k + 1; j < n && d[k] != T(0); ++j) row[j] = divisor.Divide(row[j]);
        row[k] = 1;
    }
    SolveLower(true, n, n, a, n, x, n);
    SolveUpper(n, n, a, n, y, n);
    for (int64_t k = n - 1; k >= 0; --k) SwapRows(n, y, n, k, columns[k]);
    if (!is_negative) return;
    d[0] = -d[0];
    for (int64_t j = 0; j < n; ++j) x[j] = -x[j];
}

// Row pivoting alone finds all pivots of matrices that are far from singular.
template <typename T>
void DiagonalizeOne(int64_t n, T* a, T* x, T* d, T* y) {
    const Scratch<int64_t> pivots{2 * n};
    int64_t* rows = pivots.data();
    int64_t* columns = rows + n;
    const Scratch<T> copy{n * n};
    std::copy_n(a, n * n, copy.data());
    std::iota(columns, columns + n, int64_t{0});
    FactorLu(n, n, a, n, rows);
    RealOf<T> least = PivotSize(a[0]);
    RealOf<T> most = least;
    for (int64_t k = 1; k < n; ++k) {
        const RealOf<T> size = PivotSize(a[k * (n + 1)]);
        least = std::min(least, size);
        most = std::max(most, size);
    }
    if (!(least > most * static_cast<RealOf<T>>(n) * std::numeric_limits<RealOf<T>>::epsilon())) {
        std::copy_n(copy.data(), n * n, a);
        FactorFully(n, a, rows, columns);
    }
    TakeFactorsApart(n, a, rows, columns, x, d, y);
}

void Diagonalize(const Array& a, const Array& x, const Array& d, const Array& y) {
    const int64_t n = Rows(a);
    if (n == 0) return;
    InPrecision(a.dtype(), [&]<typename T>() {
        ForMatrices(CountMatrices(a), n, [&](int64_t i) {
            const int64_t at = i * n * n;
            DiagonalizeOne(n, Data<T>(a) + at, Data<T>(x) + at, Data<T>(d) + i * n,
                           Data<T>(y) + at);
        });
    });
}
CX_NATIVE_KERNEL(Diagonalize)

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
