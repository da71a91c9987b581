// The names of the arrays of a file.
#pragma once

#include <string>

#include "chainerx/io/files.h"

namespace chainerx::io {

// ValueError that begins with `what` if two arrays have one name.
void CheckNames(const NamedArrays& arrays, const std::string& what);

}  // namespace chainerx::io
