// Queues of devices with asynchronous kernels.
#pragma once

#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

class Device;

// Work in one stream runs in the order in which it was queued; between two streams only WaitFor
// defines an order. A stream belongs to its device and lives as long: others may keep pointers to
// it.
class CX_API Stream {
 public:
    // A position in a stream; tickets of one stream increase.
    using Ticket = uint64_t;

    explicit Stream(Device& device) : device_{device} {}
    virtual ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    Device& device() const { return device_; }

    // Returns a ticket for all work that has been queued so far.
    virtual Ticket Mark() noexcept = 0;
    virtual bool IsDone(Ticket ticket) noexcept = 0;
    // Makes the host wait. It does not throw errors of kernels: see Device::Synchronize.
    virtual void Wait(Ticket ticket) = 0;
    // Work that is queued from now on runs after `ticket` of another stream of the same backend.
    virtual void WaitFor(Stream& other, Ticket ticket) = 0;

 private:
    Device& device_;
};

// Returns the stream of `device` on which this thread allocates and computes: that of the innermost
// StreamScope of this thread for the device, else its default stream. null for synchronous kernels.
CX_API Stream* GetCurrentStream(const Device& device);

class CX_API StreamScope {
 public:
    explicit StreamScope(Stream& stream);
    ~StreamScope();
    StreamScope(const StreamScope&) = delete;
    StreamScope& operator=(const StreamScope&) = delete;

 private:
    Stream& stream_;
    StreamScope* outer_;

    friend CX_API Stream* GetCurrentStream(const Device& device);
};

}  // namespace chainerx
