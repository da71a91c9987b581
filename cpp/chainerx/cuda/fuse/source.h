// Writes the device sources of fused chains. See cuda/fuse/device/fused.h for what they include.
#pragma once

#include <string>

#include "chainerx/cuda/compile/compiler.h"
#include "chainerx/cuda/fuse/frame.h"
#include "chainerx/cuda/fuse/program.h"

namespace chainerx::cuda {

// Elements that a thread loads and stores at once, by packs of 16 bytes at most: 1 if the chain has
// so many calls, or arrays, that a pack of each would need too many registers.
int FusedWidth(const FusedProgram& program, const FusedFrame& frame);

// Whether all arrays have one element, or adjacent ones: then there are packs, of that width.
bool IsPacked(const FusedFrame& frame);

DeviceSource WriteFusedSource(const std::string& name, const FusedProgram& program,
                              const FusedFrame& frame, int width);

}  // namespace chainerx::cuda
