// What the shared headers use of std::complex, for NVRTC, which finds this text as <complex>.
#ifndef CX_DEVICE_STD_COMPLEX_H  // not a pragma, as in std.h
#define CX_DEVICE_STD_COMPLEX_H

namespace std {

// Aligned so that both parts are loaded at once.
template <typename T>
class alignas(2 * sizeof(T)) complex {
 public:
    using value_type = T;

    complex() = default;
    constexpr complex(T real, T imag = T(0)) : real_{real}, imag_{imag} {}  // NOLINT: as std's
    template <typename U>
    explicit(sizeof(U) > sizeof(T)) constexpr complex(const complex<U>& z)
        : real_{static_cast<T>(z.real())}, imag_{static_cast<T>(z.imag())} {}

    constexpr T real() const { return real_; }
    constexpr T imag() const { return imag_; }

 private:
    T real_;
    T imag_;
};

template <typename T>
constexpr complex<T> operator-(const complex<T>& z) {
    return {-z.real(), -z.imag()};
}
template <typename T>
constexpr complex<T> operator+(const complex<T>& a, const complex<T>& b) {
    return {a.real() + b.real(), a.imag() + b.imag()};
}
template <typename T>
constexpr complex<T> operator-(const complex<T>& a, const complex<T>& b) {
    return {a.real() - b.real(), a.imag() - b.imag()};
}
template <typename T>
constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
    return a.real() == b.real() && a.imag() == b.imag();
}

}  // namespace std

#endif
