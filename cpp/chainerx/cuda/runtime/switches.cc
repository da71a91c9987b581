#include "chainerx/cuda/runtime/switches.h"

#include <string_view>

namespace chainerx::cuda {
namespace {

constinit Switches g_switches;

struct Row {
    const char* name;
    std::atomic<bool>* value;
};

// Names as in Python, after "allow_".
constexpr Row kRows[] = {
    {"tf32", &g_switches.tf32},
    {"reduced_precision", &g_switches.reduced_precision},
};

}  // namespace

Switches& GetSwitches() { return g_switches; }

}  // namespace chainerx::cuda

// Returns what was allowed; 1 and 0 as `allowed` change that. -1 if there is no such switch.
extern "C" CX_API int ChainerxCudaAllow(const char* name, int allowed) {
    for (const chainerx::cuda::Row& row : chainerx::cuda::kRows) {
        if (std::string_view{row.name} != name) continue;
        return allowed < 0 ? row.value->load() : row.value->exchange(allowed != 0);
    }
    return -1;
}

// Returns the bytes that a convolution might use for work; negative ones change nothing.
extern "C" CX_API int64_t ChainerxCudaMaxWorkspace(int64_t bytes) {
    std::atomic<int64_t>& most = chainerx::cuda::GetSwitches().max_workspace;
    return bytes < 0 ? most.load() : most.exchange(bytes);
}
