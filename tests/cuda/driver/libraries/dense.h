// Matrices of the stand-in for cuSOLVER: textbook loops in complex doubles, whatever the dtype.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <vector>

#include "chainerx/cuda/driver/library_types.h"

namespace chainerx::cuda::standin {

using Number = std::complex<double>;

struct Matrix {
    std::int64_t rows, columns;
    std::vector<Number> numbers;

    Matrix(std::int64_t m, std::int64_t n) : rows{m}, columns{n}, numbers(m * n) {}
    Number& operator()(std::int64_t i, std::int64_t j) { return numbers[j * rows + i]; }
    Number operator()(std::int64_t i, std::int64_t j) const { return numbers[j * rows + i]; }
    Number* column(std::int64_t j) { return numbers.data() + j * rows; }
};

inline Matrix Identity(std::int64_t m, std::int64_t n) {
    Matrix a{m, n};
    for (std::int64_t i = 0; i < std::min(m, n); ++i) a(i, i) = 1;
    return a;
}

// conj(x) y
inline Number Dot(std::int64_t n, const Number* x, const Number* y) {
    Number sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::conj(x[i]) * y[i];
    return sum;
}
inline double Norm(std::int64_t n, const Number* x) { return std::sqrt(Dot(n, x, x).real()); }

inline Matrix Product(const Matrix& a, const Matrix& b) {
    Matrix c{a.rows, b.columns};
    for (std::int64_t j = 0; j < b.columns; ++j) {
        for (std::int64_t k = 0; k < a.columns; ++k) {
            for (std::int64_t i = 0; i < a.rows; ++i) c(i, j) += a(i, k) * b(k, j);
        }
    }
    return c;
}

// Returns the first pivot that is 0, from 1 on, or 0.
inline int FactorLu(Matrix& a, std::int64_t* pivots) {
    const std::int64_t n = a.columns;
    const auto size = [](Number z) { return std::abs(z.real()) + std::abs(z.imag()); };
    int info = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        std::int64_t p = k;
        for (std::int64_t i = k + 1; i < n; ++i) {
            if (size(a(i, k)) > size(a(p, k))) p = i;
        }
        pivots[k] = p + 1;
        for (std::int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(p, j));
        if (a(k, k) == 0.0) {
            if (info == 0) info = static_cast<int>(k + 1);
            continue;
        }
        for (std::int64_t i = k + 1; i < n; ++i) {
            a(i, k) /= a(k, k);
            for (std::int64_t j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
        }
    }
    return info;
}

inline void SolveLu(const Matrix& a, const std::int64_t* pivots, Matrix& b) {
    const std::int64_t n = a.columns;
    for (std::int64_t c = 0; c < b.columns; ++c) {
        for (std::int64_t k = 0; k < n; ++k) std::swap(b(k, c), b(pivots[k] - 1, c));
        for (std::int64_t k = 0; k < n; ++k) {
            for (std::int64_t i = k + 1; i < n; ++i) b(i, c) -= a(i, k) * b(k, c);
        }
        for (std::int64_t k = n - 1; k >= 0; --k) {
            b(k, c) /= a(k, k);
            for (std::int64_t i = 0; i < k; ++i) b(i, c) -= a(i, k) * b(k, c);
        }
    }
}

// The upper triangle becomes U with U^H U = a.
inline int FactorCholesky(Matrix& a) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
        double pivot = a(k, k).real();
        for (std::int64_t i = 0; i < k; ++i) pivot -= std::norm(a(i, k));
        if (!(pivot > 0)) return static_cast<int>(k + 1);
        a(k, k) = std::sqrt(pivot);
        for (std::int64_t j = k + 1; j < a.columns; ++j) {
            for (std::int64_t i = 0; i < k; ++i) a(k, j) -= std::conj(a(i, k)) * a(i, j);
            a(k, j) /= a(k, k);
        }
    }
    return 0;
}

// x becomes (1 - tau v v^H) x, where v begins with 1 at `first` and goes on below it.
inline void Reflect(const Matrix& a, std::int64_t first, std::int64_t of, Number tau, Number* x) {
    Number dot = x[first];
    for (std::int64_t i = first + 1; i < a.rows; ++i) dot += std::conj(a(i, of)) * x[i];
    x[first] -= tau * dot;
    for (std::int64_t i = first + 1; i < a.rows; ++i) x[i] -= tau * dot * a(i, of);
}

inline void FactorQr(Matrix& a, Number* tau) {
    for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
        const Number alpha = a(k, k);
        const double rest = Norm(a.rows - k - 1, a.column(k) + k + 1);
        tau[k] = 0;
        if (rest == 0 && alpha.imag() == 0) continue;
        const double beta = -std::copysign(std::hypot(std::abs(alpha), rest), alpha.real());
        tau[k] = (beta - alpha) / beta;
        for (std::int64_t i = k + 1; i < a.rows; ++i) a(i, k) /= alpha - beta;
        a(k, k) = beta;
        for (std::int64_t j = k + 1; j < a.columns; ++j) {
            Reflect(a, k, k, std::conj(tau[k]), a.column(j));
        }
    }
}

inline Matrix MakeQ(const Matrix& a, std::int64_t reflections, const Number* tau) {
    Matrix q = Identity(a.rows, a.columns);
    for (std::int64_t j = 0; j < q.columns; ++j) {
        for (std::int64_t k = reflections - 1; k >= 0; --k) Reflect(a, k, k, tau[k], q.column(j));
    }
    return q;
}

// Makes columns from `begin` on orthonormal to all before.
inline void Complete(Matrix& u, std::int64_t begin) {
    std::int64_t next = 0;
    for (std::int64_t j = begin; j < u.columns; ++j) {
        double norm = 0;
        while (norm < 0.1 / std::sqrt(static_cast<double>(u.rows))) {
            std::fill_n(u.column(j), u.rows, Number{0});
            u(next++ % u.rows, j) = 1;
            for (int twice = 0; twice < 2; ++twice) {
                for (std::int64_t k = 0; k < j; ++k) {
                    const Number dot = Dot(u.rows, u.column(k), u.column(j));
                    for (std::int64_t i = 0; i < u.rows; ++i) u(i, j) -= dot * u(i, k);
                }
            }
            norm = Norm(u.rows, u.column(j));
        }
        for (std::int64_t i = 0; i < u.rows; ++i) u(i, j) /= norm;
    }
}

// Rotates columns p and q of x by the angle that makes [[a, b], [conj(b), c]] diagonal.
struct Rotation {
    double cosine, sine;
    Number phase;

    Rotation(double a, Number b, double c) {
        const double size = std::abs(b);
        phase = b / size;
        const double theta = (c - a) / (2 * size);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(1, theta));
        cosine = 1 / std::hypot(1, t);
        sine = t * cosine;
    }
    void Apply(Matrix& x, std::int64_t p, std::int64_t q) const {
        for (std::int64_t i = 0; i < x.rows; ++i) {
            const Number y = x(i, p), z = x(i, q);
            x(i, p) = cosine * y - sine * std::conj(phase) * z;
            x(i, q) = sine * phase * y + cosine * z;
        }
    }
};

// a = u diag(s) v^H by rotations of columns; u is a.rows x `columns`.
inline void FindSingularValues(Matrix a, std::int64_t columns, Matrix& u, double* s, Matrix& v) {
    const std::int64_t n = a.columns;
    Matrix w = Identity(n, n);
    bool changed = true;
    for (int sweep = 0; changed && sweep < 60; ++sweep) {
        changed = false;
        for (std::int64_t p = 0; p < n; ++p) {
            for (std::int64_t q = p + 1; q < n; ++q) {
                const Number dot = Dot(a.rows, a.column(p), a.column(q));
                const double x = Norm(a.rows, a.column(p)), y = Norm(a.rows, a.column(q));
                if (std::abs(dot) <= 1e-15 * x * y || std::abs(dot) < 1e-300) continue;
                const Rotation rotation{x * x, dot, y * y};
                rotation.Apply(a, p, q);
                rotation.Apply(w, p, q);
                changed = true;
            }
        }
    }
    std::vector<double> norms(n);
    for (std::int64_t j = 0; j < n; ++j) norms[j] = Norm(a.rows, a.column(j));
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t i, std::int64_t j) { return norms[i] > norms[j]; });
    u = Matrix{a.rows, columns};
    v = Matrix{n, n};
    std::int64_t rank = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        s[j] = norms[order[j]];
        if (s[j] > 1e-15 * s[0] && j < columns) rank = j + 1;
        for (std::int64_t i = 0; i < a.rows && j < rank; ++i) u(i, j) = a(i, order[j]) / s[j];
        for (std::int64_t i = 0; i < n; ++i) v(i, j) = w(i, order[j]);
    }
    Complete(u, rank);
}

// Eigenvalues of Hermitian a, ascending; its columns become the vectors.
inline void FindHermitianEigen(Matrix& a, double* w) {
    const std::int64_t n = a.columns;
    Matrix v = Identity(n, n);
    const double scale = Norm(n * n, a.numbers.data());
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0;
        for (std::int64_t p = 0; p < n; ++p) {
            for (std::int64_t q = p + 1; q < n; ++q) {
                const double size = std::abs(a(p, q));
                off = std::max(off, size);
                if (size <= 1e-17 * scale) continue;
                const Rotation rotation{a(p, p).real(), a(p, q), a(q, q).real()};
                rotation.Apply(a, p, q);
                rotation.Apply(v, p, q);
                for (std::int64_t j = 0; j < n; ++j) {  // the adjoint from the left
                    const Number y = a(p, j), z = a(q, j);
                    a(p, j) = rotation.cosine * y - rotation.sine * rotation.phase * z;
                    a(q, j) = rotation.sine * std::conj(rotation.phase) * y + rotation.cosine * z;
                }
            }
        }
        if (off <= 1e-17 * scale) break;
    }
    std::vector<std::int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
        return a(i, i).real() < a(j, j).real();
    });
    for (std::int64_t j = 0; j < n; ++j) w[j] = a(order[j], order[j]).real();
    for (std::int64_t j = 0; j < n; ++j) std::copy_n(v.column(order[j]), n, a.column(j));
}

// Eigenvalues, and the vectors as columns of v, by shifted QR steps. Returns whether it converged.
inline bool FindEigen(Matrix a, Number* w, Matrix& v) {
    const std::int64_t n = a.columns;
    Matrix q = Identity(n, n);
    const double scale = Norm(n * n, a.numbers.data());
    int steps = 0;
    for (std::int64_t last = n - 1; last > 0;) {
        double left = 0;
        for (std::int64_t j = 0; j < last; ++j) left = std::max(left, std::abs(a(last, j)));
        if (left <= 1e-15 * scale) {
            for (std::int64_t j = 0; j < last; ++j) a(last, j) = 0;
            --last;
            continue;
        }
        if (++steps > 2000 * n) return false;
        const Number half = (a(last - 1, last - 1) - a(last, last)) / 2.0;
        const Number root = std::sqrt(half * half + a(last - 1, last) * a(last, last - 1));
        Number shift =
            a(last, last) + half + (std::abs(half + root) < std::abs(half - root) ? root : -root);
        if (steps % 11 == 10) shift += left * Number{0.7, 0.3};
        Matrix part{last + 1, last + 1};
        for (std::int64_t j = 0; j <= last; ++j) {
            for (std::int64_t i = 0; i <= last; ++i) part(i, j) = a(i, j) - (i == j ? shift : 0);
        }
        std::vector<Number> tau(last + 1);
        FactorQr(part, tau.data());
        const Matrix turn = MakeQ(part, last + 1, tau.data());
        Matrix all = Identity(n, n), adjoint = Identity(n, n);
        for (std::int64_t j = 0; j <= last; ++j) {
            for (std::int64_t i = 0; i <= last; ++i) {
                all(i, j) = turn(i, j);
                adjoint(j, i) = std::conj(turn(i, j));
            }
        }
        a = Product(adjoint, Product(a, all));
        q = Product(q, all);
    }
    v = Matrix{n, n};
    for (std::int64_t k = 0; k < n; ++k) {
        w[k] = a(k, k);
        v(k, k) = 1;
        for (std::int64_t i = k - 1; i >= 0; --i) {
            Number sum = a(i, k);
            for (std::int64_t j = i + 1; j < k; ++j) sum += a(i, j) * v(j, k);
            Number gap = a(k, k) - a(i, i);
            if (std::abs(gap) < 1e-16 * scale) gap = 1e-16 * scale;
            v(i, k) = sum / gap;
        }
    }
    v = Product(q, v);
    for (std::int64_t k = 0; k < n; ++k) {
        const double norm = Norm(n, v.column(k));
        for (std::int64_t i = 0; i < n; ++i) v(i, k) /= norm;
    }
    return true;
}

}  // namespace chainerx::cuda::standin
