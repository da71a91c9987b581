// The elements of arrays, from and to files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/io/source.h"

namespace chainerx::io {

// Checks a shape that a file claims, and that it needs all of `nbytes`. `what` begins the message
// of errors: DimensionError for too many dimensions, ValueError for another number of bytes.
Shape CheckShape(const std::vector<int64_t>& dims, Dtype dtype, uint64_t nbytes,
                 const std::string& what);

enum class ByteOrder : int8_t { kNative, kSwapped };

// Reads an array of this shape, in C order, to a device.
Array ReadElements(Source& source, const Shape& shape, Dtype dtype, ByteOrder order,
                   Device& device);
// The same in Fortran order.
Array ReadFortranElements(Source& source, const Shape& shape, Dtype dtype, ByteOrder order,
                          Device& device);

// The array in host memory, in C order and outside all graphs.
Array ToHostElements(const Array& x);

}  // namespace chainerx::io
