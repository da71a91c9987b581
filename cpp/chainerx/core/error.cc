#include "chainerx/core/error.h"

#include <charconv>

namespace chainerx::internal {

void AppendDouble(std::string& out, double value) {
    char buffer[32];
    const std::to_chars_result r = std::to_chars(buffer, buffer + sizeof buffer, value);
    out.append(buffer, r.ptr);
}

}  // namespace chainerx::internal
