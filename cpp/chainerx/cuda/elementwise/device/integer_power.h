// Power of integers, in the namespace math of native/elementwise/integer_math.h. native has loops
// over blocks instead (native/elementwise/power_loop.h).
#pragma once

#include <type_traits>

namespace chainerx::native::math {

// A negative power truncates: 0 unless the base is 1 or -1.
template <typename T>
inline T Pow(T base, T exponent) {
    using U = std::make_unsigned_t<T>;
    if constexpr (std::is_signed_v<T>) {
        if (exponent < 0) {
            if (base != 1 && base != -1) return 0;
            return base == 1 || (exponent & 1) == 0 ? T(1) : T(-1);
        }
    }
    U y = 1;
    U b = static_cast<U>(base);
    for (U e = static_cast<U>(exponent); e != 0; e >>= 1, b *= b) {
        if ((e & 1) != 0) y *= b;
    }
    return static_cast<T>(y);
}

}  // namespace chainerx::native::math
