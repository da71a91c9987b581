// Kernel calls that a device keeps, so that one launch repeats them all: for captured steps
// (capture/graph_replay.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "chainerx/core/macro.h"

namespace chainerx {

// The calls, with the addresses that they had.
class CX_API DeviceGraph {
 public:
    virtual ~DeviceGraph() = default;
    // Whether this thread would launch the same kernels now.
    virtual bool IsCurrent() const = 0;
    // Queues all calls to the current stream, after earlier launches of the graph. Throws
    // OutOfMemoryError, with nothing queued, if the device has no memory for it.
    virtual void Launch() = 0;
    // Memory of the device that only this graph uses.
    virtual int64_t nbytes() const = 0;
};

// Devices that can keep calls also derive from this.
class CX_API GraphDevice {
 public:
    struct Copy {
        const void* from;
        void* to;
        int64_t nbytes;
    };
    struct Word {
        void* to;  // a multiple of 8
        uint64_t value;
    };

    virtual ~GraphDevice() = default;
    // Keeps what `calls` queues to the current stream; nothing of it is computed. Throws what
    // `calls` throws, and a ChainerxError if something can't be kept.
    virtual std::unique_ptr<DeviceGraph> RecordGraph(const std::function<void()>& calls) = 0;
    // Queues copies within the device, and writes of words, to the current stream, in as few
    // launches as it can. None of them overlap. The caller keeps the memory for the stream.
    virtual void WriteBlocks(std::span<const Copy> copies, std::span<const Word> words) = 0;
};

}  // namespace chainerx
