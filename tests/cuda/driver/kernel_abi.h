// The border between compiled kernels, which include it through test_prelude.h, and the test
// driver.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chainerx::cuda::test {

// Kernels see memory of a device at its address plus this distance. At the address itself nothing
// is accessible, so that host code which dereferences a pointer of the device crashes at once.
inline constexpr std::size_t kKernelView = std::size_t{1} << 36;

struct Index3 {
    unsigned x = 1, y = 1, z = 1;
};

// What a running kernel asks for most; each thread of a stream has one.
struct Current {
    Index3 thread, block, block_size, grid;
    bool begun = false;  // CX_BEGIN was executed
};

// CX_KERNEL_OF exports one, named cx_kernel_ and the name of the kernel.
struct Kernel {
    void (*run)(const void* params);
    std::size_t params_size;
    unsigned max_threads;
};

enum class WarpOp : int {
    kSync,
    kBallot,
    kMatchAny,
    kShuffle,
    kShuffleUp,
    kShuffleDown,
    kShuffleXor
};

}  // namespace chainerx::cuda::test

#pragma GCC visibility push(default)
extern "C" {
extern __thread chainerx::cuda::test::Current* cx_current
    __attribute__((tls_model("initial-exec")));

// Returns how many threads gave a value other than 0 and, shifted by 32 bits, how many arrived.
std::uint64_t cx_barrier(int value, unsigned line);
// The last lane that arrives computes the results of all. kBallot returns the ballot and, shifted
// by 32 bits, the lanes that arrived.
std::uint64_t cx_warp(chainerx::cuda::test::WarpOp op, unsigned mask, std::uint64_t value,
                      unsigned argument, unsigned width, unsigned line);
// The shared memory of the current block that belongs to a place in the source.
void* cx_shared(const void* place, std::size_t nbytes, std::size_t alignment);
void* cx_dynamic_shared();
}
#pragma GCC visibility pop
