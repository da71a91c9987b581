// The words of device sources (chainerx/cuda/device/language.h) for kernels that run on the CPU.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernel_abi.h"

#define CX_KERNEL_OF(Name, Params, ...) CX_TEST_KERNEL(Name, Params, __VA_ARGS__, 1)
#define CX_TEST_KERNEL(Name, Params, threads, ...)                                               \
    static void Name(const Params& p);                                                           \
    extern "C" {                                                                                 \
    [[gnu::visibility("default")]] ::chainerx::cuda::test::Kernel cx_kernel_##Name = {           \
        [](const void* p) { Name(*static_cast<const Params*>(p)); }, sizeof(Params), (threads)}; \
    }                                                                                            \
    static void Name(const Params& p)
#define CX_SHARED(T, name, n)           \
    static const char name##_place = 0; \
    T(&name)[n] = *static_cast<T(*)[n]>(cx_shared(&name##_place, sizeof(T[n]), alignof(T)))
#define CX_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(cx_dynamic_shared())
#define CX_BEGIN() static_cast<void>(cx_current->begun = true)

#define threadIdx (cx_current->thread)
#define blockIdx (cx_current->block)
#define blockDim (cx_current->block_size)
#define gridDim (cx_current->grid)

namespace chainerx::cuda {

// Holds the address that the host passed; translates it when it is used.
template <typename T>
class Ptr {
 public:
    Ptr() = default;
    constexpr Ptr(std::nullptr_t) : address_{nullptr} {}
    template <typename U>
        requires std::convertible_to<U*, T*>
    constexpr Ptr(Ptr<U> other) : address_{other.address()} {}

    constexpr T* address() const { return address_; }

    operator T*() const { return address_ == nullptr ? nullptr : View(); }
    std::add_lvalue_reference_t<T> operator*() const { return *View(); }
    T* operator->() const { return View(); }
    template <std::integral I>
    std::add_lvalue_reference_t<T> operator[](I i) const {
        return View()[i];
    }
    template <std::integral I>
    Ptr operator+(I n) const {
        return Ptr{address_ + n};
    }
    template <std::integral I>
    Ptr operator-(I n) const {
        return Ptr{address_ - n};
    }
    template <std::integral I>
    Ptr& operator+=(I n) {
        address_ += n;
        return *this;
    }
    Ptr& operator++() { return *this += 1; }
    bool operator==(std::nullptr_t) const { return address_ == nullptr; }

 private:
    explicit constexpr Ptr(T* address) : address_{address} {}
    T* View() const {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address_) + test::kKernelView);
    }

    T* address_;
};
static_assert(sizeof(Ptr<float>) == 8 && std::is_trivially_copyable_v<Ptr<float>>);

}  // namespace chainerx::cuda

// Barriers and warps. Threads that wait together must wait in the same line of the source.

inline void __syncthreads(unsigned line = __builtin_LINE()) { cx_barrier(0, line); }
inline int __syncthreads_count(int value, unsigned line = __builtin_LINE()) {
    return static_cast<int>(cx_barrier(value, line) & 0xffffffffu);
}
inline int __syncthreads_or(int value, unsigned line = __builtin_LINE()) {
    return __syncthreads_count(value, line) != 0;
}

namespace chainerx::cuda::test {

template <typename T>
T Shuffle(WarpOp op, unsigned mask, T value, unsigned argument, int width, unsigned line) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    bits = cx_warp(op, mask, bits, argument, static_cast<unsigned>(width), line);
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace chainerx::cuda::test

#define CX_TEST_SHUFFLE(name, op, Argument)                                                 \
    template <typename T>                                                                   \
    T name(unsigned mask, T value, Argument argument, int width = 32,                       \
           unsigned line = __builtin_LINE()) {                                              \
        using chainerx::cuda::test::WarpOp;                                                 \
        return chainerx::cuda::test::Shuffle(WarpOp::op, mask, value,                       \
                                             static_cast<unsigned>(argument), width, line); \
    }
CX_TEST_SHUFFLE(__shfl_sync, kShuffle, int)
CX_TEST_SHUFFLE(__shfl_up_sync, kShuffleUp, unsigned)
CX_TEST_SHUFFLE(__shfl_down_sync, kShuffleDown, unsigned)
CX_TEST_SHUFFLE(__shfl_xor_sync, kShuffleXor, int)
#undef CX_TEST_SHUFFLE

inline void __syncwarp(unsigned mask = 0xffffffffu, unsigned line = __builtin_LINE()) {
    cx_warp(chainerx::cuda::test::WarpOp::kSync, mask, 0, 0, 32, line);
}
inline unsigned __ballot_sync(unsigned mask, int vote, unsigned line = __builtin_LINE()) {
    return static_cast<unsigned>(
        cx_warp(chainerx::cuda::test::WarpOp::kBallot, mask, vote != 0, 0, 32, line));
}
inline int __any_sync(unsigned mask, int vote, unsigned line = __builtin_LINE()) {
    return __ballot_sync(mask, vote, line) != 0;
}
inline int __all_sync(unsigned mask, int vote, unsigned line = __builtin_LINE()) {
    return __ballot_sync(mask, vote == 0, line) == 0;
}
template <typename T>
unsigned __match_any_sync(unsigned mask, T value, unsigned line = __builtin_LINE()) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return static_cast<unsigned>(
        cx_warp(chainerx::cuda::test::WarpOp::kMatchAny, mask, bits, 0, 32, line));
}
// Nothing promises that more lanes than this one have come here together.
inline unsigned __activemask() {
    const auto& [thread, block, size, grid, begun] = *cx_current;
    return 1u << ((thread.x + size.x * (thread.y + size.y * thread.z)) % 32);
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __threadfence(); }
template <typename P>
auto __ldg(P p) {
    return *p;
}

// Atomics, by compare-and-swap; each returns the old value.

namespace chainerx::cuda::test {

template <typename T, typename F>
T Atomic(T* p, F f) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits old = __atomic_load_n(reinterpret_cast<Bits*>(p), __ATOMIC_RELAXED);
    for (;;) {
        T value;
        std::memcpy(&value, &old, sizeof(T));
        const T replaced = f(value);
        Bits bits;
        std::memcpy(&bits, &replaced, sizeof(T));
        if (__atomic_compare_exchange_n(reinterpret_cast<Bits*>(p), &old, bits, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
            return value;
        }
    }
}

}  // namespace chainerx::cuda::test

#define CX_TEST_ATOMIC(name, expression)                                                \
    template <typename T>                                                               \
    T name(T* p, std::type_identity_t<T> x) {                                           \
        return chainerx::cuda::test::Atomic(p, [&](T old) -> T { return expression; }); \
    }                                                                                   \
    template <typename T>                                                               \
    T name(chainerx::cuda::Ptr<T> p, std::type_identity_t<T> x) {                       \
        return name(&*p, x);                                                            \
    }
CX_TEST_ATOMIC(atomicAdd, old + x)
CX_TEST_ATOMIC(atomicMax, old < x ? x : old)
CX_TEST_ATOMIC(atomicMin, x < old ? x : old)
CX_TEST_ATOMIC(atomicExch, (static_cast<void>(old), x))
CX_TEST_ATOMIC(atomicOr, old | x)
#undef CX_TEST_ATOMIC
template <typename T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> x) {
    return chainerx::cuda::test::Atomic(p, [&](T old) { return old == expected ? x : old; });
}

#include "test_intrinsics.h"
#include "test_raw.h"
