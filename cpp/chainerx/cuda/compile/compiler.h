// Compiles device sources.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chainerx::cuda {

struct DeviceSource {
    std::string kernel;  // the name of its kernel, and of the source in messages
    std::string text;
    // Of texts that users wrote: their options.
    std::optional<std::vector<std::string>> custom{};
};

// The sources of this library that this process has asked for so far.
std::vector<DeviceSource> GetCompiledSources();

// Returns machine code for compute capability `arch` (90 is 9.0), from the cache on disk or by
// NVRTC. CompileError, with the text, its line and the compiler's log, if it does not compile.
std::string CompileForArch(const DeviceSource& source, int arch);

}  // namespace chainerx::cuda
