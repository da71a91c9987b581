#include "chainerx/core/context.h"

#include <algorithm>
#include <charconv>

#include "chainerx/core/context_closer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/plugin.h"
#include "chainerx/core/thread_state.h"

namespace chainerx {

using internal::t_state;

namespace {

std::atomic<Context*> g_default_context{nullptr};

constinit internal::ForkMutex g_ids_mutex;  // guards the backprop ids of all contexts

std::atomic<internal::ContextCloser> g_closers[8];

struct Factory {
    const char* name;
    internal::BackendFactory make;
};

constinit internal::Lazy<std::vector<Factory>> g_factories;

// Live contexts, and the backends of destroyed ones.
struct Contexts {
    internal::ForkMutex mutex;
    std::vector<const Context*> alive;
    std::vector<std::unique_ptr<Backend>> retired;
};

constinit internal::Lazy<Contexts> g_contexts;  // arrays in static storage may outlive statics

// The number of destroyed contexts. A thread with another number must check that its default
// context is alive.
std::atomic<uint32_t> g_destroyed{0};

}  // namespace

void internal::RegisterBackendFactory(const char* name, BackendFactory factory) {
    g_factories.Get().push_back({name, factory});
}

void internal::RegisterContextCloser(ContextCloser closer) {
    for (auto& place : g_closers) {
        ContextCloser none = nullptr;
        if (place.compare_exchange_strong(none, closer)) return;
    }
    throw ChainerxError{"too many closers of contexts"};
}

Context::Context() {
    ids_.resize(kMaxBackpropIds);
    ids_[0].name = "<default>";
    ids_[0].live = true;
    native_ = &GetBackend("native");
    const std::lock_guard lock{g_contexts.Get().mutex};
    g_contexts.Get().alive.push_back(this);
}

Context::Context(DestroyedTag) : native_{nullptr}, generation_{UINT32_MAX} {
    ids_.resize(kMaxBackpropIds);
}

Context& Context::Destroyed() {
    static constinit internal::Lazy<Context> destroyed;
    return destroyed.Get([] { return new Context{DestroyedTag{}}; });
}

void Context::ThrowDestroyed() {
    throw ContextError{"the context has been destroyed; arrays may not outlive it"};
}

Context::~Context() {
    for (const auto& closer : g_closers) {
        if (const internal::ContextCloser close = closer.load()) close(*this);
    }
    backends_.ForEach([](Backend& b) { b.Retire(); });
    {
        Contexts& contexts = g_contexts.Get();
        const std::lock_guard lock{contexts.mutex};
        std::erase(contexts.alive, this);
        while (std::unique_ptr<Backend> b = backends_.TakeLast()) {
            contexts.retired.push_back(std::move(b));
        }
        g_destroyed.fetch_add(1, std::memory_order_release);
    }
    if (g_default_context == this) g_default_context = nullptr;
    if (t_state.default_context == this) t_state.default_context = nullptr;
    if (t_state.record_context == this) t_state.record_context = nullptr;
}

Backend* Context::FindBackend(std::string_view name) const {
    return backends_.Find([&](const Backend& b) { return b.name() == name; });
}

Backend& Context::GetBackend(std::string_view name) {
    if (Backend* made = FindBackend(name)) return *made;
    if (this == &Destroyed()) ThrowDestroyed();
    // While a backend is made, it may look up others, e.g. its parent.
    const std::lock_guard lock{internal::CreationMutex()};
    if (Backend* made = FindBackend(name)) return *made;  // another thread has made it meanwhile
    for (const Factory& f : g_factories.Get()) {
        if (f.name == name) return backends_.Add(f.make(*this));
    }
    return backends_.Add(internal::LoadBackendPlugin(*this, std::string{name}));
}

Backend& Context::AddBackend(std::unique_ptr<Backend> backend) {
    const std::lock_guard lock{internal::CreationMutex()};
    if (FindBackend(backend->name()) != nullptr) {
        throw BackendError{"backend '", backend->name(), "' is registered already"};
    }
    return backends_.Add(std::move(backend));
}

Device& Context::GetDevice(std::string_view name) {
    const size_t colon = name.find(':');
    int index = 0;
    if (colon != std::string_view::npos) {
        const std::string_view digits = name.substr(colon + 1);
        const char* end = digits.data() + digits.size();
        const auto [ptr, ec] = std::from_chars(digits.data(), end, index);
        if (ec != std::errc{} || ptr != end || index < 0) {
            throw DeviceError{"invalid device name '", name,
                              "': expected 'backend' or 'backend:index'"};
        }
    }
    const std::string_view backend = name.substr(0, colon);
    if (backend.empty()) {
        throw DeviceError{"invalid device name '", name,
                          "': expected 'backend' or 'backend:index'"};
    }
    return GetBackend(backend).GetDevice(index);
}

Device& Context::GetDevice(std::string_view backend_name, int index) {
    return GetBackend(backend_name).GetDevice(index);
}

BackpropId Context::MakeBackpropId(std::string name) {
    if (this == &Destroyed()) ThrowDestroyed();
    const std::lock_guard lock{g_ids_mutex};
    for (int bit = 1; bit < kMaxBackpropIds; ++bit) {
        IdState& s = ids_[static_cast<size_t>(bit)];
        if (s.live) continue;
        const uint32_t born = generation_.load(std::memory_order_relaxed) + 1;
        s = IdState{};
        s.name = std::move(name);
        s.ordinal = next_ordinal_++;
        s.born = born;
        s.live = true;
        generation_.store(born, std::memory_order_release);
        return BackpropId{*this, bit, s.ordinal};
    }
    throw ChainerxError{"too many backprop ids: at most ", kMaxBackpropIds, " live at once"};
}

void Context::ReleaseBackpropId(const BackpropId& id) {
    if (id.bit() == 0) throw ChainerxError{"the default backprop id cannot be released"};
    CheckValidBackpropId(id);
    TryReleaseBackpropId(id);
}

bool Context::TryReleaseBackpropId(const BackpropId& id) noexcept {
    const std::lock_guard lock{g_ids_mutex};
    IdState& released = ids_[static_cast<size_t>(id.bit())];
    if (!released.live || released.ordinal != id.ordinal()) return false;
    released.live = false;
    for (IdState& s : ids_) s.connected &= ~id.mask();
    generation_.fetch_add(1, std::memory_order_release);
    return true;
}

void Context::CheckValidBackpropId(const BackpropId& id) const {
    if (&id.context() != this) {
        throw ContextError{"backprop id is of another context"};
    }
    if (this == &Destroyed()) ThrowDestroyed();
    const std::lock_guard lock{g_ids_mutex};
    const IdState& s = ids_[static_cast<size_t>(id.bit())];
    if (!s.live || s.ordinal != id.ordinal()) {
        throw ChainerxError{"backprop id has expired: its scope has been left"};
    }
}

std::string Context::GetBackpropName(const BackpropId& id) const {
    CheckValidBackpropId(id);
    const std::lock_guard lock{g_ids_mutex};
    return ids_[static_cast<size_t>(id.bit())].name;
}

BackpropId Context::GetBackpropId(int bit) const {
    const std::lock_guard lock{g_ids_mutex};
    return BackpropId{const_cast<Context&>(*this), bit, ids_[static_cast<size_t>(bit)].ordinal};
}

uint64_t Context::ExpiredIds(uint64_t mask, uint32_t generation) const {
    if (generation == this->generation()) return 0;
    if (this == &Destroyed()) return mask;
    const std::lock_guard lock{g_ids_mutex};
    uint64_t expired = 0;
    for (int bit = 0; bit < kMaxBackpropIds; ++bit) {
        const IdState& s = ids_[static_cast<size_t>(bit)];
        if (((mask >> bit) & 1) != 0 && (!s.live || s.born > generation)) {
            expired |= uint64_t{1} << bit;
        }
    }
    return expired;
}

uint64_t Context::OuterIds(uint64_t ordinal) const {
    if (ordinal == 0) return 0;  // nothing is older than the default id
    const std::lock_guard lock{g_ids_mutex};
    uint64_t mask = 0;
    for (int bit = 0; bit < kMaxBackpropIds; ++bit) {
        const IdState& s = ids_[static_cast<size_t>(bit)];
        if (s.live && s.ordinal < ordinal) mask |= uint64_t{1} << bit;
    }
    return mask;
}

uint64_t Context::LiveIds() const {
    const std::lock_guard lock{g_ids_mutex};
    uint64_t mask = 0;
    for (int bit = 0; bit < kMaxBackpropIds; ++bit) {
        if (ids_[static_cast<size_t>(bit)].live) mask |= uint64_t{1} << bit;
    }
    return mask;
}

void Context::ConnectBackpropIds(uint64_t mask) {
    const std::lock_guard lock{g_ids_mutex};
    for (int bit = 0; bit < kMaxBackpropIds; ++bit) {
        if (((mask >> bit) & 1) != 0) ids_[static_cast<size_t>(bit)].connected |= mask;
    }
}

void Context::CheckBackpropAllowed(const BackpropId& id) const {
    CheckValidBackpropId(id);
    const std::lock_guard lock{g_ids_mutex};
    const IdState& s = ids_[static_cast<size_t>(id.bit())];
    if (!s.prohibited_by.empty()) {
        throw ChainerxError{"backward: cannot backpropagate on '", s.name,
                            "' after backpropagation on the outer '", s.prohibited_by,
                            "' that it is connected to"};
    }
}

void Context::SetBackpropDone(const BackpropId& id) {
    const std::lock_guard lock{g_ids_mutex};
    const IdState& done = ids_[static_cast<size_t>(id.bit())];
    if ((done.connected & ~id.mask()) == 0) return;
    for (int bit = 0; bit < kMaxBackpropIds; ++bit) {
        IdState& s = ids_[static_cast<size_t>(bit)];
        if (((done.connected >> bit) & 1) != 0 && s.live && s.ordinal > id.ordinal()) {
            s.prohibited_by = done.name;
        }
    }
}

std::string BackpropId::GetName() const { return context_->GetBackpropName(*this); }
void BackpropId::CheckValid() const { context_->CheckValidBackpropId(*this); }

Context& GetGlobalDefaultContext() {
    Context* c = g_default_context;
    if (c == nullptr) throw ContextError{"no global default context is set"};
    return *c;
}

void SetGlobalDefaultContext(Context* context) { g_default_context = context; }

Context& GetDefaultContext() {
    const uint32_t destroyed = g_destroyed.load(std::memory_order_acquire);
    if (t_state.contexts_destroyed != destroyed) [[unlikely]] {
        Contexts& contexts = g_contexts.Get();
        const std::lock_guard lock{contexts.mutex};
        const auto it = std::ranges::find(contexts.alive, t_state.default_context);
        if (it == contexts.alive.end()) t_state.default_context = nullptr;
        t_state.contexts_destroyed = destroyed;
    }
    return t_state.default_context != nullptr ? *t_state.default_context
                                              : GetGlobalDefaultContext();
}

void SetDefaultContext(Context* context) {
    if (t_state.default_context != context) t_state.default_device = nullptr;
    t_state.default_context = context;
}

ContextScope::ContextScope(Context& context)
    : saved_context_{t_state.default_context}, saved_device_{t_state.default_device} {
    SetDefaultContext(&context);
}

ContextScope::~ContextScope() {
    t_state.default_context = saved_context_;
    t_state.contexts_destroyed = UINT32_MAX;  // the context may have been destroyed meanwhile
    t_state.default_device = saved_device_;
}

Device& GetDevice(std::string_view name) { return GetDefaultContext().GetDevice(name); }

}  // namespace chainerx
