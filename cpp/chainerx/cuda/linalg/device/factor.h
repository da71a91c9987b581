// Factors matrices, a block each: for small ones, of which there may be many, and for what
// libraries do not have.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "chainerx/cuda/linalg/device/matrices.h"

namespace chainerx::cuda {

template <typename T>
inline double PivotSize(const T& x) {
    if constexpr (kIsComplex<T>) {
        return std::abs(static_cast<double>(x.real())) + std::abs(static_cast<double>(x.imag()));
    } else {
        return std::abs(static_cast<double>(x));
    }
}

template <typename T>
inline void SwapNumbers(T& x, T& y) {
    const T kept = x;
    x = y;
    y = kept;
}

// Returns where f(i), i in [begin, end), is largest, the first of equals; NaN is larger than all.
template <typename F>
inline int64_t FindLargest(int64_t begin, int64_t end, const F& f) {
    CX_SHARED(double, sizes, kMatrixThreads);
    CX_SHARED(int64_t, places, kMatrixThreads);
    const int lane = threadIdx.x;
    const auto exceeds = [](double x, double y) { return x > y || (x != x && y == y); };
    double size = -1;
    int64_t place = begin;
    for (int64_t i = begin + lane; i < end; i += kMatrixThreads) {
        const double other = f(i);
        if (exceeds(other, size)) {
            size = other;
            place = i;
        }
    }
    sizes[lane] = size;
    places[lane] = place;
    for (int half = kMatrixThreads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) {
            const double other = sizes[lane + half];
            const bool is_equal = !exceeds(sizes[lane], other) && !exceeds(other, sizes[lane]);
            if (exceeds(other, sizes[lane]) || (is_equal && places[lane + half] < places[lane])) {
                sizes[lane] = other;
                places[lane] = places[lane + half];
            }
        }
    }
    __syncthreads();
    const int64_t found = places[0];
    __syncthreads();
    return found;
}

// Rows below k lose what row k has in column k; the factors take its place.
template <typename T>
inline void EliminateBelow(T* a, int64_t n, int64_t k) {
    using C = Number<T>;
    const C pivot = C(a[k * n + k]);
    for (int64_t i = k + 1 + threadIdx.x; i < n; i += kMatrixThreads) {
        a[i * n + k] = T(C(a[i * n + k]) / pivot);
    }
    __syncthreads();
    const int64_t left = n - 1 - k;
    for (int64_t t = threadIdx.x; t < left * left; t += kMatrixThreads) {
        const int64_t i = k + 1 + t / left;
        const int64_t j = k + 1 + t % left;
        a[i * n + j] = T(C(a[i * n + j]) - C(C(a[i * n + k]) * C(a[k * n + j])));
    }
    __syncthreads();
}

// b = a^-1 b for a triangle of a, with unit diagonal if `is_unit`.
template <typename T>
inline void SolveTriangle(bool is_lower, bool is_unit, const T* a, int64_t n, T* b,
                          int64_t columns) {
    using C = Number<T>;
    for (int64_t step = 0; step < n; ++step) {
        const int64_t k = is_lower ? step : n - 1 - step;
        if (!is_unit) {
            for (int64_t c = threadIdx.x; c < columns; c += kMatrixThreads) {
                b[k * columns + c] = T(C(b[k * columns + c]) / C(a[k * n + k]));
            }
            __syncthreads();
        }
        const int64_t left = n - 1 - step;
        for (int64_t t = threadIdx.x; t < left * columns; t += kMatrixThreads) {
            const int64_t i = t / columns + (is_lower ? k + 1 : 0);
            const int64_t c = t % columns;
            b[i * columns + c] =
                T(C(b[i * columns + c]) - C(C(a[i * n + k]) * C(b[k * columns + c])));
        }
        __syncthreads();
    }
}

// a = P L U in place, with partial pivoting.
template <typename T>
inline void FactorLu(const MatrixParams& p) {
    const int64_t n = p.n;
    T* const a = MatrixOf<T>(p.a, n * n);
    int64_t* const pivots = MatrixOf<int64_t>(p.pivots, n);
    int info = 0;
    for (int64_t k = 0; k < n; ++k) {
        const int64_t pivot = FindLargest(k, n, [&](int64_t i) { return PivotSize(a[i * n + k]); });
        if (threadIdx.x == 0) pivots[k] = pivot + 1;
        for (int64_t j = threadIdx.x; j < n && pivot != k; j += kMatrixThreads) {
            SwapNumbers(a[k * n + j], a[pivot * n + j]);
        }
        __syncthreads();
        if (PivotSize(a[k * n + k]) == 0) {
            if (info == 0) info = static_cast<int>(k + 1);
            continue;
        }
        EliminateBelow(a, n, k);
    }
    if (threadIdx.x == 0) *MatrixOf<int32_t>(p.info, 1) = info;
}

template <typename T>
inline void SolveFactored(const MatrixParams& p) {
    const int64_t n = p.n;
    T* const a = MatrixOf<T>(p.a, n * n);
    T* const b = MatrixOf<T>(p.b, n * p.columns);
    const int64_t* const pivots = MatrixOf<int64_t>(p.pivots, n);
    for (int64_t c = threadIdx.x; c < p.columns; c += kMatrixThreads) {
        for (int64_t k = 0; k < n; ++k) {
            SwapNumbers(b[k * p.columns + c], b[(pivots[k] - 1) * p.columns + c]);
        }
    }
    __syncthreads();
    SolveTriangle(true, true, a, n, b, p.columns);
    SolveTriangle(false, false, a, n, b, p.columns);
}

// A product of many numbers: intermediate ones may be out of range.
struct LongProduct {
    double real{1};
    double imag{0};
    int power{0};  // of 2

    void Multiply(double x, double y) {
        int other = 0;
        Scale(x, y, other);
        const double next = real * x - imag * y;
        imag = real * y + imag * x;
        real = next;
        power += other;
        Scale(real, imag, power);
    }
    double InRange(double x) const {
        int left = power;
        for (; left > 0 && x * 0 == 0 && x != 0; left -= kStep) x *= kLarge;
        for (; left < 0 && x != 0; left += kStep) x *= kSmall;
        return x;
    }

 private:
    static constexpr int kStep = 256;
    static constexpr double kLarge = 0x1p256;
    static constexpr double kSmall = 0x1p-256;

    static void Scale(double& x, double& y, int& power) {
        for (int k = 0; k < 4; ++k) {
            const double size = std::abs(x) > std::abs(y) ? std::abs(x) : std::abs(y);
            if (!(size * 0 == 0) || size == 0) return;
            const double by = size >= kLarge ? kSmall : size < kSmall ? kLarge : 1;
            x *= by;
            y *= by;
            power += size >= kLarge ? kStep : size < kSmall ? -kStep : 0;
        }
    }
};

// Of factored matrices, a thread each: b = det, outs[0] = sign, outs[1] = log |det|.
template <typename T, typename R>
inline void Determinants(const MatrixParams& p) {
    const int64_t matrix = static_cast<int64_t>(blockIdx.x) * kMatrixThreads + threadIdx.x;
    if (matrix >= p.count) return;
    const auto at = [&](const Ptr<char>& base) { return static_cast<char*>(base); };
    const T* const a = reinterpret_cast<const T*>(at(p.a)) + matrix * p.n * p.n;
    const int64_t* const pivots = reinterpret_cast<const int64_t*>(at(p.pivots)) + matrix * p.n;
    LongProduct product;
    double sum = 0;
    for (int64_t k = 0; k < p.n; ++k) {
        const double turn = pivots[k] == k + 1 ? 1 : -1;
        double real;
        double imag = 0;
        if constexpr (kIsComplex<T>) {
            real = a[k * (p.n + 1)].real();
            imag = a[k * (p.n + 1)].imag();
            sum += std::log(std::hypot(real, imag));
        } else {
            real = a[k * (p.n + 1)];
            sum += std::log(std::abs(real));
        }
        product.Multiply(real * turn, imag * turn);
    }
    reinterpret_cast<R*>(at(p.outs[1]))[matrix] = static_cast<R>(sum);
    const double size = std::hypot(product.real, product.imag);
    const double by = size == 0 ? 1 : size;
    T& det = reinterpret_cast<T*>(at(p.b))[matrix];
    T& sign = reinterpret_cast<T*>(at(p.outs[0]))[matrix];
    if constexpr (kIsComplex<T>) {
        det = T(static_cast<R>(product.InRange(product.real)),
                static_cast<R>(product.InRange(product.imag)));
        sign = T(static_cast<R>(product.real / by), static_cast<R>(product.imag / by));
    } else {
        det = static_cast<T>(product.InRange(product.real));
        sign = static_cast<T>(product.real / by);
    }
}

// The lower triangle of a becomes L with L L^H = a; elements above it become 0.
template <typename T>
inline void FactorCholesky(const MatrixParams& p) {
    using C = Number<T>;
    const int64_t n = p.n;
    T* const a = MatrixOf<T>(p.a, n * n);
    int info = 0;
    for (int64_t k = 0; k < n && info == 0; ++k) {
        double pivot;
        if constexpr (kIsComplex<T>) {
            pivot = a[k * (n + 1)].real();
        } else {
            pivot = a[k * (n + 1)];
        }
        if (!(pivot > 0)) info = static_cast<int>(k + 1);
        const double root = std::sqrt(pivot);
        __syncthreads();
        for (int64_t i = k + threadIdx.x; i < n; i += kMatrixThreads) {
            if constexpr (kIsComplex<T>) {
                using R = typename T::value_type;
                const auto by = static_cast<R>(root);
                T& x = a[i * n + k];
                x = i == k ? T(by) : T(x.real() / by, x.imag() / by);
            } else {
                a[i * n + k] = i == k ? static_cast<T>(root) : a[i * n + k] / static_cast<T>(root);
            }
        }
        __syncthreads();
        const int64_t left = n - 1 - k;
        for (int64_t t = threadIdx.x; t < left * left; t += kMatrixThreads) {
            const int64_t i = k + 1 + t / left;
            const int64_t j = k + 1 + t % left;
            if (j > i) continue;
            C other = C(a[j * n + k]);
            if constexpr (kIsComplex<T>) other = C(other.real(), -other.imag());
            a[i * n + j] = T(C(a[i * n + j]) - C(C(a[i * n + k]) * other));
        }
        __syncthreads();
    }
    for (int64_t t = threadIdx.x; t < n * n; t += kMatrixThreads) {
        if (t % n > t / n) a[t] = T(0);
    }
    if (threadIdx.x == 0) *MatrixOf<int32_t>(p.info, 1) = info;
}

// outs: x, d, y with x a y = diag(d), and det x det y = 1: full pivoting finds all pivots, and
// those that are missing come last. pivots have rows and columns, from 0 on, (2, n) per matrix.
template <typename T>
inline void Diagonalize(const MatrixParams& p) {
    using C = Number<T>;
    const int64_t n = p.n;
    T* const a = MatrixOf<T>(p.a, n * n);
    T* const x = MatrixOf<T>(p.outs[0], n * n);
    T* const d = MatrixOf<T>(p.outs[1], n);
    T* const y = MatrixOf<T>(p.outs[2], n * n);
    int64_t* const pivots = MatrixOf<int64_t>(p.pivots, 2 * n);
    bool is_negative = false;
    for (int64_t k = 0; k < n; ++k) {
        const int64_t left = n - k;
        const int64_t found = FindLargest(0, left * left, [&](int64_t t) {
            return PivotSize(a[(k + t / left) * n + k + t % left]);
        });
        const int64_t row = k + found / left;
        const int64_t column = k + found % left;
        is_negative = is_negative != ((row != k) != (column != k));
        if (threadIdx.x == 0) {
            pivots[k] = row;
            pivots[n + k] = column;
        }
        for (int64_t j = threadIdx.x; j < n && row != k; j += kMatrixThreads) {
            SwapNumbers(a[k * n + j], a[row * n + j]);
        }
        __syncthreads();
        for (int64_t i = threadIdx.x; i < n && column != k; i += kMatrixThreads) {
            SwapNumbers(a[i * n + k], a[i * n + column]);
        }
        __syncthreads();
        if (PivotSize(a[k * (n + 1)]) != 0) EliminateBelow(a, n, k);
    }
    for (int64_t t = threadIdx.x; t < n * n; t += kMatrixThreads) {
        x[t] = y[t] = T(t % (n + 1) == 0 ? 1 : 0);
    }
    for (int64_t k = threadIdx.x; k < n; k += kMatrixThreads) {
        d[k] = a[k * (n + 1)];
        for (int64_t j = k + 1; j < n && PivotSize(d[k]) != 0; ++j) {
            a[k * n + j] = T(C(a[k * n + j]) / C(d[k]));
        }
    }
    __syncthreads();
    for (int64_t c = threadIdx.x; c < n; c += kMatrixThreads) {
        for (int64_t k = 0; k < n; ++k) SwapNumbers(x[k * n + c], x[pivots[k] * n + c]);
    }
    __syncthreads();
    SolveTriangle(true, true, a, n, x, n);
    SolveTriangle(false, true, a, n, y, n);
    for (int64_t c = threadIdx.x; c < n; c += kMatrixThreads) {
        for (int64_t k = n - 1; k >= 0; --k) SwapNumbers(y[k * n + c], y[pivots[n + k] * n + c]);
        if (is_negative) {
            if (c == 0) d[0] = T(-C(d[0]));
            x[c] = T(-C(x[c]));
        }
    }
}

}  // namespace chainerx::cuda
