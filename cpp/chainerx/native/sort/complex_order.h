// The order of complex numbers.
#pragma once

namespace chainerx::native {
namespace {

// Rank by NaN: 0 if neither part is NaN.
int NanRank(auto x) {
    return 2 * static_cast<int>(x.real() != x.real()) + static_cast<int>(x.imag() != x.imag());
}

template <typename T>
bool IsBefore(T a, T b) {
    const int rank_a = NanRank(a);
    const int rank_b = NanRank(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    const bool compares_real = rank_a < 2;
    if (compares_real && a.real() != b.real()) return a.real() < b.real();
    return rank_a % 2 == 0 && a.imag() < b.imag();
}

}  // namespace
}  // namespace chainerx::native
