// The exported functions: what precedes every call, failures by plan, and the tests' own functions.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <string>
#include <string_view>

#include "api.h"
#include "engine.h"
#include "fault.h"
#include "launch_log.h"
#include "memory.h"
#include "settings.h"
#include "test_api.h"

namespace chainerx::cuda {

namespace {

constexpr auto kSymbols = std::to_array<std::string_view>({
#define CX_DRIVER(name, symbol, params) #symbol,
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
std::map<std::string, Plan, std::less<>> plans;
std::array<std::atomic<std::uint64_t>, kSymbols.size()> call_counts;

void FailIfPlanned(std::string_view symbol) {
    const std::lock_guard lock{plan_mutex};
    const auto it = plans.find(symbol);
    if (it == plans.end() || --it->second.remaining > 0) return;
    const CUresult error = it->second.error;
    if (!it->second.always) plans.erase(it);
    throw error;
}

CUresult PlannedError(std::string_view symbol) {
    if (symbol == "cuMemCreate" || symbol.find("Alloc") != symbol.npos) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return symbol.find("Launch") != symbol.npos ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_UNKNOWN;
}

constexpr bool NeedsInit(std::string_view symbol) {
    return symbol != "cuInit" && symbol != "cuDriverGetVersion";
}

constexpr bool NeedsContext(std::string_view symbol) {
    return NeedsInit(symbol) && !symbol.starts_with("cuDevice") && symbol != "cuCtxSetCurrent" &&
           symbol != "cuCtxGetCurrent";
}

void ReadPlans() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (const char* text = std::getenv("CHAINERX_CUDA_TEST_FAIL")) cx_test_fail(text);
    });
}

template <std::size_t number>
void Enter() {
    constexpr std::string_view symbol = kSymbols[number];
    if (symbol == "cuInit") ReadPlans();
    if (symbol.starts_with("cuGetError")) return;
    Require(!forked, CUDA_ERROR_NOT_INITIALIZED);
    if (NeedsInit(symbol)) Require(initialized, CUDA_ERROR_NOT_INITIALIZED);
    Require(test::Engine::Get() == nullptr, CUDA_ERROR_NOT_PERMITTED);  // from a host function
    if (!test::GetSettings().empty) ++call_counts[number];
    if (planned) FailIfPlanned(symbol);
    if (NeedsContext(symbol)) CurrentContext();
}

template <std::size_t number, auto f>
struct Export;
template <std::size_t number, typename... Args, void (*f)(Args...)>
struct Export<number, f> {
    static CUresult Call(Args... args) {
        try {
            Enter<number>();
            f(args...);
            return CUDA_SUCCESS;
        } catch (CUresult error) {
            return error;
        } catch (const std::bad_alloc&) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
};

enum Number {
#define CX_DRIVER(name, symbol, params) kNumber_##symbol,
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER
};

}  // namespace

// The loader asks a function of each symbol for the address, whose type is checked here.
#define CX_DRIVER(name, symbol, params)                        \
    extern "C" {                                               \
    static CUresult(*cx_resolve_##symbol()) params {           \
        return &Export<kNumber_##symbol, &impl::symbol>::Call; \
    }                                                          \
    [[gnu::visibility("default")]] CUresult symbol params      \
        __attribute__((ifunc("cx_resolve_" #symbol)));         \
    }
#include "chainerx/cuda/driver/driver.def"
#undef CX_DRIVER

CUcontext& CurrentHandle() {
    thread_local CUcontext current = nullptr;
    return current;
}

CUctx_st& CurrentContext() {
    CUcontext current = CurrentHandle();
    Require(current != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    Require(current->uses > 0, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    Require(current->error == CUDA_SUCCESS, current->error);
    return *current;
}

void impl::cuInit(unsigned flags) {
    Require(flags == 0);
    Require(test::GetSettings().devices > 0, CUDA_ERROR_NO_DEVICE);
    static std::once_flag once;
    std::call_once(once, [] {
        pthread_atfork(nullptr, nullptr, [] { forked = true; });
        test::InstallFaultHandlers();
        test::Memory::Get();
    });
    initialized = true;
}

}  // namespace chainerx::cuda

using namespace chainerx::cuda;

void cx_test_fail(const char* text) {
    const std::lock_guard lock{plan_mutex};
    plans.clear();
    std::stringstream items{text == nullptr ? "" : text};
    for (std::string item; std::getline(items, item, ',');) {
        std::string symbol, number, error;
        std::stringstream parts{item};
        std::getline(parts, symbol, ':');
        std::getline(parts, number, ':');
        std::getline(parts, error, ':');
        plans[symbol] = {
            std::max(std::atol(number.c_str()), 1L), number.ends_with('+'),
            error.empty() ? PlannedError(symbol) : static_cast<CUresult>(std::atoi(error.c_str()))};
    }
    planned = !plans.empty();
}

unsigned long long cx_test_calls(const char* symbol) {
    const auto it = std::find(kSymbols.begin(), kSymbols.end(), symbol);
    return it == kSymbols.end() ? ~0ULL : call_counts[it - kSymbols.begin()].load();
}

void cx_test_stats(cx_test_statistics* statistics) {
    const test::Memory& memory = test::Memory::Get();
    *statistics = {memory.Live(), 0};
    for (int i = 0; i < 8; ++i) statistics->live_bytes += memory.used(i);
}

void cx_test_reload() { test::ReloadSettings(); }

int cx_test_enqueue(void* stream, void (*run)(void*), void* data, void (*drop)(void*)) {
    const std::shared_ptr<void> keep{data, drop};
    try {
        CUctx_st& context = CurrentContext();
        test::LogLaunch("call of a library");
        if (test::GetSettings().empty) return CUDA_SUCCESS;
        Enqueue(context.Stream(static_cast<CUstream>(stream)), [keep, run, owner = &context] {
            if (owner->error == CUDA_SUCCESS) run(keep.get());
        });
        return CUDA_SUCCESS;
    } catch (CUresult error) {
        return error;
    }
}

bool cx_test_covers(const void* p, std::uint64_t nbytes) {
    return test::Memory::Get().Covers(reinterpret_cast<CUdeviceptr>(p), nbytes, true);
}
