#include "chainerx/ops/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <type_traits>
#include <vector>

#include "chainerx/core/blocking.h"
#include "chainerx/core/context_closer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/kernels/random.h"

namespace chainerx::random {
namespace {

static_assert(sizeof(State) == 2 * sizeof(uint64_t), "as kernels have it");

Array MakeState(Device& device) { return EmptyUnchecked({2}, Dtype::kUInt64, device); }

void Write(const Array& to, const State& state) {
    to.device().CopyFromHost(to.raw_data(), &state, sizeof(state));
}

class Generator {
 public:
    void Set(const State& state) {
        Locked(nullptr, [&] {
            here_ = state;
            // In place, for the steps that were recorded there.
            if (home_ != nullptr) Write(*home_, state);
        });
    }

    State Get() {
        return Locked(nullptr, [&] { return Read(); });
    }

    // The state in the memory of a device.
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

    // Takes all that is of a context away from its devices.
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
    // f() under the lock, which takes the state to a device, or, if null, to the host. If a device
    // may have to be waited for, that is inside of a BlockingScope: whoever wants the lock
    // meanwhile, and fork does, may have what the scope needs to end.
    template <typename F>
    std::invoke_result_t<F> Locked(const Device* to, const F& f) {
        {
            const std::unique_lock lock{mutex_, std::try_to_lock};
            const Device* const from = lock.owns_lock() ? home_device() : nullptr;
            if (lock.owns_lock() && (from == to || !(IsLate(from) || IsLate(to)))) return f();
        }
        const internal::BlockingScope blocking;
        const std::lock_guard lock{mutex_};
        return f();
    }

    // Null where the state is on no device.
    Device* home_device() const { return home_ != nullptr ? &home_->device() : nullptr; }
    static bool IsLate(const Device* device) {
        return device != nullptr && device->default_stream() != nullptr;
    }

    // Contexts end without exceptions. An error that kernels of this thread have left is thrown
    // once, and has nobody left to hear it.
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

    internal::ForkMutex mutex_;
    State here_{MakeSeed(), 0};   // if it is nowhere else
    std::vector<Array> states_;   // one per device where it has been
    const Array* home_{nullptr};  // of these
};

// Numbers may be drawn while the process ends.
Generator& GetGenerator() {
    static constinit internal::Lazy<Generator> generator;
    return generator.Get([] {
        internal::RegisterContextCloser([](Context& context) { GetGenerator().Leave(context); });
        return new Generator;
    });
}

// The state for one draw.
Array StateOn(Device& device, std::optional<uint64_t> key = std::nullopt) {
    if (!key) return GetGenerator().On(device);
    Array state = MakeState(device);
    Write(state, {*key, 0});
    return state;
}

Array MakeFloats(const char* op, const Shape& shape, Dtype dtype, Device& device) {
    if (!IsFloat(dtype)) {
        throw DtypeError{op, ": dtype is ", GetDtypeName(dtype), ", expected a real float dtype"};
    }
    CheckedNBytes(op, shape, GetItemSize(dtype));
    return EmptyUnchecked(shape, dtype, device);
}

void CheckFinite(const char* op, const char* name, double value) {
    if (!std::isfinite(value))
        throw ValueError{op, ": ", name, " is ", value, ", expected a finite number"};
}

}  // namespace

uint64_t MakeSeed() {
    std::random_device entropy;
    return static_cast<uint64_t>(entropy()) << 32 | entropy();
}

void Seed(uint64_t seed) { SetState({seed, 0}); }

State GetState() { return GetGenerator().Get(); }

void SetState(const State& state) { GetGenerator().Set(state); }

Array Normal(double loc, double scale, const Shape& shape, Dtype dtype, Device& device,
             std::optional<uint64_t> key) {
    CheckFinite("normal", "loc", loc);
    CheckFinite("normal", "scale", scale);
    if (scale < 0) throw ValueError{"normal: scale is ", scale, ", expected at least 0"};
    Array out = MakeFloats("normal", shape, dtype, device);
    CallOn<kernels::RandomNormal>(device, StateOn(device, key), loc, scale, out);
    return out;
}

Array Uniform(double low, double high, const Shape& shape, Dtype dtype, Device& device,
              std::optional<uint64_t> key) {
    CheckFinite("uniform", "low", low);
    CheckFinite("uniform", "high", high);
    CheckFinite("uniform", "high - low", high - low);
    Array out = MakeFloats("uniform", shape, dtype, device);
    CallOn<kernels::RandomUniform>(device, StateOn(device, key), low, high, out);
    return out;
}

Array Integers(int64_t low, int64_t high, const Shape& shape, Dtype dtype, Device& device) {
    if (!IsInt(dtype)) {
        throw DtypeError{"integers: dtype is ", GetDtypeName(dtype), ", expected an integer dtype"};
    }
    if (low >= high) {
        throw ValueError{"integers: low is ", low, " and high is ", high, ", expected low < high"};
    }
    VisitInt(dtype, [&]<typename T>() {
        using Limits = std::numeric_limits<T>;
        const bool low_fits =
            std::is_signed_v<T> ? low >= static_cast<int64_t>(Limits::min()) : low >= 0;
        const bool high_fits =
            high - 1 < 0 || static_cast<uint64_t>(high - 1) <= static_cast<uint64_t>(Limits::max());
        if (!low_fits || !high_fits) {
            throw ValueError{"integers: low is ", low,     " and high is ", high, ", beyond what ",
                             GetDtypeName(dtype), " holds"};
        }
    });
    CheckedNBytes("integers", shape, GetItemSize(dtype));
    Array out = EmptyUnchecked(shape, dtype, device);
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    CallOn<kernels::RandomIntegers>(device, StateOn(device), low, range, out);
    return out;
}

Array Permutation(int64_t n, Device& device) {
    CheckedNBytes("permutation", Shape{n}, sizeof(int64_t));
    Array out = EmptyUnchecked(Shape{n}, Dtype::kInt64, device);
    CallOn<kernels::RandomPermutation>(device, StateOn(device), out);
    return out;
}

Array DrawKey(Device& device, std::optional<uint64_t> key) {
    if (key) return StateOn(device, key);
    Array drawn = MakeState(device);
    CallOn<kernels::RandomKey>(device, StateOn(device), drawn);
    return drawn;
}

}  // namespace chainerx::random
