// The BLAS library of the native backend, for those who may not see native/: defined in
// native/gemm/blas_library.cc.
#pragma once

#include <string>

#include "chainerx/core/macro.h"

namespace chainerx {

// Where to look for OpenBLAS, before the places known here; Python tells where its package is.
// Without effect once a BLAS is open.
CX_API void SetOpenBlasPath(const char* path);

struct BlasInfo {
    std::string engine;   // $CHAINERX_BLAS: "auto", "openblas", "own", "plain", or "file"
    std::string path;     // the file that serves as BLAS, or "none" if the plain loops are in use
    std::string version;  // its own words; may be empty
    std::string threads;  // how many it computes a product with, in words
    std::string reason;   // why there is none, with what was tried; empty if there is one
};
// Opens it, which throws if $CHAINERX_BLAS or $CHAINERX_OPENBLAS names what can't be used.
CX_API BlasInfo GetBlasInfo();

// Whether it has what chainerx needs of LAPACK. Opens it, as above.
CX_API bool IsLapackAvailable();

}  // namespace chainerx
