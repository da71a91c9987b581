// Access to a unit of a recurrent layer. Device sources find it as native/rnn/simd/units.h, so that
// native's loops compute the one unit of a thread, from elements of any float dtype.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/native/rnn/recurrent_units.h"
#include "chainerx/native/strided/simd/batch.h"

#define CX_UNIT_LOOP _Pragma("unroll 1")

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
using UnitBatch = Batch<cuda::Number<T>>;

template <typename T, bool kPart>
struct Units {
    UnitBatch<T> Get(const T* x) const { return static_cast<cuda::Number<T>>(*x); }
    void Set(T* x, const UnitBatch<T>& y) const { *x = static_cast<T>(y.v); }
    void SetIf(T* x, int64_t at, const UnitBatch<T>& y) const {
        if (x != nullptr) Set(x + at, y);
    }
};

template <typename T, typename F>
inline void ForUnits(int64_t /*rows*/, int64_t /*units*/, const F& f) {
    f(Units<T, false>{}, 0, 0);
}

// Gates a, i, f, o.
template <typename B>
struct FourGates {
    B gate[4];
};

template <typename T, GateLayout kLayout, bool kPart>
struct GateAccess {
    Units<T, kPart> at;
    int64_t size;

    int64_t step() const { return kLayout == GateLayout::kAdjacent ? 1 : size; }
    FourGates<UnitBatch<T>> Get(const T* x) const {
        FourGates<UnitBatch<T>> y;
        for (int k = 0; k < 4; ++k) y.gate[k] = at.Get(x + k * step());
        return y;
    }
    void Set(T* x, const FourGates<UnitBatch<T>>& y) const {
        for (int k = 0; k < 4; ++k) at.Set(x + k * step(), y.gate[k]);
    }
};

}  // namespace
}  // namespace chainerx::native::CX_ISA
