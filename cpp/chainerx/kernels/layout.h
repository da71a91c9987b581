// The ABI of the library's classes that is compiled into a plug-in: offsets of members and slots of
// virtual functions. For kernels/plugin.h, and for the library, which compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <typeinfo>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/buffer.h"
#include "chainerx/core/device.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/stream_pool.h"
#include "chainerx/kernels/kernel.h"

// offsetof on classes without standard layout: all supported compilers implement it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace chainerx {

struct LayoutInfo {
    const char* name;
    uint64_t hash;
};

namespace internal {

struct LayoutHash {
    uint64_t h = 0xcbf29ce484222325u;

    template <typename T>
    static LayoutHash Of() {
        LayoutHash hash;
        hash.Add(sizeof(T));
        hash.Add(alignof(T));
        return hash;
    }
    void Add(uint64_t v) { h = (h ^ v) * 0x100000001b3u; }
    template <typename T>
    LayoutHash& Data(size_t offset) {
        Add(offset);
        h = HashText(h, typeid(T).name());
        return *this;
    }
    // The vtable slot of a virtual function, as its member pointer encodes it.
    LayoutHash& Virtual(auto f) {
        uint64_t words[sizeof(f) / sizeof(uint64_t)];
        std::memcpy(words, &f, sizeof(words));
        Add(words[0]);
        h = HashText(h, typeid(f).name());
        return *this;
    }
};

// The same source on both sides; each compiles it against its own headers.
struct LayoutAccess {
#define CX_DATA(member) Data<decltype(T::member)>(offsetof(T, member))
    [[gnu::visibility("hidden")]] static std::span<const LayoutInfo> All() {
        static constinit Lazy<const std::vector<LayoutInfo>> all;
        return all.Get([] {
            return new std::vector<LayoutInfo>{
                {"Buffer", OfBuffer()},
                {"Device", OfDevice()},
                {"Backend", OfBackend()},
                {"Stream", OfStream()},
                {"StreamPool", OfStreamPool()},
                {"ArrayBody", OfArrayBody()},
                {"Array", LayoutHash::Of<Array>().h},
                {"ConstArrayRef", LayoutHash::Of<ConstArrayRef>().h},
                {"Operand", LayoutHash::Of<Operand>().h},
                {"Scalar", LayoutHash::Of<Scalar>().h},
                {"Shape", LayoutHash::Of<Shape>().h},
                {"Axes", LayoutHash::Of<Axes>().h},
                {"Dtype", LayoutHash::Of<Dtype>().h + kNumDtypes},
                {"KernelInfo", OfKernelInfo()},
                {"KernelCallData", OfKernelCallData()},
                {"KernelTable", LayoutHash::Of<KernelTable>().h},
                {"KernelError", OfKernelError()},
            };
        });
    }

 private:
    static uint64_t OfBuffer() {
        using T = Buffer;
        return LayoutHash::Of<T>()
            .CX_DATA(foreign_)
            .CX_DATA(writable_)
            .CX_DATA(refs_)
            .CX_DATA(version_)
            .CX_DATA(device_)
            .CX_DATA(data_)
            .CX_DATA(nbytes_)
            .CX_DATA(deleter_)
            .h;
    }
    static uint64_t OfDevice() {
        using T = Device;
        return LayoutHash::Of<T>()
            .CX_DATA(backend_)
            .CX_DATA(context_)
            .CX_DATA(kernels_)
            .CX_DATA(index_)
            .CX_DATA(default_stream_)
            .CX_DATA(reports_)
            .CX_DATA(name_)
            .Virtual(&T::NewStream)
            .Virtual(&T::Allocate)
            .Virtual(&T::ReadMemoryStats)
            .Virtual(&T::ResetMemoryPeaks)
            .Virtual(&T::IsHostAccessible)
            .Virtual(&T::CopyFromHost)
            .Virtual(&T::CopyFromPeer)
            .Virtual(&T::ReadToHost)
            .Virtual(&T::Wait)
            .h;
    }
    static uint64_t OfBackend() {
        using T = Backend;
        return LayoutHash::Of<T>()
            .CX_DATA(name_)
            .CX_DATA(kernels_)
            .Virtual(&T::Launch)
            .Virtual(&T::GetDeviceCount)
            .Virtual(&T::CreateDevice)
            .Virtual(&T::OnRetired)
            .h;
    }
    static uint64_t OfStream() {
        using T = Stream;
        return LayoutHash::Of<T>()
            .Virtual(&T::Mark)
            .Virtual(&T::IsDone)
            .Virtual(&T::Wait)
            .Virtual(&T::WaitFor)
            .h;
    }
    static uint64_t OfStreamPool() {
        using T = StreamPool;
        return LayoutHash::Of<T>()
            .Virtual(&T::AllocateBlock)
            .Virtual(&T::FreeBlock)
            .Virtual(&T::ReadFreeBytes)
            .h;
    }
    static uint64_t OfArrayBody() {
        using T = ArrayBody;
        return LayoutHash::Of<T>()
            .CX_DATA(counts)
            .CX_DATA(dtype)
            .CX_DATA(contiguous)
            .CX_DATA(read_only)
            .CX_DATA(slot)
            .CX_DATA(python)
            .CX_DATA(device)
            .CX_DATA(buffer)
            .CX_DATA(data)
            .CX_DATA(size)
            .CX_DATA(shape)
            .CX_DATA(strides)
            .h;
    }
    static uint64_t OfKernelInfo() {
        uint64_t h = LayoutHash::Of<KernelInfo>().h;
        {
            using T = KernelInfo;
            h += LayoutHash::Of<T>().CX_DATA(name).CX_DATA(id).CX_DATA(signature_hash).h;
        }
        using T = OperandInfo;
        return h + LayoutHash::Of<T>()
                       .CX_DATA(role)
                       .CX_DATA(kind)
                       .CX_DATA(type)
                       .CX_DATA(name)
                       .CX_DATA(size)
                       .CX_DATA(copy)
                       .CX_DATA(is_equal)
                       .CX_DATA(to_string)
                       .h;
    }
    static uint64_t OfKernelCallData() {
        using T = KernelCallData;
        return LayoutHash::Of<T>().CX_DATA(operands).CX_DATA(invoke).h;
    }
    static uint64_t OfKernelError() {
        using T = KernelError;
        return LayoutHash::Of<T>()
            .CX_DATA(kind)
            .CX_DATA(op)
            .CX_DATA(position)
            .CX_DATA(value)
            .CX_DATA(bound)
            .CX_DATA(thread)
            .h;
    }
#undef CX_DATA
};

}  // namespace internal
}  // namespace chainerx

#pragma GCC diagnostic pop
