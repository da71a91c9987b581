// The discrete Fourier transform of one row.
//
// Lengths made of small primes are split by them (Cooley and Tukey, 1965); others become a
// convolution of a power of two (Bluestein, 1970). Computed in double, whatever the operands are.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace chainerx::native {

class Fourier {
 public:
    using Complex = std::complex<double>;

    // A transform of n > 0 numbers, with the sign of exp(-2 pi i j k / n).
    explicit Fourier(int64_t n);
    ~Fourier();

    // How many numbers of memory `Run` needs besides.
    int64_t scratch() const;
    // `in` and `out` are different memory.
    void Run(const Complex* in, Complex* out, Complex* scratch) const;

 private:
    struct Chirp;

    void Split(const Complex* in, int64_t step, Complex* out, int64_t n, size_t level) const;
    void Join(Complex* out, int64_t step, int64_t m, int64_t factor) const;
    void RunChirp(const Complex* in, Complex* out, Complex* scratch) const;

    int64_t n_;
    std::vector<int64_t> factors_;
    std::vector<Complex> roots_;    // exp(-2 pi i k / n)
    std::unique_ptr<Chirp> chirp_;  // of lengths with a large prime
};

}  // namespace chainerx::native
