#include "chainerx/native/fourier.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "chainerx/core/interrupt.h"

namespace chainerx::native {
namespace {

using Complex = Fourier::Complex;

// A prime above this costs more by itself than a convolution.
constexpr int64_t kLargestFactor = 31;

// exp(-2 pi i k / n) for 0 <= k < n, by an angle of at most pi / 4, where sine and cosine are
// exact.
Complex Root(int64_t k, int64_t n) {
    const int64_t octant = 8 * k / n;  // n is below 2^60
    // k / n = quarter / 4 + rest / n / 4, the rest between -n / 2 and n / 2
    const int64_t quarter = (octant + 1) / 2;
    const int64_t rest = 4 * k - quarter * n;
    const double angle =
        std::numbers::pi / 2 * (static_cast<double>(rest) / static_cast<double>(n));
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    switch (quarter % 4) {
        case 0:
            return {c, -s};
        case 1:
            return {-s, -c};
        case 2:
            return {-c, s};
        default:
            return {s, c};
    }
}

// Without the checks for nan and infinity that std::complex's product makes.
inline Complex Product(const Complex& a, const Complex& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

std::vector<int64_t> Factors(int64_t n) {
    std::vector<int64_t> factors;
    while (n % 4 == 0) {
        factors.push_back(4);
        n /= 4;
    }
    for (int64_t p = 2; p <= kLargestFactor && n > 1; ++p) {
        while (n % p == 0) {
            factors.push_back(p);
            n /= p;
        }
    }
    if (n > 1) factors.clear();
    return factors;
}

}  // namespace

// b_k = exp(pi i k^2 / n): with jk = (j^2 + k^2 - (j - k)^2) / 2 the transform is a convolution
// with b, made by transforms of a power of two.
struct Fourier::Chirp {
    explicit Chirp(int64_t n) : length{Length(n)}, inner{length}, b(n), transformed(length) {
        std::vector<Complex> padded(static_cast<size_t>(length));
        int64_t square = 0;  // k^2 modulo 2 n
        for (int64_t k = 0; k < n; ++k) {
            b[k] = std::conj(Root(square, 2 * n));
            padded[k] = b[k];
            if (k > 0) padded[length - k] = b[k];
            square = (square + 2 * k + 1) % (2 * n);
        }
        inner.Run(padded.data(), transformed.data(), nullptr);
    }

    static int64_t Length(int64_t n) {
        int64_t length = 1;
        while (length < 2 * n - 1) length *= 2;
        return length;
    }

    int64_t length;
    Fourier inner;
    std::vector<Complex> b;
    std::vector<Complex> transformed;
};

Fourier::Fourier(int64_t n) : n_{n}, factors_{Factors(n)} {
    if (n > 1 && factors_.empty()) {
        chirp_ = std::make_unique<Chirp>(n);
        return;
    }
    roots_.resize(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) roots_[k] = Root(k, n);
}

Fourier::~Fourier() = default;

int64_t Fourier::scratch() const { return chirp_ == nullptr ? 0 : 2 * chirp_->length; }

void Fourier::Run(const Complex* in, Complex* out, Complex* scratch) const {
    if (chirp_ != nullptr) {
        RunChirp(in, out, scratch);
    } else if (n_ == 1) {
        out[0] = in[0];
    } else {
        Split(in, 1, out, n_, 0);
    }
}

// The transform of in[0], in[step], ...: those of each factor-th of them, joined.
void Fourier::Split(const Complex* in, int64_t step, Complex* out, int64_t n, size_t level) const {
    constexpr int64_t kPiece = 1 << 12;
    const int64_t factor = factors_[level];
    const int64_t m = n / factor;
    if (n >= kPiece) internal::CheckInterrupt();
    for (int64_t q = 0; q < factor; ++q) {
        if (m == 1) {
            out[q] = in[q * step];
        } else {
            Split(in + q * step, step * factor, out + q * m, m, level + 1);
        }
    }
    Join(out, step, m, factor);
}

// `step` is n_ / (factor m), so roots_[k step] is root number k of this length.
void Fourier::Join(Complex* out, int64_t step, int64_t m, int64_t factor) const {
    Complex part[kLargestFactor + 1];
    for (int64_t k = 0; k < m; ++k) {
        for (int64_t q = 0; q < factor; ++q) {
            part[q] = Product(out[q * m + k], roots_[q * k * step]);
        }
        if (factor == 2) {
            out[k] = part[0] + part[1];
            out[m + k] = part[0] - part[1];
        } else if (factor == 4) {
            const Complex even = part[0] + part[2];
            const Complex odd = part[1] + part[3];
            const Complex even_low = part[0] - part[2];
            const Complex d = part[1] - part[3];
            const Complex odd_low{d.imag(), -d.real()};  // -i d
            out[k] = even + odd;
            out[m + k] = even_low + odd_low;
            out[2 * m + k] = even - odd;
            out[3 * m + k] = even_low - odd_low;
        } else {
            for (int64_t r = 0; r < factor; ++r) {
                Complex sum = part[0];
                for (int64_t q = 1; q < factor; ++q) {
                    sum += Product(part[q], roots_[q * r % factor * m * step]);
                }
                out[r * m + k] = sum;
            }
        }
    }
}

void Fourier::RunChirp(const Complex* in, Complex* out, Complex* scratch) const {
    const int64_t length = chirp_->length;
    Complex* a = scratch;
    Complex* transformed = scratch + length;
    for (int64_t k = 0; k < n_; ++k) a[k] = Product(in[k], std::conj(chirp_->b[k]));
    std::fill(a + n_, a + length, Complex{});
    chirp_->inner.Run(a, transformed, nullptr);
    // The conjugate, whose transform is that of the inverse, conjugated.
    for (int64_t k = 0; k < length; ++k) {
        transformed[k] = std::conj(Product(transformed[k], chirp_->transformed[k]));
    }
    chirp_->inner.Run(transformed, a, nullptr);
    const double scale = 1.0 / static_cast<double>(length);
    for (int64_t k = 0; k < n_; ++k) {
        out[k] = Product(std::conj(a[k]), std::conj(chirp_->b[k])) * scale;
    }
}

}  // namespace chainerx::native
