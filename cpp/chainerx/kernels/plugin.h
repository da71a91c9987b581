// The entry points of a backend in a library of its own.
#pragma once

#include <cstdint>
#include <utility>

#include "chainerx/core/backend.h"
#include "chainerx/core/buffer.h"
#include "chainerx/kernels/all.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::internal {

// FNV-1a over the version, the signatures of all kernels and the sizes that a plug-in compiles in.
inline constexpr uint64_t kAbiHash = [] {
    uint64_t h = HashText(0xcbf29ce484222325u, "chainerx 1");
    [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
        const auto add = [&]<int kNumber>() {
            if constexpr (requires { kernels::FamilyAt<kNumber>::kKernels; }) {
                for (const KernelInfo* k : kernels::FamilyAt<kNumber>::kKernels) {
                    h = (h * 31 + k->signature_hash) * 31 + static_cast<uint64_t>(k->id);
                }
            }
        };
        (add.template operator()<kNumbers>(), ...);
    }(std::make_integer_sequence<int, kMaxKernelFamilies>{});
    h = h * 31 + sizeof(ArrayBody);
    h = h * 31 + sizeof(Buffer);
    h = h * 31 + sizeof(Device);
    h = h * 31 + sizeof(Backend);
    return h;
}();

}  // namespace chainerx::internal

// Once per library. `Type` is constructed from Context&.
#define CX_BACKEND_PLUGIN(Type)                                                             \
    extern "C" CX_API uint64_t ChainerxAbiHash() { return ::chainerx::internal::kAbiHash; } \
    extern "C" CX_API ::chainerx::Backend* CreateBackend(::chainerx::Context& context) {    \
        return new Type{context};                                                           \
    }                                                                                       \
    extern "C" CX_API void DestroyBackend(::chainerx::Backend* backend) { delete backend; }
