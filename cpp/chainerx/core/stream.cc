#include "chainerx/core/stream.h"

#include "chainerx/core/device.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

// The innermost scope of this thread. Synchronous devices never read it.
thread_local StreamScope* t_scope = nullptr;

}  // namespace

Stream::~Stream() = default;

StreamScope::StreamScope(Stream& stream) : stream_{stream}, outer_{t_scope} { t_scope = this; }

StreamScope::~StreamScope() {
    // Scopes may be left out of order.
    for (StreamScope** p = &t_scope; *p != nullptr; p = &(*p)->outer_) {
        if (*p == this) {
            *p = outer_;
            return;
        }
    }
}

Stream* GetCurrentStream(const Device& device) {
    for (StreamScope* s = t_scope; s != nullptr; s = s->outer_) {
        if (&s->stream_.device() == &device) return &s->stream_;
    }
    return device.default_stream();
}

}  // namespace chainerx
