// Conversions of dtypes, as raw function pointers, which the unit strided/simd/cast.cc exports.
#pragma once

#include <cstdint>

namespace chainerx::native {

// Converts n contiguous elements.
using Conversion = void (*)(const void* x, void* out, int64_t n);

// SIMD dtype conversions: to and from 16-bit floats, rounding to nearest even; float to integer by
// truncation, INT32_MIN on overflow.
struct CastLoops {
    Conversion float16_to_float32;
    Conversion float32_to_float16;
    Conversion bfloat16_to_float32;
    Conversion float32_to_bfloat16;
    Conversion float32_to_int32;
    Conversion float64_to_int32;
};

const CastLoops& cast_loops();

}  // namespace chainerx::native
