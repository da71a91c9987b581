// Kernels: their descriptor, the table by which a backend offers them, and the way to call them.
//
// A kernel only computes: no promotion, no broadcasting, no graph, no allocation of outputs. It may
// assume that its operands are on one device and have the shapes and dtypes that its family
// specifies. Kernels are declared family by family (kernels/<room>/<family>.h): callers and
// implementations include the family, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/device.h"
#include "chainerx/core/macro.h"

namespace chainerx {

enum class OperandRole : int8_t {
    kIn,       // read
    kOut,      // written, every element; must not overlap other operands
    kOutSame,  // the same, but it may be an input itself: each element is read before it is written
    kInOut,    // read and written, or partially written
    kAttr,     // a host value
};

enum class OperandKind : int8_t { kArray, kArrayOrScalar, kArrays, kValue };

struct OperandInfo {
    OperandRole role;
    OperandKind kind;
    const char* type;  // in C++, as spelled in the row
    const char* name;
    // For values: the size, a function that copies to uninitialized memory aligned for any type,
    // and one that compares. The copy is not destroyed.
    size_t size{0};
    void (*copy)(void* to, const void* from){nullptr};
    bool (*is_equal)(const void* a, const void* b){nullptr};
    std::string (*to_string)(const void* value){nullptr};
};

// The descriptor of a kernel: everything about it but its code.
struct KernelInfo {
    const char* name;
    const char* family;
    int id;  // index in a kernel table
    // Hashes the name, and the role and type of each operand. A different hash is a different
    // contract.
    uint64_t signature_hash;
    const OperandInfo* operand_data;
    int operand_count;

    constexpr std::span<const OperandInfo> operands() const {
        return {operand_data, static_cast<size_t>(operand_count)};
    }
};

// A type-erased call; see kernels/hook.h.
struct KernelCallData {
    const KernelInfo& kernel;
    Device& device;
    const void* const* operands;  // addresses
    void (*invoke)(KernelFn fn, const void* const* operands);
};

namespace internal {

// Calls the kernel through the installed hooks. Throws ChainerxError if the device's backend has no
// such kernel.
CX_API CX_COLD void CallHooked(const KernelCallData& call);

// FNV-1a over a string and its terminator.
constexpr uint64_t HashText(uint64_t h, const char* s) {
    for (; *s != 0; ++s) h = (h ^ static_cast<unsigned char>(*s)) * 0x100000001b3u;
    return (h ^ 0x2f) * 0x100000001b3u;
}

template <typename Fn>
struct KernelCaller;

template <typename... Params>
struct KernelCaller<void(Params...)> {
    // All kernel calls go through here. A null entry means either that there is no such kernel, or
    // that hooks are installed, for which all kernels of the device are hidden.
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

// Returns the library's own descriptor of the kernel with the name and the signature of `built`, or
// null.
CX_API const KernelInfo* FindKernel(const KernelInfo& built);
// Throws ChainerxError instead of returning null.
CX_API CX_COLD const KernelInfo& FindKernelOrThrow(const KernelInfo& built);

// Registers that a library or program calls or implements a kernel, as of its build.
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
// Other binaries compile in no ids, since a different version of the library may be loaded.
#pragma GCC visibility push(hidden)
inline const KernelUse* g_kernel_uses = nullptr;  // of this library or program

struct ListedUse : KernelUse {
    explicit ListedUse(const KernelInfo& built)
        : KernelUse{&built, FindKernel(built), g_kernel_uses} {
        g_kernel_uses = this;
    }
};

// Constructed when the binary is loaded.
template <typename K>
struct UseOf {
    static inline const ListedUse use{K::kInfo};
};

template <typename K>
const KernelInfo& InfoOf() {
    const KernelInfo* found = UseOf<K>::use.found;  // also null during static initialization
    return found != nullptr ? *found : FindKernelOrThrow(K::kInfo);
}
#pragma GCC visibility pop
#endif

}  // namespace internal

// Calls the kernel of `device`. Throws ChainerxError if its backend has none.
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

// Whether a routine with a fallback may call the kernel.
template <typename K>
bool HasKernel(const Device& device) {
    return device.backend()->kernels()[internal::InfoOf<K>().id] != nullptr;
}

// Every kernel of the library, by id.
CX_API std::span<const KernelInfo* const> GetKernels();

// The kernels of a backend: one function per kernel id, null if it has none. A backend starts with
// a copy of its parent's table and overrides entries.
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
