// Compiler attributes used by the whole library.
#pragma once

#if __cplusplus < 202002L
#error "chainerx needs C++20: compile with -std=c++20, or link the CMake target chainerx::chainerx"
#endif

#define CX_API __attribute__((visibility("default")))
#define CX_COLD __attribute__((noinline, cold))
