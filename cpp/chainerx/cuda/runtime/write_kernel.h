// The source of a kernel that calls a function of a device header.
#pragma once

#include <string>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/cuda/compile/compiler.h"

namespace chainerx::cuda {

// `call` is the function with its template arguments; it takes `params`, the type of the kernel's
// parameter.
inline DeviceSource WriteKernel(std::string name, std::string_view header, std::string_view params,
                                std::string_view call, int threads = 256) {
    std::string text = StrCat("#include \"chainerx/cuda/", header,
                              "\"\n\nnamespace chainerx::cuda {\n\nCX_KERNEL_OF(", name, ", ",
                              params, ", ", threads, ") {\n    CX_BEGIN();\n    ", call,
                              "(p);\n}\n\n}\n");
    return {std::move(name), std::move(text)};
}

}  // namespace chainerx::cuda
