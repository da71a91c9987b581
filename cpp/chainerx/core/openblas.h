// The BLAS library of the native backend, for callers that may not include native/: defined in
// native/gemm/blas_library.cc.
#pragma once

#include <string>

#include "chainerx/core/macro.h"

namespace chainerx {

// Sets where to look for OpenBLAS before the default places; Python passes the path of its package.
// Has no effect once a BLAS is open.
CX_API void SetOpenBlasPath(const char* path);

struct BlasInfo {
    std::string engine;   // $CHAINERX_BLAS: "auto", "openblas", "own", "plain", or "file"
    std::string path;     // the library file, or "none" if the plain loops are in use
    std::string version;  // as the library states it; may be empty
    std::string threads;  // number of threads for a product, in words
    std::string reason;   // why there is none, with the paths tried; empty if there is one
};
// Opens the library; throws if $CHAINERX_BLAS or $CHAINERX_OPENBLAS names one that can't be used.
CX_API BlasInfo GetBlasInfo();

// Returns whether it has the functions of LAPACK that chainerx needs. Opens it, as above.
CX_API bool IsLapackAvailable();

}  // namespace chainerx
