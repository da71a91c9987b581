#include "chainerx/core/buffer.h"

#include "chainerx/core/foreign.h"

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

void Buffer::Destroy() {
    Track(-1);
    deleter_(this);
}

Buffer* Buffer::Foreign(Device* device, void* data, int64_t nbytes, void* owner,
                        void (*release)(void*), bool writable) {
    return new ForeignBuffer{device, data, nbytes, owner, release, writable};
}

void* internal::FindOwner(const Buffer& buffer, void (*release)(void* owner)) {
    if (!buffer.is_foreign()) return nullptr;
    const auto& foreign = static_cast<const ForeignBuffer&>(buffer);
    return foreign.release_ == release ? foreign.owner_ : nullptr;
}

}  // namespace chainerx
