// NumPy's format for one array: a header in Python's syntax, then the elements.
#pragma once

#include <string>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/io/source.h"

namespace chainerx::io {

inline constexpr char kNpyMagic[] = "\x93NUMPY";
inline constexpr size_t kNpyMagicSize = 6;

// Reads the rest of the source, which must be one array.
Array ReadNpy(Source& source, Device& device);

// What comes before the elements.
std::string NpyHeader(Dtype dtype, const Shape& shape);

}  // namespace chainerx::io
