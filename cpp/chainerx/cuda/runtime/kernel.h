// Kernels of device sources, in a table per choice of their template arguments.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "chainerx/core/dtype.h"
#include "chainerx/core/error.h"
#include "chainerx/cuda/compile/compiler.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {

// How device sources call the type of an element (cuda/device/numbers.h).
inline const char* DeviceTypeOf(Dtype dtype) {
#define CX_DEVICE_TYPE(Enum, Type, name, code, kind) #Type,
    static constexpr const char* kTypes[] = {CX_DTYPE_LIST(CX_DEVICE_TYPE)};
#undef CX_DEVICE_TYPE
    return dtype == Dtype::kBool ? "Bool8" : kTypes[static_cast<int>(dtype)];
}

// A template argument: the type of elements that are only moved, by their size.
struct ItemSize {
    int64_t bytes;
};
// One of kCount texts.
template <int kCount>
struct Choice {
    int index;
    const char* text;
};

// Of a template argument: how many there are, its place among them, its text, and its part of a
// kernel's name.
template <typename T>
struct TemplateArgument;
template <>
struct TemplateArgument<Dtype> {
    static constexpr int kCount = kNumDtypes;
    static int IndexOf(Dtype dtype) { return static_cast<int>(dtype); }
    static const char* TextOf(Dtype dtype) { return DeviceTypeOf(dtype); }
    static std::string NameOf(Dtype dtype) { return GetDtypeName(dtype); }
};
template <>
struct TemplateArgument<ItemSize> {
    static constexpr int kCount = 5;
    static int IndexOf(ItemSize size) {
        return std::countr_zero(static_cast<uint64_t>(size.bytes));
    }
    static const char* TextOf(ItemSize size) {
        static constexpr const char* kTypes[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t",
                                                 "Bytes16"};
        return kTypes[IndexOf(size)];
    }
    static std::string NameOf(ItemSize size) { return std::to_string(size.bytes); }
};
template <int kChoices>
struct TemplateArgument<Choice<kChoices>> {
    static constexpr int kCount = kChoices;
    static int IndexOf(Choice<kChoices> choice) { return choice.index; }
    static const char* TextOf(Choice<kChoices> choice) { return choice.text; }
    static std::string NameOf(Choice<kChoices> choice) { return choice.text; }
};

// The kernel `name` runs `call`, such as "Take<float>(p);", of a header of cuda/<room>/device.
// `bounds`: the threads of a block, and how many blocks fit at least (CX_KERNEL_OF); without the
// second ptxas spills a few bytes of many kernels.
DeviceSource MakeSource(std::string name, const char* header, const char* params,
                        const std::string& call, const char* bounds = "256, 1");

// `function` is a call without its parameter, in which T, U and V stand for the template arguments
// that a launch chooses: their texts and their names are given.
DeviceSource MakeSource(const char* function, const char* header, const char* params,
                        const char* bounds, std::initializer_list<const char*> texts,
                        std::initializer_list<std::string> names);

// Kernels that call a function template of a header of cuda/<room>/device, such as "Take<T, U>": a
// launch chooses the arguments T and U. They are compiled and loaded on their first use.
template <typename Params, typename... Arguments>
struct Kernel {
    const char* header;
    const char* params;  // the name of the type
    const char* function;
    const char* bounds{"256, 1"};

    CUfunction Get(CudaDevice& device, const Arguments&... arguments) const {
        int index = 0;
        ((index = index * TemplateArgument<Arguments>::kCount +
                  TemplateArgument<Arguments>::IndexOf(arguments)),
         ...);
        return functions.Get(device, 0, index, [&] {
            return MakeSource(function, header, params, bounds,
                              {TemplateArgument<Arguments>::TextOf(arguments)...},
                              {TemplateArgument<Arguments>::NameOf(arguments)...});
        });
    }

    // On the current stream; without blocks, there is nothing to do.
    void Launch(CudaDevice& device, const Grid& grid, const Params& p,
                const Arguments&... arguments) const {
        if (grid.blocks == 0) return;
        cuda::Launch(device.current_stream(), Get(device, arguments...), grid, p);
    }

    FunctionTable<1, (1 * ... * TemplateArgument<Arguments>::kCount)> functions{};
};

}  // namespace chainerx::cuda

// Defines kernels: of header(cuda/<room>/device/...), of a Params, by a function; the template
// arguments that launches choose follow.
#define CX_DEVICE_KERNEL(variable, header, Params, function, ...)                         \
    constinit const ::chainerx::cuda::Kernel<Params __VA_OPT__(, ) __VA_ARGS__> variable{ \
        header, #Params, function};
