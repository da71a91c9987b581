#include "chainerx/capture/stream_order.h"

#include <algorithm>

#include "chainerx/core/device.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/stream_pool.h"

namespace chainerx::internal {

void StreamOrder::Add(Device& device) {
    if (device.default_stream() == nullptr) return;
    if (std::ranges::find(queues_, &device, &Queue::device) == queues_.end()) {
        queues_.push_back({&device, GetCurrentStream(device)});
    }
}

void StreamOrder::Add(Buffer& buffer) {
    const auto queue = std::ranges::find(queues_, buffer.device(), &Queue::device);
    if (queue != queues_.end()) queue->buffers.push_back(&buffer);
}

void StreamOrder::Begin(std::span<const Array> arguments) {
    if (queues_.empty()) return;
    for (Queue& queue : queues_) {
        Stream& now = *GetCurrentStream(*queue.device);
        if (queue.last == &now) continue;
        now.WaitFor(*queue.last, queue.last->Mark());
        for (Buffer* buffer : queue.buffers) StreamPool::KeepFor(*buffer, now);
        queue.last = &now;
    }
    for (const Array& x : arguments) Use(*x.buffer());
}

void StreamOrder::Use(Buffer& buffer) const {
    if (queues_.empty()) return;
    if (Stream* now = GetCurrentStream(*buffer.device())) StreamPool::KeepFor(buffer, *now);
}

}  // namespace chainerx::internal
