// The BLAS library of the native backend, for those who may not see native/: defined in
// native/blas_library.cc.
#pragma once

#include <string>

#include "chainerx/core/macro.h"

namespace chainerx {

// Where to look for OpenBLAS, before the places known here; Python tells where its package is.
// Without effect once a BLAS is open.
CX_API void SetOpenBlasPath(const char* path);

// The file that serves as BLAS and its own description, or "none" if the plain loops are in use.
CX_API std::string GetBlasName();

}  // namespace chainerx
