// Stacks that one operating-system thread switches among.
#pragma once

#include <cstddef>
#include <cstdint>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace chainerx::cuda::test {

class Fiber {
 public:
    // The stack that runs now.
    Fiber() = default;
    // A stack of its own, above a page that is inaccessible.
    explicit Fiber(void (*main)());
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Begins anew, and forgets what is on the stack.
    void Restart();
    // Suspends the fiber `from`, which runs now.
    static void Switch(Fiber& from, Fiber& to);
    // Is it on the stack, or in the inaccessible page below it?
    bool Holds(const void* p) const;

    unsigned thread = 0;       // of the block
    std::uint64_t result = 0;  // what the barrier that it waited at returns

 private:
    char* stack_ = nullptr;
    void (*main_)() = nullptr;
#if defined(__x86_64__)
    void* top_ = nullptr;  // the stack pointer while it is suspended
#else
    ucontext_t state_;
#endif
};

}  // namespace chainerx::cuda::test
