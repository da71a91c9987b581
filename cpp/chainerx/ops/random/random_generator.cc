#include "chainerx/ops/random/random_generator.h"

#include <algorithm>
#include <mutex>
#include <random>
#include <type_traits>

#include "chainerx/core/blocking.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context_closer.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/routine.h"

namespace chainerx::random {
namespace {

static_assert(sizeof(State) == 2 * sizeof(uint64_t), "as kernels have it");

Array MakeState(Device& device) { return EmptyUnchecked({2}, Dtype::kUInt64, device); }

void Write(const Array& to, const State& state) {
    to.device().CopyFromHost(to.raw_data(), &state, sizeof(state));
}

}  // namespace

class Generator::Impl {
 public:
    explicit Impl(const State& state) : here_{state} {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void Set(const State& state) {
        Locked(nullptr, [&] {
            here_ = state;
            // Writes in place, since recorded kernel calls refer to that memory.
            if (home_ != nullptr) Write(*home_, state);
        });
    }

    State Get() {
        return Locked(nullptr, [&] { return Read(); });
    }

    // Returns the state in the memory of a device.
    Array On(Device& device) {
        return Locked(&device, [&] {
            if (home_device() == &device) return *home_;
            here_ = Read();
            home_ = nullptr;
            auto it = std::ranges::find_if(states_,
                                           [&](const Array& s) { return &s.device() == &device; });
            if (it == states_.end()) it = states_.insert(it, MakeState(device));
            Write(*it, here_);
            home_ = &*it;
            return *home_;
        });
    }

    // Whether no device has had the state yet.
    bool IsUnused() {
        return Locked(nullptr, [&] { return states_.empty(); });
    }

    // Moves the state away from the devices of a context.
    void Leave(Context& context) {
        Locked(nullptr, [&] {
            if (home_ != nullptr && &home_->context() == &context) LeaveHome();
            Device* const device = home_device();
            std::erase_if(states_, [&](const Array& s) { return &s.context() == &context; });
            for (Array& s : states_) {
                if (&s.device() == device) home_ = &s;
            }
        });
    }

 private:
    // Calls f() under the lock; f moves the state to a device, or to the host if `to` is null. If
    // that may wait for a device, it takes the lock inside of a BlockingScope: other threads that
    // want the lock, and fork, may hold resources that the scope needs to end.
    template <typename F>
    std::invoke_result_t<F> Locked(const Device* to, const F& f) {
        {
            const std::unique_lock lock{Mutex(), std::try_to_lock};
            const Device* const from = lock.owns_lock() ? home_device() : nullptr;
            if (lock.owns_lock() && (from == to || !(IsLate(from) || IsLate(to)))) return f();
        }
        const internal::BlockingScope blocking;
        const std::lock_guard lock{Mutex()};
        return f();
    }

    // All generators share one lock: fork keeps a list of locks, which must live as long as the
    // process.
    static internal::ForkMutex& Mutex() {
        static constinit internal::ForkMutex mutex;
        return mutex;
    }

    // Returns null if the state is on no device.
    Device* home_device() const { return home_ != nullptr ? &home_->device() : nullptr; }
    static bool IsLate(const Device* device) {
        return device != nullptr && device->default_stream() != nullptr;
    }

    // Contexts end without exceptions. An earlier error of this thread's kernels is thrown only
    // once, so a second attempt succeeds; nobody is left to hear it.
    void LeaveHome() noexcept {
        for (int i = 0; i < 2; ++i) {
            try {
                here_ = Read();
                break;
            } catch (const ChainerxError&) {
            }
        }
        home_ = nullptr;
    }

    State Read() {
        State state = here_;
        if (home_ != nullptr) home_->device().CopyToHost(&state, home_->raw_data(), sizeof(state));
        return state;
    }

    State here_;                  // the state unless it is on a device
    std::vector<Array> states_;   // one per device that has held the state
    const Array* home_{nullptr};  // the array that holds it now
};

// All generators, for contexts that end. They are not owned, and the lock is not held while waiting
// for a device: a generator may be destroyed at any time, on any thread.
struct Generator::Live {
    internal::ForkMutex mutex;
    std::vector<std::weak_ptr<Impl>> generators;

    void Add(const std::shared_ptr<Impl>& generator) {
        const std::lock_guard lock{mutex};
        if (generators.size() == generators.capacity()) {
            std::erase_if(generators, [](const auto& g) { return g.expired(); });
        }
        generators.push_back(generator);
    }

    std::vector<std::shared_ptr<Impl>> All() {
        std::vector<std::shared_ptr<Impl>> all;
        const std::lock_guard lock{mutex};
        for (const auto& g : generators) {
            if (auto held = g.lock()) all.push_back(std::move(held));
        }
        return all;
    }
};

Generator::Live& Generator::GetLive() {
    static constinit internal::Lazy<Live> live;
    return live.Get([] {
        internal::RegisterContextCloser([](Context& context) {
            for (const auto& g : GetLive().All()) g->Leave(context);
        });
        return new Live;
    });
}

Generator::Generator(uint64_t seed) : Generator{State{seed, 0}} {}

Generator::Generator(const State& state) : impl_{std::make_shared<Impl>(state)} {
    GetLive().Add(impl_);
}

// The default generator is never destroyed: numbers may be drawn while the process ends.
Generator& Generator::Default() {
    static constinit internal::Lazy<Generator> generator;
    return generator.Get();
}

namespace {

constinit thread_local DrawScope* t_scope = nullptr;  // the innermost

State ToState(const Array& key) {
    State state;
    key.device().CopyToHost(&state, key.raw_data(), sizeof(state));
    return state;
}

}  // namespace

Draws::OfOne& Draws::Of(const Generator& generator) {
    for (OfOne& one : all) {
        if (one.generator.impl_ == generator.impl_) return one;
    }
    all.push_back({generator, {}, {}});
    return all.back();
}

DrawScope::DrawScope() : outer_{t_scope} { t_scope = this; }
DrawScope::DrawScope(const Draws& draws)
    : outer_{t_scope}, again_{&draws}, repeated_(draws.all.size()) {
    t_scope = this;
}
DrawScope::~DrawScope() { t_scope = outer_; }

bool DrawScope::IsOpen() { return t_scope != nullptr; }

DrawScope* DrawScope::ForScopes(const auto& f) {
    DrawScope* scope = t_scope;
    for (; scope != nullptr && scope->again_ == nullptr; scope = scope->outer_) f(*scope);
    return scope;
}

bool DrawScope::Repeats() {
    return ForScopes([](DrawScope&) {}) != nullptr;
}

bool DrawScope::Moves(const Array& x) {
    const DrawScope* repeats = ForScopes(
        [&](DrawScope& records) { records.recorded_.moved.push_back(internal::Detached(x)); });
    return repeats == nullptr || std::ranges::none_of(repeats->again_->moved, [&](const Array& y) {
               return y.raw_data() == x.raw_data();
           });
}

Array DrawScope::AsAtFirst(const Array& x) {
    if (t_scope == nullptr) return x;
    DrawScope* repeats = ForScopes([](DrawScope&) {});
    const bool is_known = repeats != nullptr && repeats->read_ < repeats->again_->read.size();
    const Array found =
        is_known ? repeats->again_->read[repeats->read_++] : Copy(internal::Detached(x));
    ForScopes([&](DrawScope& records) { records.recorded_.read.push_back(found); });
    return found;
}

int DrawScope::Find(const Generator& generator) const {
    for (size_t i = 0; i < repeated_.size(); ++i) {
        if (again_->all[i].generator.impl_ == generator.impl_) return static_cast<int>(i);
    }
    return -1;
}

State DrawScope::GetState(int i) const {
    const Draws::OfOne& one = again_->all[i];
    const Repeated& repeated = repeated_[i];
    if (repeated.set) return *repeated.set;
    if (repeated.drawn != 0) {
        const State last = ToState(one.keys[repeated.drawn - 1]);
        return {last.seed, last.call + 1};
    }
    if (one.found) return *one.found;
    return one.keys.empty() ? one.generator.impl_->Get() : ToState(one.keys[0]);
}

Array DrawScope::Draw(int i, Device& device) {
    const Draws::OfOne& one = again_->all[i];
    Repeated& repeated = repeated_[i];
    if (repeated.drawn < one.keys.size()) {
        repeated.set.reset();
        return one.keys[repeated.drawn++].ToDevice(device);
    }
    // It draws more than before: continues as a generator would.
    const State state = GetState(i);
    repeated.set = State{state.seed, state.call + 1};
    Array key = MakeState(device);
    Write(key, state);
    return key;
}

std::pair<DrawScope*, int> Generator::ForScopes(const auto& f) const {
    for (DrawScope* scope = t_scope; scope != nullptr; scope = scope->outer_) {
        if (scope->again_ == nullptr) {
            f(*scope);
        } else if (const int i = scope->Find(*this); i >= 0) {
            return {scope, i};
        }
    }
    return {nullptr, -1};
}

State Generator::GetState() const {
    const auto [scope, i] = ForScopes([](DrawScope&) {});
    const State state = scope != nullptr ? scope->GetState(i) : impl_->Get();
    ForScopes([&](DrawScope& records) {
        Draws::OfOne& one = records.recorded_.Of(*this);
        if (one.keys.empty() && !one.found) one.found = state;
    });
    return state;
}

void Generator::SetState(const State& state) const {
    const auto [scope, i] = ForScopes([&](DrawScope& records) { records.recorded_.Of(*this); });
    if (scope != nullptr) {
        scope->repeated_[i].set = state;
    } else {
        impl_->Set(state);
    }
}

std::vector<Generator> Generator::Spawn(int64_t n) const {
    if (n < 0) throw ValueError{"spawn: n is ", n, ", expected at least 0"};
    Device& device = GetDefaultDevice();
    const Array seeds = Empty({n}, Dtype::kUInt64, device);
    CallOn<kernels::RandomIntegers>(device, StateOn(device), 0, 0, seeds);
    std::vector<Generator> generators;
    for (const uint64_t seed : seeds.ToHost<uint64_t>()) generators.emplace_back(seed);
    return generators;
}

namespace {

// Brings the state of a generator back to where the kernels of a replayed step count in it.
class StatePart : public ReplayPart {
 public:
    StatePart(const Generator& generator, const Array& state)
        : generator_{generator}, state_{state} {}

    bool Prepare() override {
        return generator_.StateOn(state_.device()).raw_data() == state_.raw_data();
    }
    bool IsSame(const ReplayPart& o) const override {
        const auto* other = dynamic_cast<const StatePart*>(&o);
        return other != nullptr && other->state_.raw_data() == state_.raw_data();
    }
    Again again() const override { return Again::kIgnored; }

 private:
    Generator generator_;
    Array state_;
};

}  // namespace

Array Generator::StateOn(Device& device) const {
    if (t_scope == nullptr) [[likely]] {
        internal::CaptureObserver* const capture = internal::CurrentCapture();
        // One that is new in each recording is a temporary, whose state is bytes of the host.
        if (capture == nullptr || impl_->IsUnused()) [[likely]]
            return impl_->On(device);
        Array state;
        {
            const internal::Unobserved by_part;
            state = impl_->On(device);
        }
        capture->Add(std::make_shared<StatePart>(*this, state));
        return state;
    }
    bool is_recorded = false;
    const auto [scope, i] = ForScopes([&](DrawScope&) { is_recorded = true; });
    if (scope == nullptr && !is_recorded) return impl_->On(device);
    Array key;
    if (scope != nullptr) {
        key = scope->Draw(i, device);
    } else {
        key = MakeState(device);
        CallOn<kernels::RandomKey>(device, impl_->On(device), key);
    }
    ForScopes([&](DrawScope& records) { records.recorded_.Of(*this).keys.push_back(key); });
    return Copy(key);  // a copy, since the kernel counts in it
}

Array Source::StateOn(Device& device) const {
    if (!key_) return (generator_ != nullptr ? *generator_ : Generator::Default()).StateOn(device);
    Array state = MakeState(device);
    Write(state, {*key_, 0});
    return state;
}

uint64_t MakeSeed() {
    std::random_device entropy;
    return static_cast<uint64_t>(entropy()) << 32 | entropy();
}

}  // namespace chainerx::random
