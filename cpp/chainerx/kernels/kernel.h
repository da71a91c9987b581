// The list of kernels, their signatures, and how to call one.
//
// A kernel computes: no promotion, no broadcasting, no graph, no allocation of outputs. It may
// assume that its operands are on one device and have the shapes and dtypes that its family says.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/device.h"
#include "chainerx/core/error.h"

namespace chainerx {

// kernels/update.h, which only those see that update parameters.
enum class UpdateRule : int;
struct UpdateItem;

namespace kernels {

enum class Id : int {
#define CX_KERNEL(Name, ...) k##Name,
#include "chainerx/kernels/all.def"
#undef CX_KERNEL
    kCount
};

inline constexpr int kCount = static_cast<int>(Id::kCount);

// kernels::Matmul::Fn is the function type, kernels::Matmul::kId the place in the table.
#define CX_KERNEL(Name, ...)                                      \
    struct Name {                                                 \
        using Fn = void __VA_ARGS__;                              \
        static constexpr int kId = static_cast<int>(Id::k##Name); \
        static constexpr const char* kName = #Name;               \
    };
#include "chainerx/kernels/all.def"
#undef CX_KERNEL

}  // namespace kernels

// What a backend computes with: one function per kernel id, null where it has none. A backend
// starts as a copy of its parent's table and overwrites what it does better.
struct KernelTable {
    KernelFn fns[kernels::kCount]{};

    template <typename K>
    void Set(typename K::Fn* fn) {
        fns[K::kId] = reinterpret_cast<KernelFn>(fn);
    }
    template <typename K>
    typename K::Fn* Get() const {
        return reinterpret_cast<typename K::Fn*>(fns[K::kId]);
    }
};

namespace internal {

[[noreturn]] CX_API CX_COLD void ThrowNoKernel(const char* kernel, const Device& device);

// FNV-1a over the version, the kernel names and the sizes that a plug-in has compiled in.
constexpr uint64_t HashText(uint64_t h, const char* s) {
    for (; *s != 0; ++s) h = (h ^ static_cast<unsigned char>(*s)) * 0x100000001b3u;
    return (h ^ 0x2f) * 0x100000001b3u;
}

inline constexpr uint64_t kAbiHash = [] {
    uint64_t h = 0xcbf29ce484222325u;
    h = HashText(h, "chainerx 1");
#define CX_KERNEL(Name, ...) h = HashText(h, #Name #__VA_ARGS__);
#include "chainerx/kernels/all.def"
#undef CX_KERNEL
    h = h * 31 + sizeof(ArrayBody);
    h = h * 31 + sizeof(Buffer);
    h = h * 31 + sizeof(Device);
    h = h * 31 + sizeof(Backend);
    return h;
}();

}  // namespace internal

// Calls the kernel of `device`; ChainerxError if its backend has none.
template <typename K, typename... Args>
inline void CallOn(Device& device, const Args&... args) {
    const KernelFn fn = device.kernels()[K::kId];
    if (fn == nullptr) [[unlikely]]
        internal::ThrowNoKernel(K::kName, device);
    reinterpret_cast<typename K::Fn*>(fn)(args...);
}

}  // namespace chainerx

// The entry points of a plug-in, once per library. `Type` is constructed from Context&.
#define CX_BACKEND_PLUGIN(Type)                                                             \
    extern "C" CX_API uint64_t ChainerxAbiHash() { return ::chainerx::internal::kAbiHash; } \
    extern "C" CX_API ::chainerx::Backend* CreateBackend(::chainerx::Context& context) {    \
        return new Type{context};                                                           \
    }                                                                                       \
    extern "C" CX_API void DestroyBackend(::chainerx::Backend* backend) { delete backend; }
