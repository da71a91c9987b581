// Runs of a recording work on the same memory, whichever stream is current in each of them.
#pragma once

#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {
class Stream;
}

namespace chainerx::internal {

class StreamOrder {
 public:
    // Does nothing for devices without streams.
    void Add(Device& device);
    // Memory that each run uses: temporaries, and what was there before the step. It must live as
    // long as this.
    void Add(Buffer& buffer);
    // What is queued from now on to the current streams comes after the run before, and the memory
    // stays for it, that of the arguments, too.
    CX_API void Begin(std::span<const Array> arguments);
    // The same for memory of this run.
    void Use(Buffer& buffer) const;

 private:
    struct Queue {
        Device* device;
        Stream* last;  // of the run before, or on which the memory was allocated
        std::vector<Buffer*> buffers{};
    };
    std::vector<Queue> queues_;
};

}  // namespace chainerx::internal
