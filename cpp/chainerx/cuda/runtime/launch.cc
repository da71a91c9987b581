#include "chainerx/cuda/runtime/launch.h"

#include "chainerx/core/error.h"

namespace chainerx::cuda {

void LaunchErased(CudaStream& stream, CUfunction function, const Grid& grid, const void* params) {
    // Lets a kernel start before the one in front of it has ended: it waits by CX_BEGIN, and the
    // launch takes a third less of the host's time.
    static constexpr auto kOverlap = [] {
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        return attribute;
    }();
    if (grid.blocks > INT32_MAX) [[unlikely]] {
        throw ChainerxError{"cuda: ", grid.blocks, " blocks are more than a launch can have"};
    }
    const CUlaunchConfig config{static_cast<unsigned>(grid.blocks),
                                1,
                                1,
                                static_cast<unsigned>(grid.threads),
                                1,
                                1,
                                static_cast<unsigned>(grid.shared_bytes),
                                stream.handle(),
                                const_cast<CUlaunchAttribute*>(&kOverlap),
                                1};
    void* pointers[] = {const_cast<void*>(params)};
    // The first launch of a kernel may load its code, and make room for its stack.
    static_cast<CudaDevice&>(static_cast<Stream&>(stream).device()).WithRoom([&] {
        CX_CU(LaunchKernelEx, &config, function, pointers, nullptr);
    });
}

}  // namespace chainerx::cuda
