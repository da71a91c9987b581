// Dtypes in device sources.
#pragma once

#include "chainerx/core/dtype.h"

namespace chainerx::cuda {

// How device sources call the type of an element (cuda/device/numbers.h).
inline const char* DeviceTypeOf(Dtype dtype) {
    switch (dtype) {
        case Dtype::kBool:
            return "Bool8";
        case Dtype::kInt8:
            return "int8_t";
        case Dtype::kInt16:
            return "int16_t";
        case Dtype::kInt32:
            return "int32_t";
        case Dtype::kInt64:
            return "int64_t";
        case Dtype::kUInt8:
            return "uint8_t";
        case Dtype::kUInt16:
            return "uint16_t";
        case Dtype::kUInt32:
            return "uint32_t";
        case Dtype::kUInt64:
            return "uint64_t";
        case Dtype::kFloat16:
            return "Float16";
        case Dtype::kBFloat16:
            return "BFloat16";
        case Dtype::kFloat32:
            return "float";
        case Dtype::kFloat64:
            return "double";
        case Dtype::kComplex64:
            return "Complex64";
        case Dtype::kComplex128:
            return "Complex128";
    }
    return nullptr;
}

}  // namespace chainerx::cuda
