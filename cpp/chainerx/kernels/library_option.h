// What a program says about libraries of a backend, cuDNN first of all: chainer.config for the
// running thread, which backends read.
#pragma once

#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

enum class LibraryOption : int8_t { kUse, kTensorCores, kAutotune, kDeterministic };

// kInvalid: what a program gave is none of the others.
enum class LibraryChoice : int8_t { kUnset, kNever, kAuto, kAlways, kInvalid };

// Sets an option of all threads, or of the running one, which comes first; kUnset takes it back.
CX_API void SetLibraryOption(LibraryOption option, LibraryChoice choice, bool of_thread);
// kAuto if it is unset.
CX_API LibraryChoice GetLibraryOption(LibraryOption option);

}  // namespace chainerx
