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
};

enum class OperandKind : int8_t { kArray, kArrayOrScalar, kArrays, kValue };

struct OperandInfo {
    OperandRole role;
    OperandKind kind;
    const char* type;  // in C++, as the row spells it
    const char* name;
    // Of a value: its size, and how to copy it to uninitialized memory aligned for any type. It is
    // not destroyed there.
    size_t size{0};
    void (*copy)(void* to, const void* from){nullptr};
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

// The library's own descriptor of a kernel that has the name and the signature of `built`; null if
// there is none.
CX_API const KernelInfo* FindKernel(const KernelInfo& built);
// ChainerxError instead of null.
CX_API CX_COLD const KernelInfo& FindKernelOrThrow(const KernelInfo& built);

// That a library or program calls or implements a kernel, as it was built.
struct KernelUse {
    const KernelInfo* built;
    const KernelInfo* found;
    const KernelUse* next;
};

#ifdef CHAINERX_BUILDING
template <typename K>
constexpr const KernelInfo& InfoOf() {
    return K::kInfo;
}
#else
// Outside of the library no ids are compiled in: it may be another version of it that is loaded.
#pragma GCC visibility push(hidden)
inline const KernelUse* g_kernel_uses = nullptr;  // those of this library or program

struct ListedUse : KernelUse {
    explicit ListedUse(const KernelInfo& built)
        : KernelUse{&built, FindKernel(built), g_kernel_uses} {
        g_kernel_uses = this;
    }
};

// Made when it is loaded.
template <typename K>
struct UseOf {
    static inline const ListedUse use{K::kInfo};
};

template <typename K>
const KernelInfo& InfoOf() {
    const KernelInfo* found = UseOf<K>::use.found;  // null as well while statics are being made
    return found != nullptr ? *found : FindKernelOrThrow(K::kInfo);
}
#pragma GCC visibility pop
#endif

}  // namespace internal

// Calls the kernel of `device`; ChainerxError if its backend has none.
template <typename K, typename... Args>
[[gnu::always_inline]] inline void CallOn(Device& device, const Args&... args) {
    internal::KernelCaller<typename K::Fn>::Call(internal::InfoOf<K>(), device, args...);
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
    return device.backend()->kernels()[internal::InfoOf<K>().id] != nullptr;
}

// Every kernel of the library, by id.
CX_API std::span<const KernelInfo* const> GetKernels();

// What a backend computes with: one function per kernel id, null where it has none. A backend
// starts as a copy of its parent's table and overwrites what it does better.
struct KernelTable {
    KernelFn fns[kKernelTableSize]{};

    template <typename K>
    void Set(typename K::Fn* fn) {
        fns[internal::InfoOf<K>().id] = reinterpret_cast<KernelFn>(fn);
    }
    template <typename K>
    typename K::Fn* Get() const {
        return reinterpret_cast<typename K::Fn*>(fns[internal::InfoOf<K>().id]);
    }
};

}  // namespace chainerx
