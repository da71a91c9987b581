// How device sources load, compute and store elements of each dtype.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/float16.h"
#include "chainerx/cuda/device/block.h"
#include "chainerx/native/elementwise/complex_number.h"

namespace chainerx::cuda {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

// A bool in memory: any byte but 0 is true.
struct Bool8 {
    uint8_t byte;

    Bool8() = default;
    explicit Bool8(bool x) : byte{x} {}
    explicit operator bool() const { return byte != 0; }
};

// An element of 16 bytes that is only moved.
struct alignas(16) Bytes16 {
    uint64_t halves[2];
};

// The type in which an element is computed: 32-bit integers for smaller ones, float for 16-bit
// floats. As ComputeType of core/dtype.h, but for complex numbers.
template <typename T>
struct NumberOf {
    using Type = T;
};
#define CX_COMPUTES_IN(T, Wide) \
    template <>                 \
    struct NumberOf<T> {        \
        using Type = Wide;      \
    };
CX_COMPUTES_IN(Bool8, bool)
CX_COMPUTES_IN(int8_t, int32_t)
CX_COMPUTES_IN(int16_t, int32_t)
CX_COMPUTES_IN(uint8_t, uint32_t)
CX_COMPUTES_IN(uint16_t, uint32_t)
CX_COMPUTES_IN(Float16, float)
CX_COMPUTES_IN(BFloat16, float)
CX_COMPUTES_IN(Complex64, native::ComplexNumber<float>)
CX_COMPUTES_IN(Complex128, native::ComplexNumber<double>)
#undef CX_COMPUTES_IN
template <typename T>
using Number = typename NumberOf<T>::Type;
template <typename T>
inline constexpr bool kIsComplex = native::kIsComplexNumber<Number<T>>;

// Computes with plain numbers.
struct AsNumbers {
    template <typename T>
    using Compute = Number<T>;
    template <typename T>
    static Number<T> Load(const T& x) {
        return static_cast<Number<T>>(x);
    }
    template <typename Out, typename C>
    static Out Store(const C& y) {
        return static_cast<Out>(y);
    }
};

// Converts between any two dtypes: what is not 0 becomes true, and complex numbers lose their
// imaginary part.
struct AsConverted : AsNumbers {
    template <typename Out, typename C>
    static Out Store(const C& y) {
        constexpr bool kIsHalf = std::is_same_v<Out, Float16> || std::is_same_v<Out, BFloat16>;
        if constexpr (std::is_same_v<Out, Bool8>) {
            return Bool8(y != C(0));
        } else if constexpr (native::kIsComplexNumber<C> && !native::kIsComplexNumber<Out>) {
            return Store<Out>(y.real());
        } else if constexpr (native::kIsComplexNumber<Out> && !native::kIsComplexNumber<C>) {
            return Out(static_cast<typename Out::value_type>(y));
        } else if constexpr (kIsHalf && std::is_integral_v<C>) {
            return Out(static_cast<double>(y));
        } else if constexpr (std::is_floating_point_v<C> && std::is_integral_v<Out>) {
            // Through int64, as Cast of core/dtype.h: a GPU would give the nearest number.
            if constexpr (std::is_same_v<Out, uint64_t>) {
                if (y >= C(0x1p63)) {
                    return y < C(0x1p64) ? static_cast<uint64_t>(y)
                                         : static_cast<uint64_t>(1) << 63;
                }
            }
            const bool fits = y >= C(-0x1p63) && y < C(0x1p63);
            return static_cast<Out>(fits ? static_cast<int64_t>(y)
                                         : static_cast<int64_t>(static_cast<uint64_t>(1) << 63));
        } else {
            return static_cast<Out>(y);
        }
    }
};

}  // namespace chainerx::cuda
