// Tensors of a file as arrays.
#pragma once

#include <string>

#include "chainerx/core/array.h"
#include "chainerx/onnx/messages.h"

namespace chainerx::onnx {

// A copy on native:0. `folder` is that of the file, where external data may lie; "" if there is
// none. `what` begins the message of errors: ValueError for contents that contradict each other.
Array ToArray(const TensorMessage& tensor, const std::string& folder, const std::string& what);

}  // namespace chainerx::onnx
