// The words of kernels that are CUDA C++ as it is (raw_kernels.h); test_prelude.h includes it.
#pragma once

#include <tuple>
#include <utility>

#define __global__
#define __constant__ static
#define __launch_bounds__(...)

#define CX_TEST_SHARED(T, name)         \
    static const char name##_place = 0; \
    T& name = *static_cast<T*>(cx_shared(&name##_place, sizeof(T), alignof(T)))
#define CX_TEST_RAW_KERNEL(Name)                                                       \
    extern "C" {                                                                       \
    [[gnu::visibility("default")]] ::chainerx::cuda::test::Kernel cx_kernel_##Name = { \
        [](const void* p) { ::chainerx::cuda::test::CallPacked(&Name, p); },           \
        ::chainerx::cuda::test::PackedSize(&Name), 1024};                              \
    }

namespace chainerx::cuda::test {

// Moves an offset to where a parameter lies, as in a struct.
template <typename T>
constexpr std::size_t Align(std::size_t offset) {
    return (offset + alignof(T) - 1) / alignof(T) * alignof(T);
}
template <typename... A>
constexpr std::size_t PackedSize(void (*)(A...)) {
    std::size_t offset = 0;
    ((offset = Align<A>(offset) + sizeof(A)), ...);
    return offset;
}

template <typename T>
T ReadParam(const char* params, std::size_t& offset) {
    offset = Align<T>(offset);
    T value;
    std::memcpy(&value, params + offset, sizeof(T));
    offset += sizeof(T);
    if constexpr (std::is_pointer_v<T>) {
        if (value == nullptr) return value;
        value = reinterpret_cast<T>(reinterpret_cast<std::uintptr_t>(value) + kKernelView);
    }
    return value;
}
template <typename... A>
void CallPacked(void (*kernel)(A...), const void* params) {
    std::size_t offset = 0;
    // Braces, for their order is that of the text.
    const std::tuple<std::remove_const_t<A>...> values{
        ReadParam<std::remove_const_t<A>>(static_cast<const char*>(params), offset)...};
    std::apply(kernel, values);
}

}  // namespace chainerx::cuda::test
