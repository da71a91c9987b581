// What a captured step (capture/capture.h) has to know besides its kernel calls: memory that comes
// and goes, bytes that the host gives, and what only the host can do. Costs one load where nothing
// is captured; the layers below capture/ know nothing else of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "chainerx/core/macro.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

class Array;
class Buffer;
class Device;

// What the host does at each replay of a step, such as counting the updates of an optimizer.
class CX_API ReplayPart {
 public:
    virtual ~ReplayPart() = default;
    // Called before the kernels run: brings memory of devices up to date. Returns false, having
    // changed nothing, if the step would do something else now: it is then recorded anew.
    virtual bool Prepare() = 0;
    // Called after the kernels were called, with new arrays for those that it was added with.
    virtual void Finish(std::span<const Array> /*arrays*/) {}
    // Whether it does the same as another part, of this recording of the step or of another one.
    virtual bool IsSame(const ReplayPart& o) const = 0;
    // What becomes of one that is the same as an earlier one of the step.
    enum class Again : uint8_t { kIgnored, kRefused, kDone };
    virtual Again again() const = 0;
};

namespace internal {

struct Slot;  // autograd/graph.h

class CX_API CaptureObserver {
 public:
    virtual ~CaptureObserver() = default;

    // Told of all buffers, but only while the thread records.
    virtual void Born(Buffer& buffer) = 0;
    // From any thread.
    virtual void Died(Buffer& buffer) noexcept = 0;
    // Called after memory of a device was written with bytes of the host.
    virtual void CopiedFromHost(Device& device, void* dst, const void* src, int64_t nbytes) = 0;
    // The step drew random numbers from a source that has others each time, and each replay will
    // draw them by `draw`. Bytes that the host copies to the device and that begin with `key`, or
    // one of the next numbers, then begin with the key that it returns. A key that was drawn before
    // is that one: the step has set the source back. Without key it may do anything.
    virtual void Drew(std::optional<uint64_t> key, std::function<uint64_t()> draw) = 0;
    // Draws all of these as a replay will, from sources as they are now. False, and nothing done,
    // if a draw without key may do more than that.
    virtual bool DrawAgain() = 0;
    // Says why this recording must not be replayed, though another one may: the reason may lie in
    // what another thread did meanwhile.
    virtual void Doubt(const char* why) = 0;
    // `arrays` are results of the step that the part is given.
    virtual void Add(std::shared_ptr<ReplayPart> part, std::span<const Array> arrays = {}) = 0;
    // The gradient of a leaf is read (null if it has none), or set, or cleared.
    virtual void ReadGrad(Slot& slot, uint64_t id, const Array& grad) = 0;
    virtual void WroteGrad(Slot& slot, uint64_t id, bool is_cleared) = 0;
    // The step does what a replay can't repeat, such as "a value is read". It goes on, and is not
    // recorded: whoever records it says so afterwards, when arrays and optimizers are as after any
    // other call.
    virtual void Refuse(const char* what) = 0;
};

// The recording of this thread; null if there is none, or inside of an Unobserved scope.
inline CaptureObserver* CurrentCapture() { return t_state.capture; }

// Ends the recording of a step that looks at values, or hands out memory to those who would.
inline void CheckMayRead(const char* what) {
    if (t_state.capture != nullptr) [[unlikely]]
        t_state.capture->Refuse(what);
}

// Within it nothing is recorded: for work of the host that a ReplayPart repeats.
class Unobserved {
 public:
    Unobserved() : saved_{t_state.capture} { t_state.capture = nullptr; }
    ~Unobserved() { t_state.capture = saved_; }
    Unobserved(const Unobserved&) = delete;
    Unobserved& operator=(const Unobserved&) = delete;

 private:
    CaptureObserver* saved_;
};

}  // namespace internal
}  // namespace chainerx
