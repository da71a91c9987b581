// The object behind an Array handle: one pooled allocation with everything inline.
#pragma once

#include <atomic>
#include <cstdint>

#include "chainerx/core/buffer.h"
#include "chainerx/core/device.h"
#include "chainerx/core/dims.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/pool.h"

namespace chainerx::internal {

struct Slot;  // autograd/graph.h: the place of an array in the graphs

// Has two counts. Strong: handles that users hold. Memory: all strong handles together (one), and
// every gradient closure that saved the array. When the last strong handle goes, the autograd state
// is freed (so that a node that saved its own output is no cycle); when the memory count is 0, the
// body is.
//
// Both are in one word, since a closure may turn its memory count into a handle at any moment: only
// who sees both at once knows that nobody else is left.
struct ArrayBody {
    static constexpr uint64_t kStrong = 1;
    static constexpr uint64_t kMemory = uint64_t{1} << 32;

    std::atomic<uint64_t> counts{kStrong + kMemory};
    Dtype dtype;
    bool contiguous;        // C order
    bool read_only{false};  // elements share memory, or it is a view of such an array
    // Saved by a closure whose node does not keep the slot. Atomic, since several threads may save.
    std::atomic<bool> loosely_saved{false};
    // Null while no graph contains the array. After the last handle went, not owned: the slot that
    // refers to the body for its saved data.
    Slot* slot{nullptr};
    void* python{nullptr};  // the one Python object of this body, not owned; guarded by the GIL
    Device* device;
    Buffer* buffer;  // owned
    char* data;      // first element
    int64_t size;    // number of elements
    Shape shape;
    Strides strides;

    ArrayBody(Buffer* buffer, const Shape& shape, Dtype dtype, Device* device)
        : dtype{dtype},
          contiguous{true},
          device{device},
          buffer{buffer},
          data{static_cast<char*>(buffer->data())},
          size{shape.GetTotalSize()},
          shape{shape},
          strides{shape, GetItemSize(dtype)} {
        CX_TRACK_BORN(kBody);
    }
    ArrayBody(Buffer* buffer, const Shape& shape, const Strides& strides, Dtype dtype,
              Device* device, char* data)
        : dtype{dtype},
          contiguous{IsContiguous(shape, strides, GetItemSize(dtype))},
          device{device},
          buffer{buffer},
          data{data},
          size{shape.GetTotalSize()},
          shape{shape},
          strides{strides} {
        CX_TRACK_BORN(kBody);
    }

    // Takes over a reference to `buffer`, even if there is no memory for the body. OutOfMemoryError
    // if it is null, as from a backend that does not throw.
    template <typename... Args>
    static ArrayBody* Make(Buffer* buffer, const Args&... args) {
        if (buffer == nullptr) [[unlikely]]
            ThrowNoBuffer();
        struct Guard {
            Buffer* buffer;
            ~Guard() {
                if (buffer != nullptr) buffer->Unref();
            }
        } guard{buffer};
        auto* body = new ArrayBody{buffer, args...};
        guard.buffer = nullptr;
        return body;
    }

    void* operator new(size_t size) { return PoolAlloc(size); }
    void operator delete(void* p, size_t size) { PoolFree(p, size); }

    uint32_t StrongCount() const { return StrongOf(counts.load(std::memory_order_relaxed)); }

    // Returns whether the caller's handle is the only one, and no closure has saved the body.
    bool IsSole() const { return counts.load(std::memory_order_acquire) == kStrong + kMemory; }

    // For the caller who has dropped the last handle, but not yet its memory count.
    bool IsSaved() const { return counts.load(std::memory_order_relaxed) >= 2 * kMemory; }

    void Ref() { counts.fetch_add(kStrong, std::memory_order_relaxed); }

    // Not inline: it has thousands of call sites, half of them on paths of exceptions.
    CX_API void Unref() noexcept;
    // The same, inline, for the one call site that every operation from Python runs.
    void UnrefInline() {
        // Nobody can add a handle if ours is the only one and no closure or slot refers to us.
        if (IsSole() && slot == nullptr) [[likely]] {
            Destroy();
        } else if (StrongOf(counts.fetch_sub(kStrong, std::memory_order_acq_rel)) == 1) {
            DropStrong();
        }
    }

    // Makes a handle for a closure that saved the body; false if no strong handle is left.
    bool TryRef() {
        uint64_t n = counts.load(std::memory_order_relaxed);
        while (StrongOf(n) != 0) {
            if (counts.compare_exchange_weak(n, n + kStrong, std::memory_order_acq_rel)) {
                return true;
            }
        }
        return false;
    }

    void RefMemory() { counts.fetch_add(kMemory, std::memory_order_relaxed); }
    void UnrefMemory() {
        if (counts.fetch_sub(kMemory, std::memory_order_acq_rel) < 2 * kMemory) DropMemory();
    }

 private:
    static uint32_t StrongOf(uint64_t counts) { return static_cast<uint32_t>(counts); }

    CX_API void DropStrong();
    CX_API void DropMemory();
    [[noreturn]] CX_API CX_COLD static void ThrowNoBuffer();

    void Destroy() {
        CX_TRACK_DEAD(kBody);
        buffer->Unref();
        PoolFree(this, sizeof(ArrayBody));
    }
};

static_assert(sizeof(ArrayBody) <= 256, "four pool grains; every operation allocates one");

// Defined in autograd/graph.cc: detaches a body without handles from its slot, with the memory
// count of the handles.
void DetachSlot(ArrayBody& body);
// Clears the slot's reference to the body, since no closure saves it any more.
void ForgetSaved(ArrayBody& body);

}  // namespace chainerx::internal
