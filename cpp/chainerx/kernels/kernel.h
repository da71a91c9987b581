// What a kernel is: its descriptor, the table by which a backend offers it, and how to call it.
//
// A kernel computes: no promotion, no broadcasting, no graph, no allocation of outputs. It may
// assume that its operands are on one device and have the shapes and dtypes that its family says.
// The kernels themselves are declared family by family (kernels/<family>.h): who calls or
// implements one includes its family, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/macro.h"

namespace chainerx {

enum class OperandRole : int8_t {
    kIn,       // read
    kOut,      // written, every element; overlaps no other operand
    kOutSame,  // the same, but may be an input itself: each element is read before it is written
    kInOut,    // read and written, or written in part
    kAttr,     // a value of the host
    kHostOut,  // a value returned to the host: whoever calls such a kernel waits for the device
};

enum class OperandKind : int8_t { kArray, kArrayOrScalar, kArrays, kValue };

struct OperandInfo {
    OperandRole role;
    OperandKind kind;
    const char* type;  // in C++, as the row spells it
    const char* name;
};

// The descriptor of a kernel: all that is known of it without its code.
struct KernelInfo {
    const char* name;
    const char* family;
    int id;  // the place in a kernel table
    // Of the name, and of the role and type of each operand. Another one is another contract.
    uint64_t signature_hash;
    const OperandInfo* operand_data;
    int operand_count;

    constexpr std::span<const OperandInfo> operands() const {
        return {operand_data, static_cast<size_t>(operand_count)};
    }
};

// One call, with its operands erased; see kernels/hook.h.
struct KernelCallData {
    const KernelInfo& kernel;
    Device& device;
    const void* const* operands;  // the address of each
    void (*invoke)(KernelFn fn, const void* const* operands);
};

namespace internal {

// Calls the kernel by way of the hooks that are installed. ChainerxError if the device's backend
// has no such kernel.
CX_API CX_COLD void CallHooked(const KernelCallData& call);

// FNV-1a over a text and its end.
constexpr uint64_t HashText(uint64_t h, const char* s) {
    for (; *s != 0; ++s) h = (h ^ static_cast<unsigned char>(*s)) * 0x100000001b3u;
    return (h ^ 0x2f) * 0x100000001b3u;
}

template <typename Fn>
struct KernelCaller;

template <typename... Params>
struct KernelCaller<void(Params...)> {
    // Every call of a kernel goes through here. Where a device has a null there is either no such
    // kernel, or hooks are installed, for which all of the device's kernels are hidden.
    [[gnu::always_inline]] static void Call(const KernelInfo& kernel, Device& device,
                                            Params... args) {
        const KernelFn fn = device.kernels()[kernel.id];
        if (fn == nullptr) [[unlikely]]
            return CallErased(kernel, device, args...);
        reinterpret_cast<void (*)(Params...)>(fn)(args...);
    }

 private:
    CX_COLD static void CallErased(const KernelInfo& kernel, Device& device,
                                   const std::remove_reference_t<Params>&... args) {
        const void* const operands[] = {&args...};
        CallHooked({kernel, device, operands, &Invoke});
    }
    static void Invoke(KernelFn fn, const void* const* operands) {
        [&]<size_t... kI>(std::index_sequence<kI...>) {
            reinterpret_cast<void (*)(Params...)>(fn)(
                *static_cast<const std::remove_reference_t<Params>*>(operands[kI])...);
        }(std::index_sequence_for<Params...>{});
    }
};

}  // namespace internal

// Calls the kernel of `device`; ChainerxError if its backend has none.
template <typename K, typename... Args>
[[gnu::always_inline]] inline void CallOn(Device& device, const Args&... args) {
    internal::KernelCaller<typename K::Fn>::Call(K::kInfo, device, args...);
}

// The same for a kernel that is known at run time only. `Fn` is its function type.
template <typename Fn, typename... Args>
[[gnu::always_inline]] inline void CallKernel(const KernelInfo& kernel, Device& device,
                                              const Args&... args) {
    internal::KernelCaller<Fn>::Call(kernel, device, args...);
}

// Whether a routine that can do without the kernel may call it.
template <typename K>
bool HasKernel(const Device& device) {
    return device.backend()->kernels()[K::kInfo.id] != nullptr;
}

// Every kernel of the library, by id.
CX_API std::span<const KernelInfo* const> GetKernels();

// What a backend computes with: one function per kernel id, null where it has none. A backend
// starts as a copy of its parent's table and overwrites what it does better.
struct KernelTable {
    KernelFn fns[kKernelTableSize]{};

    template <typename K>
    void Set(typename K::Fn* fn) {
        fns[K::kInfo.id] = reinterpret_cast<KernelFn>(fn);
    }
    template <typename K>
    typename K::Fn* Get() const {
        return reinterpret_cast<typename K::Fn*>(fns[K::kInfo.id]);
    }
};

}  // namespace chainerx
