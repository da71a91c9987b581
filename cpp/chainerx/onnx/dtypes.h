// The element types of ONNX (TensorProto.DataType), and dtypes.
#pragma once

#include <cstdint>
#include <string>

#include "chainerx/core/dtype.h"

namespace chainerx::onnx {

// NotImplementedError that begins with `what` for a type that no array has, such as strings.
Dtype ToDtype(int64_t data_type, const std::string& what);
// Its name as ONNX writes it, or its number.
std::string DataTypeName(int64_t data_type);

}  // namespace chainerx::onnx
