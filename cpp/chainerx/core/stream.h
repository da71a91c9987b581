// Queues of a device whose kernels run later than they are called.
#pragma once

#include <cstdint>

#include "chainerx/core/macro.h"

namespace chainerx {

class Device;

// What is put into one stream runs in that order; between two streams there is no order but what
// WaitFor makes. A stream belongs to its device and lives as long: others may keep pointers to it.
class CX_API Stream {
 public:
    // How far a stream has come; tickets of one stream grow.
    using Ticket = uint64_t;

    explicit Stream(Device& device) : device_{device} {}
    virtual ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    Device& device() const { return device_; }

    // Stands for all that has been put in so far.
    virtual Ticket Mark() noexcept = 0;
    virtual bool IsDone(Ticket ticket) noexcept = 0;
    // Makes the host wait. Errors of kernels are not its business: see Device::Synchronize.
    virtual void Wait(Ticket ticket) = 0;
    // What is put in from now on runs after `ticket` of another stream of the same device.
    virtual void WaitFor(Stream& other, Ticket ticket) = 0;

 private:
    Device& device_;
};

// The stream of `device` on which this thread allocates and computes: that of the innermost
// StreamScope of this thread for the device, else its default stream. null where kernels are
// synchronous.
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
