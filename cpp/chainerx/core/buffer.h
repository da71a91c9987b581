// Memory of a device, intrusively counted. Arrays share it through views.
#pragma once

#include <atomic>
#include <cstdint>

#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/macro.h"

namespace chainerx {

class Device;

namespace internal {
struct LayoutAccess;  // kernels/layout.h
}

class CX_API Buffer {
 public:
    using Deleter = void (*)(Buffer*);

    // The buffer is usually placed in front of its own data; `deleter` frees both.
    Buffer(Device* device, void* data, int64_t nbytes, Deleter deleter)
        : Buffer{device, data, nbytes, deleter, true, false} {}
    // For callers that have checked IsTracking(), on the fast path.
    struct Untracked {};
    Buffer(Device* device, void* data, int64_t nbytes, Deleter deleter, Untracked)
        : foreign_{false},
          writable_{true},
          device_{device},
          data_{data},
          nbytes_{nbytes},
          deleter_{deleter} {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    // A buffer over foreign memory. Calls `release(owner)` when the last array goes, on whichever
    // thread that happens; it must not take the GIL.
    static Buffer* Foreign(Device* device, void* data, int64_t nbytes, void* owner,
                           void (*release)(void* owner), bool writable);

    Device* device() const { return device_; }
    void* data() const { return data_; }
    int64_t nbytes() const { return nbytes_; }
    bool writable() const { return writable_; }
    bool is_foreign() const { return foreign_; }
    // For recordings, whose buffers stand for memory that is another one in each run.
    void MoveTo(void* data) { data_ = data; }
    // Identifies the kind of buffer by its deleter.
    Deleter deleter() const { return deleter_; }

    // Counts writes in place, through any view; arrays that backward reads must have the version at
    // which they were saved. Writes of others (NumPy) to shared memory are not counted.
    uint32_t version() const { return version_.load(std::memory_order_relaxed); }
    void MarkWritten() {
        // Lost counts do no harm: they come from concurrent writes.
        version_.store(version() + 1, std::memory_order_relaxed);
    }
    // Whether others may write to the memory, uncounted: it is theirs, or they were given its
    // address.
    bool MayChangeUnseen() const { return foreign_ || is_shared_.load(std::memory_order_relaxed); }
    void MarkShared() { is_shared_.store(true, std::memory_order_relaxed); }
    // Ignores writes since that version: graphs may go on.
    void ForgetWrites(uint32_t version) { version_.store(version, std::memory_order_relaxed); }

    void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
    void Unref() {
        // A sole owner needs no read-modify-write: nobody else could be adding a reference.
        if (refs_.load(std::memory_order_acquire) == 1 ||
            refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            Destroy();
        }
    }
    uint32_t use_count() const { return refs_.load(std::memory_order_relaxed); }
    // Returns whether the caller's reference is the only way to the memory.
    bool IsExclusive() const { return !foreign_ && refs_.load(std::memory_order_acquire) == 1; }

 protected:
    Buffer(Device* device, void* data, int64_t nbytes, Deleter deleter, bool writable, bool foreign)
        : foreign_{foreign},
          writable_{writable},
          device_{device},
          data_{data},
          nbytes_{nbytes},
          deleter_{deleter} {
        Track(1);
    }

 private:
    friend struct internal::LayoutAccess;

    void Destroy();
    void Track(int64_t by) {
        if (internal::g_tracking.load(std::memory_order_relaxed)) [[unlikely]] {
            internal::TrackBuffer(*this, foreign_ ? 0 : nbytes_, by);
        }
    }

    bool foreign_;
    bool writable_;
    std::atomic<bool> is_shared_{false};
    std::atomic<uint32_t> refs_{1};
    std::atomic<uint32_t> version_{0};
    Device* device_;
    void* data_;
    int64_t nbytes_;
    Deleter deleter_;
};

static_assert(sizeof(Buffer) <= 64, "the header of a pooled buffer is one cache line");

}  // namespace chainerx
