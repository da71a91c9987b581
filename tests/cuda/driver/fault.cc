#include "fault.h"

#include <signal.h>

#include <array>
#include <mutex>

#include "engine.h"
#include "errors.h"
#include "memory.h"

namespace chainerx::cuda::test {

namespace {

constexpr std::size_t kFaultStack = 65536;
constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE};
std::array<struct sigaction, kSignals.size()> previous;

std::string Describe(int signal, void* address) {
    if (signal == SIGFPE) return "integer division by zero, or overflow of one";
    // x86 reports neither the address nor the reason of misaligned vectors.
    if (address == nullptr) return "access to null or to misaligned memory";
    if (Engine::Get()->fiber().Holds(address)) return "the stack of a thread is exhausted";
    const Memory& memory = Memory::Get();
    CUdeviceptr p = reinterpret_cast<std::uintptr_t>(address);
    const char* what = memory.IsAddress(p) ? ", of the device, that is not a Ptr<T>" : "";
    if (memory.IsView(p)) {
        p -= kKernelView;
        what = memory.WasFreed(p) ? ", which was freed" : ", outside of all allocations";
    }
    return Format("access at 0x%llx%s", p, what);
}

void Handle(int signal, siginfo_t* info, void* /*context*/) {
    Engine* engine = Engine::Get();
    if (engine != nullptr && engine->running()) engine->Fail(Describe(signal, info->si_addr));
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        // The instruction runs again, and the handler that was there sees it.
        if (kSignals[i] == signal) sigaction(signal, &previous[i], nullptr);
    }
}

}  // namespace

void InstallFaultHandlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action = {};
        action.sa_sigaction = &Handle;
        // The handler does not return, so the signal must not stay blocked.
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (std::size_t i = 0; i < kSignals.size(); ++i) {
            sigaction(kSignals[i], &action, &previous[i]);
        }
    });
}

FaultStack::FaultStack() : memory_{new char[kFaultStack]} {
    stack_t stack = {};
    stack.ss_sp = memory_.get();
    stack.ss_size = kFaultStack;
    sigaltstack(&stack, nullptr);
}

FaultStack::~FaultStack() {
    stack_t stack = {};
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
}

}  // namespace chainerx::cuda::test
