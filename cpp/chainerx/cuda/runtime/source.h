// Writes device sources that call a function of a header.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/cuda/compile/compiler.h"

namespace chainerx::cuda {

// The kernel `name` runs `call`, such as "Take<float>(p);", of a header of cuda/<room>/device.
// `bounds`: the threads of a block, and how many blocks fit at least (CX_KERNEL_OF); without the
// second ptxas spills a few bytes of many kernels.
inline DeviceSource MakeSource(std::string name, const char* header, const char* params,
                               const std::string& call, const char* bounds = "256, 1") {
    std::string text = StrCat(
        "#include \"chainerx/cuda/", header, "\"\n\nnamespace chainerx::cuda {\n\nCX_KERNEL_OF(",
        name, ", ", params, ", ", bounds, ") {\n    CX_BEGIN();\n    ", call, "\n}\n\n}\n");
    return {std::move(name), std::move(text)};
}

// A type for elements that are only moved (cuda/device/numbers.h).
inline const char* BytesTypeOf(int64_t item_size) {
    switch (item_size) {
        case 1:
            return "uint8_t";
        case 2:
            return "uint16_t";
        case 4:
            return "uint32_t";
        case 8:
            return "uint64_t";
        default:
            return "Bytes16";
    }
}

}  // namespace chainerx::cuda
