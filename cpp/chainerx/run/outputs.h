// The outputs of a run, to files.
#pragma once

#include <string>

#include "chainerx/io/files.h"
#include "chainerx/onnx/model.h"
#include "chainerx/onnx/value.h"

namespace chainerx::run {

// The outputs by name. The elements of a sequence "s" are "s[0]", "s[1]" and so on; what is empty
// is not there.
io::NamedArrays NameOutputs(const onnx::Model& model, const onnx::Values& values);

// Fails before a long run for a path that can't be right: ValueError for an .npy if there are
// several outputs.
void CheckOutputPath(const onnx::Model& model, const std::string& path);

// Writes one file, or a folder of .npy if the path has no end that says which. Returns the path for
// each array.
std::vector<std::string> WriteOutputs(const io::NamedArrays& arrays, const std::string& path);

}  // namespace chainerx::run
