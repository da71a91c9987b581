// What the units of instruction sets (cmake/isa.cmake) and the sources that use them share.
#pragma once

#include "chainerx/core/dtype.h"

// Defines the table that a unit exports, in namespace chainerx::native::CX_ISA:
// `CX_EXPORT_LOOPS(Type){...};`. CX_DISPATCH (isa.h) finds it.
#define CX_EXPORT_LOOPS(Type)                                                  \
    extern "C" __attribute__((visibility("hidden"))) const Type CX_UNIT_ENTRY; \
    const Type CX_UNIT_ENTRY

namespace chainerx::native {

// Loops for float and double: the table of most units.
template <template <typename> class Loops>
struct FloatLoops {
    Loops<float> f32;
    Loops<double> f64;

    template <typename T>
    const Loops<T>& Of() const {
        if constexpr (sizeof(T) == sizeof(float)) {
            return f32;
        } else {
            return f64;
        }
    }
};

// Calls f<T>(loops) for the compute type, float or double.
template <template <typename> class Loops, typename F>
void VisitUpcast(const FloatLoops<Loops>& loops, Dtype dtype, const F& f) {
    if (dtype == Dtype::kFloat64) {
        f.template operator()<double>(loops.f64);
    } else {
        f.template operator()<float>(loops.f32);
    }
}

}  // namespace chainerx::native
