// The inputs of a run, from files.
#pragma once

#include <string>
#include <vector>

#include "chainerx/onnx/model.h"
#include "chainerx/onnx/value.h"

namespace chainerx::run {

// Reads what --input names, and finds out which input each array is. NotFoundError for names that
// no input has; ValueError for an input that is given twice, and for more arrays than inputs.
// Dtypes and shapes are left to the model.
onnx::Values ReadInputs(const onnx::Model& model, const std::vector<std::string>& arguments);

}  // namespace chainerx::run
