#include "fiber.h"

#include <sys/mman.h>

#include <new>

namespace {

constexpr std::size_t kGuardPage = 65536;  // a multiple of any page size in use
constexpr std::size_t kStack = 131072;

}  // namespace

#if defined(__x86_64__)
extern "C" void cx_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
.text
.globl cx_switch
.hidden cx_switch
.type cx_switch, @function
cx_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size cx_switch, .-cx_switch
)");
#endif

namespace chainerx::cuda::test {

Fiber::Fiber(void (*main)()) : main_{main} {
    void* p = mmap(nullptr, kGuardPage + kStack, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc{};
    stack_ = static_cast<char*>(p);
    mprotect(stack_, kGuardPage, PROT_NONE);
    Restart();
}

Fiber::~Fiber() {
    if (stack_ != nullptr) munmap(stack_, kGuardPage + kStack);
}

bool Fiber::Holds(const void* p) const {
    return stack_ != nullptr && p >= stack_ && p < stack_ + kGuardPage + kStack;
}

#if defined(__x86_64__)

void Fiber::Restart() {
    auto* words = reinterpret_cast<void**>(stack_ + kGuardPage + kStack);
    // Six registers, where to return to, and a word as if `main` had been called.
    words -= 8;
    words[6] = reinterpret_cast<void*>(main_);
    top_ = words;
}

void Fiber::Switch(Fiber& from, Fiber& to) { cx_switch(&from.top_, to.top_); }

#else

void Fiber::Restart() {
    getcontext(&state_);
    state_.uc_stack.ss_sp = stack_ + kGuardPage;
    state_.uc_stack.ss_size = kStack;
    state_.uc_link = nullptr;
    makecontext(&state_, main_, 0);
}

void Fiber::Switch(Fiber& from, Fiber& to) { swapcontext(&from.state_, &to.state_); }

#endif

}  // namespace chainerx::cuda::test
