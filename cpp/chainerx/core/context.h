// A context owns backends (hence devices) and the backprop ids of the graphs on their arrays.
// An array that outlives it can be destroyed, and nothing else: ContextError. Python keeps every
// context until the process ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/backend.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Names one graph. A small value; ids are bits of a mask, so at most kMaxBackpropIds live at once.
class CX_API BackpropId {
 public:
    BackpropId(Context& context, int bit, uint64_t ordinal)
        : context_{&context}, ordinal_{ordinal}, bit_{static_cast<uint8_t>(bit)} {}

    Context& context() const { return *context_; }
    int bit() const { return bit_; }
    uint64_t mask() const { return uint64_t{1} << bit_; }
    uint64_t ordinal() const { return ordinal_; }  // older ids are outer
    std::string GetName() const;
    // ChainerxError if the id has been released.
    void CheckValid() const;

    friend bool operator==(const BackpropId& a, const BackpropId& b) {
        return a.context_ == b.context_ && a.ordinal_ == b.ordinal_;
    }

 private:
    Context* context_;
    uint64_t ordinal_;
    uint8_t bit_;
};

class CX_API Context {
 public:
    static constexpr int kMaxBackpropIds = 63;

    Context();
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Built-in, registered, or loaded from a plug-in. BackendError says what was looked for.
    Backend& GetBackend(std::string_view name);
    Backend& GetNativeBackend() {
        if (native_ == nullptr) [[unlikely]]
            ThrowDestroyed();
        return *native_;
    }
    // "native:0", or "native" for index 0.
    Device& GetDevice(std::string_view name);
    Device& GetDevice(std::string_view backend_name, int index);
    // Adds a backend made by the caller, e.g. by a C++ program with its own.
    Backend& AddBackend(std::unique_ptr<Backend> backend);

    BackpropId default_backprop_id() { return BackpropId{*this, 0, 0}; }
    BackpropId MakeBackpropId(std::string name);
    void ReleaseBackpropId(const BackpropId& id);
    // False if it has been released already.
    bool TryReleaseBackpropId(const BackpropId& id) noexcept;
    void CheckValidBackpropId(const BackpropId& id) const;
    std::string GetBackpropName(const BackpropId& id) const;
    // The id that owns a bit now.
    BackpropId GetBackpropId(int bit) const;

    // Every make and release starts a new generation. What was made in the current one can't
    // contain a released id.
    uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    // Of `mask`, made in `generation`: the ids that have been released since.
    uint64_t ExpiredIds(uint64_t mask, uint32_t generation) const;
    // The ids made before `ordinal`.
    uint64_t OuterIds(uint64_t ordinal) const;
    uint64_t LiveIds() const;

    // The rule of order: once backprop ran on an outer id, it can't on inner ids in the same graph,
    // since the outer one has released what they share.
    void ConnectBackpropIds(uint64_t mask);
    void CheckBackpropAllowed(const BackpropId& id) const;
    void SetBackpropDone(const BackpropId& id);

    // What devices have in the place of a context that has been destroyed. It has no backends, and
    // all ids have expired.
    static Context& Destroyed();

 private:
    struct DestroyedTag {};
    explicit Context(DestroyedTag);
    [[noreturn]] CX_COLD static void ThrowDestroyed();
    struct IdState {
        std::string name;
        uint64_t ordinal{0};
        uint32_t born{0};
        bool live{false};
        uint64_t connected{0};
        // Ordinal and name of the outer id whose backprop prohibits this one.
        std::string prohibited_by;
    };

    Backend* FindBackend(std::string_view name) const;

    internal::GrowingList<Backend> backends_;
    Backend* native_;
    // What follows is guarded by one lock for all contexts.
    std::vector<IdState> ids_;
    uint64_t next_ordinal_{1};
    std::atomic<uint32_t> generation_{0};
};

// Process-wide. ContextError if none is set.
CX_API Context& GetGlobalDefaultContext();
CX_API void SetGlobalDefaultContext(Context* context);
// Thread-local; falls back on the global one.
CX_API Context& GetDefaultContext();
// A change resets the default device.
CX_API void SetDefaultContext(Context* context);

class CX_API ContextScope {
 public:
    explicit ContextScope(Context& context);
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

 private:
    Context* saved_context_;
    Device* saved_device_;
};

// Of the default context.
CX_API Device& GetDevice(std::string_view name);

namespace internal {

// How a backend is made from its name: set by the units that know (native, plug-ins), so that
// core does not include them.
using BackendFactory = std::unique_ptr<Backend> (*)(Context& context);
CX_API void RegisterBackendFactory(const char* name, BackendFactory factory);

}  // namespace internal
}  // namespace chainerx
