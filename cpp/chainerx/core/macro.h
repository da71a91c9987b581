// Compiler attributes used by the whole library.
#pragma once

#define CX_API __attribute__((visibility("default")))
#define CX_COLD __attribute__((noinline, cold))
