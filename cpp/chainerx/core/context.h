// A context owns backends (hence devices) and the backprop ids of the graphs on their arrays. An
// array that outlives it can only be destroyed; all else is a ContextError. Python keeps every
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

    // Finds a backend that is built in, registered, or in a plug-in. BackendError lists the places
    // searched.
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
    // Returns the id that owns a bit now.
    BackpropId GetBackpropId(int bit) const;

    // Making or releasing an id starts a new generation. A mask from the current generation
    // contains no released id.
    uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
    // Returns the ids of `mask`, made in `generation`, that have been released since.
    uint64_t ExpiredIds(uint64_t mask, uint32_t generation) const;
    // Returns the ids made before `ordinal`.
    uint64_t OuterIds(uint64_t ordinal) const;
    uint64_t LiveIds() const;

    // Enforces the order of ids: after backprop on an outer id, backprop on inner ids of the same
    // graph is prohibited, since it has released their shared nodes.
    void ConnectBackpropIds(uint64_t mask);
    void CheckBackpropAllowed(const BackpropId& id) const;
    void SetBackpropDone(const BackpropId& id);

    // The stand-in context of devices whose context has been destroyed. It has no backends, and all
    // its ids have expired.
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
    // The members below are guarded by one lock for all contexts.
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

// Finds a device of the default context.
CX_API Device& GetDevice(std::string_view name);

namespace internal {

// Makes a backend from its name. The units that implement it (native, plug-ins) set it, so that
// core does not include them.
using BackendFactory = std::unique_ptr<Backend> (*)(Context& context);
CX_API void RegisterBackendFactory(const char* name, BackendFactory factory);

}  // namespace internal
}  // namespace chainerx
