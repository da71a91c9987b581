// The time that a device with streams needs, for profilers.
#pragma once

#include <cstdint>
#include <span>

#include "chainerx/core/macro.h"

namespace chainerx {

// Devices that can time their work also derive from this.
class CX_API DeviceTimer {
 public:
    using Mark = void*;

    virtual ~DeviceTimer() = default;

    // Puts a mark at the present end of the current stream.
    virtual Mark PutMark() = 0;
    // Waits until all marks have been passed; stores at which nanosecond of the monotonic clock
    // each was, and removes them.
    virtual void TakeMarks(std::span<const Mark> marks, int64_t* times) = 0;
};

}  // namespace chainerx
