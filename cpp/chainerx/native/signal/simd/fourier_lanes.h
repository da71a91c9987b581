// Transposes rows to lanes and back: one row per lane, from any addresses.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace chainerx::native::CX_ISA {
namespace {
namespace lanes {

template <typename T>
constexpr int kMax = static_cast<int>(pocketfft::detail::VLEN<T>::val);

template <typename T, int kLanes>
struct VectorOf {
    using Int = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
    typedef Int Mask __attribute__((vector_size(kLanes * sizeof(T))));
};
template <typename T, int kLanes>
using Vector = typename VectorOf<T, kLanes>::Type;

// Shuffle: elements kIndex of a, or of b from kLanes on.
template <typename T, int kLanes, int... kIndex>
inline Vector<T, kLanes> Shuffle(const Vector<T, kLanes>& a, const Vector<T, kLanes>& b) {
#if defined(__clang__)
    return __builtin_shufflevector(a, b, kIndex...);
#else
    return __builtin_shuffle(a, b, typename VectorOf<T, kLanes>::Mask{kIndex...});
#endif
}

// The same with indices from a function: index(place).
template <typename T, int kLanes, typename Index, int... kPlace>
inline Vector<T, kLanes> ShuffleBy(const Vector<T, kLanes>& a, const Vector<T, kLanes>& b,
                                   std::integer_sequence<int, kPlace...>) {
    return Shuffle<T, kLanes, Index::At(kPlace)...>(a, b);
}
template <typename T, int kLanes, typename Index>
inline Vector<T, kLanes> ShuffleBy(const Vector<T, kLanes>& a, const Vector<T, kLanes>& b) {
    return ShuffleBy<T, kLanes, Index>(a, b, std::make_integer_sequence<int, kLanes>{});
}

// Every second element of both, from kFirst on.
template <int kFirst>
struct EverySecond {
    static constexpr int At(int place) { return 2 * place + kFirst; }
};
// Interleaves the first halves of both, or the second ones.
template <int kLanes, bool kSecond>
struct InTurn {
    static constexpr int At(int place) {
        return place / 2 + (kSecond ? kLanes / 2 : 0) + (place % 2) * kLanes;
    }
};
// The exchange between two rows when blocks of kSize by kSize elements are transposed.
template <int kLanes, int kSize, bool kSecond>
struct Exchange {
    static constexpr int At(int place) {
        const bool upper = (place & kSize) != 0;
        if constexpr (kSecond) return upper ? place + kLanes : place + kSize;
        return upper ? place - kSize + kLanes : place;
    }
};

template <typename T, int kLanes>
inline Vector<T, kLanes> Load(const T* from) {
    Vector<T, kLanes> v;
    std::memcpy(&v, from, sizeof(v));
    return v;
}
inline void Store(auto* to, const auto& v) { std::memcpy(to, &v, sizeof(v)); }

// Transposes a square of units of kUnit elements.
template <typename T, int kLanes, int kUnit, int kSize = kLanes / 2>
inline void Transpose(Vector<T, kLanes>* v) {
    if constexpr (kSize >= kUnit) {
        constexpr int kRows = kLanes / kUnit;
        constexpr int kStep = kSize / kUnit;
        for (int i = 0; i < kRows; ++i) {
            if ((i & kStep) != 0) continue;
            const Vector<T, kLanes> a = v[i];
            const Vector<T, kLanes> b = v[i + kStep];
            v[i] = ShuffleBy<T, kLanes, Exchange<kLanes, kSize, false>>(a, b);
            v[i + kStep] = ShuffleBy<T, kLanes, Exchange<kLanes, kSize, true>>(a, b);
        }
        Transpose<T, kLanes, kUnit, kSize / 2>(v);
    }
}

// Addresses of numbers: those of a row `step` apart, each row at its own offset. Offsets and steps
// count numbers.
struct Places {
    const int64_t* at;
    int64_t count;  // of rows; at[] has an entry for each lane in any case
    int64_t step;
    bool beside;  // whether rows are adjacent
};

// Loads n numbers: calls put(i, real parts, imaginary parts).
template <int kLanes, typename T, typename F>
inline void GatherComplex(const T* in, const Places& p, int64_t n, const F& put) {
    constexpr int kUnits = kLanes / 2;  // complex numbers in a vector
    const auto put_pairs = [&](int64_t i, const Vector<T, kLanes>& low,
                               const Vector<T, kLanes>& high) {
        put(i, ShuffleBy<T, kLanes, EverySecond<0>>(low, high),
            ShuffleBy<T, kLanes, EverySecond<1>>(low, high));
    };
    int64_t i = 0;
    if (p.beside) {
        for (; i < n; ++i) {
            const T* from = in + 2 * (p.at[0] + i * p.step);
            put_pairs(i, Load<T, kLanes>(from), Load<T, kLanes>(from + kLanes));
        }
        return;
    }
    if (p.step == 1) {
        for (; i + kUnits <= n; i += kUnits) {
            Vector<T, kLanes> half[2][kUnits];
            for (int h = 0; h < 2; ++h) {
                for (int j = 0; j < kUnits; ++j) {
                    half[h][j] = Load<T, kLanes>(in + 2 * (p.at[h * kUnits + j] + i));
                }
                Transpose<T, kLanes, 2>(half[h]);
            }
            for (int k = 0; k < kUnits; ++k) put_pairs(i + k, half[0][k], half[1][k]);
        }
    }
    for (; i < n; ++i) {
        Vector<T, kLanes> real{};
        Vector<T, kLanes> imag{};
        for (int j = 0; j < kLanes; ++j) {
            const T* from = in + 2 * (p.at[j] + i * p.step);
            real[j] = from[0];
            imag[j] = from[1];
        }
        put(i, real, imag);
    }
}

// Stores n numbers: get(i, &real, &imag) returns the parts.
template <int kLanes, typename T, typename F>
inline void ScatterComplex(T* out, const Places& p, int64_t n, const F& get) {
    constexpr int kUnits = kLanes / 2;
    const auto get_pairs = [&](int64_t i, Vector<T, kLanes>* low, Vector<T, kLanes>* high) {
        Vector<T, kLanes> real;
        Vector<T, kLanes> imag;
        get(i, &real, &imag);
        *low = ShuffleBy<T, kLanes, InTurn<kLanes, false>>(real, imag);
        *high = ShuffleBy<T, kLanes, InTurn<kLanes, true>>(real, imag);
    };
    int64_t i = 0;
    if (p.beside) {
        for (; i < n; ++i) {
            Vector<T, kLanes> low;
            Vector<T, kLanes> high;
            get_pairs(i, &low, &high);
            T* to = out + 2 * (p.at[0] + i * p.step);
            Store(to, low);
            Store(to + kLanes, high);
        }
        return;
    }
    if (p.step == 1) {
        for (; i + kUnits <= n; i += kUnits) {
            Vector<T, kLanes> half[2][kUnits];
            for (int k = 0; k < kUnits; ++k) get_pairs(i + k, &half[0][k], &half[1][k]);
            for (int h = 0; h < 2; ++h) {
                Transpose<T, kLanes, 2>(half[h]);
                for (int j = 0; j < kUnits && h * kUnits + j < p.count; ++j) {
                    Store(out + 2 * (p.at[h * kUnits + j] + i), half[h][j]);
                }
            }
        }
    }
    for (; i < n; ++i) {
        Vector<T, kLanes> real;
        Vector<T, kLanes> imag;
        get(i, &real, &imag);
        for (int64_t j = 0; j < p.count; ++j) {
            T* to = out + 2 * (p.at[j] + i * p.step);
            to[0] = real[j];
            to[1] = imag[j];
        }
    }
}

template <int kLanes, typename T>
inline void GatherReal(const T* in, const Places& p, int64_t n, Vector<T, kLanes>* out) {
    int64_t i = 0;
    if (p.beside) {
        for (; i < n; ++i) out[i] = Load<T, kLanes>(in + p.at[0] + i * p.step);
        return;
    }
    if (p.step == 1) {
        for (; i + kLanes <= n; i += kLanes) {
            Vector<T, kLanes> rows[kLanes];
            for (int j = 0; j < kLanes; ++j) rows[j] = Load<T, kLanes>(in + p.at[j] + i);
            Transpose<T, kLanes, 1>(rows);
            for (int k = 0; k < kLanes; ++k) out[i + k] = rows[k];
        }
    }
    for (; i < n; ++i) {
        for (int j = 0; j < kLanes; ++j) out[i][j] = in[p.at[j] + i * p.step];
    }
}

template <int kLanes, typename T>
inline void ScatterReal(T* out, const Places& p, int64_t n, const Vector<T, kLanes>* in) {
    int64_t i = 0;
    if (p.beside) {
        for (; i < n; ++i) Store(out + p.at[0] + i * p.step, in[i]);
        return;
    }
    if (p.step == 1) {
        for (; i + kLanes <= n; i += kLanes) {
            Vector<T, kLanes> rows[kLanes];
            for (int k = 0; k < kLanes; ++k) rows[k] = in[i + k];
            Transpose<T, kLanes, 1>(rows);
            for (int64_t j = 0; j < p.count; ++j) Store(out + p.at[j] + i, rows[j]);
        }
    }
    for (; i < n; ++i) {
        for (int64_t j = 0; j < p.count; ++j) out[p.at[j] + i * p.step] = in[i][j];
    }
}

}  // namespace lanes
}  // namespace
}  // namespace chainerx::native::CX_ISA
