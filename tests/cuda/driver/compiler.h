// Runs the host's C++ compiler on device sources.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chainerx::cuda::test {

struct Source {
    std::string name, text;
    std::vector<std::pair<std::string, std::string>> headers;  // name, text
};

// Returns the bytes of a shared object; equal input gives equal bytes. Messages go to the log.
std::optional<std::string> CompileShared(const Source& source,
                                         const std::vector<std::string>& options, std::string& log);

// Writes it and its headers to $CHAINERX_CUDA_TEST_SOURCES, for tools/check_cuda_kernels.py; a
// source without headers is a test's own.
void KeepSource(const Source& source, const std::string& options);

// Precompiles test_prelude.h beside this library, with access hooks and without.
bool PrecompilePreludes();

}  // namespace chainerx::cuda::test
