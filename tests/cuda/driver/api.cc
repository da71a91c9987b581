#include "api.h"

#include <pthread.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>

#include "engine.h"
#include "fault.h"
#include "memory.h"
#include "settings.h"
#include "test_api.h"

namespace chainerx::cuda::test {

namespace {

struct Entry {
    const char* symbol;
    void* function;
};
// That this links proves that every function is defined.
const auto kEntries = std::to_array<Entry>({
#define CX_DRIVER(name, symbol, params) {#symbol, reinterpret_cast<void*>(&symbol)},
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
});

struct Plan {
    long remaining;
    bool always;  // fails from then on
    CUresult error;
};

std::atomic<bool> initialized{false}, forked{false}, planned{false};
std::mutex plan_mutex;
std::map<std::string, Plan, std::less<>>& Plans() {
    static auto* const plans = new std::map<std::string, Plan, std::less<>>;
    return *plans;
}
std::atomic<std::uint64_t> calls[std::tuple_size_v<decltype(kEntries)>];
thread_local CUcontext current = nullptr;

CUresult DefaultError(std::string_view symbol) {
    if (symbol.find("Alloc") != symbol.npos || symbol == "cuMemCreate")
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (symbol.find("Launch") != symbol.npos) return CUDA_ERROR_LAUNCH_FAILED;
    return CUDA_ERROR_UNKNOWN;
}

void FailIfPlanned(Api api) {
    const std::lock_guard lock{plan_mutex};
    const auto it = Plans().find(kEntries[static_cast<std::size_t>(api)].symbol);
    if (it == Plans().end() || --it->second.remaining > 0) return;
    const CUresult error = it->second.error;
    if (!it->second.always) Plans().erase(it);
    throw error;
}

}  // namespace

void Enter(Api api) {
    if (forked) throw CUDA_ERROR_NOT_INITIALIZED;
    if (api != Api::cuInit) RequireInitialized();
    if (Engine::Get() != nullptr) throw CUDA_ERROR_NOT_PERMITTED;
    if (!GetSettings().empty)
        calls[static_cast<std::size_t>(api)].fetch_add(1, std::memory_order_relaxed);
    if (planned) FailIfPlanned(api);
}

void RequireInitialized() {
    if (!initialized) throw CUDA_ERROR_NOT_INITIALIZED;
}

CUcontext& CurrentContextHandle() { return current; }

CUctx_st& CurrentContext() {
    if (current == nullptr) throw CUDA_ERROR_INVALID_CONTEXT;
    if (current->uses == 0) throw CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (current->error != CUDA_SUCCESS) throw current->error.load();
    return *current;
}

CUctx_st& PrimaryContext(CUdevice device) {
    static auto* const contexts = new std::array<CUctx_st, 8>;
    Require(device >= 0 && device < GetSettings().devices, CUDA_ERROR_INVALID_DEVICE);
    CUctx_st& context = (*contexts)[static_cast<std::size_t>(device)];
    context.device = device;
    return context;
}

}  // namespace chainerx::cuda::test

namespace chainerx::cuda {

CUresult cuInit(unsigned flags) {
    return test::Call(test::Api::cuInit, [&] {
        test::Require(flags == 0);
        test::Require(test::GetSettings().devices > 0, CUDA_ERROR_NO_DEVICE);
        static std::once_flag once;
        std::call_once(once, [] {
            pthread_atfork(nullptr, nullptr, [] { test::forked = true; });
            test::InstallFaultHandlers();
            test::Memory::Get();
            if (const char* text = std::getenv("CHAINERX_CUDA_TEST_FAIL")) cx_test_fail(text);
        });
        test::initialized = true;
    });
}

}  // namespace chainerx::cuda

using namespace chainerx::cuda;

void cx_test_fail(const char* text) {
    const std::lock_guard lock{test::plan_mutex};
    test::Plans().clear();
    std::stringstream items{text == nullptr ? "" : text};
    for (std::string item; std::getline(items, item, ',');) {
        std::string symbol, number, error;
        std::stringstream parts{item};
        std::getline(parts, symbol, ':');
        std::getline(parts, number, ':');
        std::getline(parts, error, ':');
        test::Plans()[symbol] = {std::max(std::atol(number.c_str()), 1L), number.ends_with('+'),
                                 error.empty() ? test::DefaultError(symbol)
                                               : static_cast<CUresult>(std::atoi(error.c_str()))};
    }
    test::planned = !test::Plans().empty();
}

unsigned long long cx_test_calls(const char* symbol) {
    for (std::size_t i = 0; i < test::kEntries.size(); ++i) {
        if (std::strcmp(test::kEntries[i].symbol, symbol) == 0) return test::calls[i];
    }
    return ~0ULL;
}

void cx_test_stats(cx_test_statistics* statistics) {
    const test::Memory& memory = test::Memory::Get();
    *statistics = {};
    statistics->live_allocations = memory.Live();
    for (int i = 0; i < 8; ++i) {
        statistics->live_bytes += memory.used(i);
        statistics->peak_bytes += memory.peak(i);
    }
    statistics->pinned_bytes = memory.used(8);
    statistics->launches = test::GetStatistics().launches;
    statistics->copies = test::GetStatistics().copies;
    statistics->longest_queue = test::GetStatistics().longest_queue;
}

void cx_test_reload() { test::ReloadSettings(); }
