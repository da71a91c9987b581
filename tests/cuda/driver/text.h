// Messages.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace chainerx::cuda::test {

[[gnu::format(printf, 1, 2)]] inline std::string Format(const char* format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

}  // namespace chainerx::cuda::test
