#include "chainerx/core/buffer.h"

#include "chainerx/core/leak_tracker.h"

namespace chainerx {
namespace {

struct ForeignBuffer : Buffer {
    ForeignBuffer(Device* device, void* data, int64_t nbytes, void* owner, void (*release)(void*),
                  bool writable)
        : Buffer{device, data, nbytes, &Delete, writable, true}, owner_{owner}, release_{release} {}

    static void Delete(Buffer* b) {
        auto* self = static_cast<ForeignBuffer*>(b);
        if (self->release_ != nullptr) self->release_(self->owner_);
        delete self;
    }

    void* owner_;
    void (*release_)(void*);
};

}  // namespace

Buffer::Buffer(Device* device, void* data, int64_t nbytes, Deleter deleter, bool writable,
               bool foreign)
    : foreign_{foreign},
      writable_{writable},
      device_{device},
      data_{data},
      nbytes_{nbytes},
      deleter_{deleter} {
    CX_TRACK_BORN(kBuffer);
    if (!foreign) internal::TrackLive(internal::kBytes, nbytes);
}

void Buffer::Destroy() {
    CX_TRACK_DEAD(kBuffer);
    if (!foreign_) internal::TrackLive(internal::kBytes, -nbytes_);
    deleter_(this);
}

Buffer* Buffer::Foreign(Device* device, void* data, int64_t nbytes, void* owner,
                        void (*release)(void*), bool writable) {
    return new ForeignBuffer{device, data, nbytes, owner, release, writable};
}

}  // namespace chainerx
