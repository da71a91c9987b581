// Sources of random numbers: generators, whose draws are numbered, and RNG keys.
//
// The same seed gives the same numbers on any device and any number of threads. The state is in the
// memory of the device that drew last, and its kernels count the draws: kernel calls that are
// recorded and replayed draw new numbers, as if they had been called again. Drawing on another
// device, and reading the state, wait for that device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::random {

struct State {
    uint64_t seed{0};
    uint64_t call{0};  // draws since the seed was set
};

class DrawScope;

// Returns a seed from the entropy of the system.
CX_API uint64_t MakeSeed();

// A handle; copies share the state. Threads may draw from one at the same time, in no fixed order.
// A forked child has its own copy, which gives the same numbers as the parent's.
class CX_API Generator {
 public:
    explicit Generator(uint64_t seed = MakeSeed());
    explicit Generator(const State& state);

    // Returns the generator that functions use by default.
    static Generator& Default();

    State GetState() const;
    void SetState(const State& state) const;
    // Returns new generators, whose seeds are one draw of this one.
    std::vector<Generator> Spawn(int64_t n) const;
    // Returns the state for one draw, in the memory of a device: two uint64; kernels count in the
    // second.
    Array StateOn(Device& device) const;

 private:
    friend class DrawScope;
    friend struct Draws;
    class Impl;
    struct Live;

    static Live& GetLive();
    // Calls f(scope) for each recording scope, up to the one that replays. Returns that scope and
    // the index of the generator there; null if there is none.
    std::pair<DrawScope*, int> ForScopes(const auto& f) const;

    std::shared_ptr<Impl> impl_;
};

// The draws of a thread from generators, for replay.
struct Draws {
    struct OfOne {
        Generator generator;
        std::vector<Array> keys;     // seed and number of each draw, in the memory of a device
        std::optional<State> found;  // the state, if it was read before the first draw
    };

    CX_API OfOne& Of(const Generator& generator);  // adds an entry if there is none

    std::vector<OfOne> all;
    std::vector<Array> read;   // the results of AsAtFirst, in order
    std::vector<Array> moved;  // kept alive, so that no other array gets their memory
};

// Records the draws of the thread that makes the scope during its life, or replays recorded draws.
// A replayed generator stays unchanged for other threads, and gives each draw its former numbers,
// whoever else drew in between. Scopes nest: an outer one sees the draws that an inner one does not
// replay.
//
// Side effects of a function, such as updates of running statistics, happen once: not during
// replay.
class CX_API DrawScope {
 public:
    DrawScope();
    // `draws` must outlive the scope.
    explicit DrawScope(const Draws& draws);
    ~DrawScope();
    DrawScope(const DrawScope&) = delete;
    DrawScope& operator=(const DrawScope&) = delete;

    // Whether this thread is in one.
    static bool IsOpen();

    // Returns the draws of a recording scope.
    Draws& draws() { return recorded_; }

    // Returns whether a scope of this thread replays.
    static bool Repeats();
    // Returns whether a function shall update an array: not if it did so at its first call.
    static bool Moves(const Array& x);
    // Returns an array's value, or during replay its value at the first call, of which a recording
    // scope keeps a copy. For arrays that a function reads before it updates them.
    static Array AsAtFirst(const Array& x);

 private:
    friend class Generator;

    // The progress of replaying one generator.
    struct Repeated {
        size_t drawn{0};
        std::optional<State> set;  // since the last draw
    };

    // Calls f(scope) for each recording scope of this thread, up to the one that replays; null if
    // none does.
    static DrawScope* ForScopes(const auto& f);
    int Find(const Generator& generator) const;  // -1 if it is not replayed
    State GetState(int i) const;
    Array Draw(int i, Device& device);

    DrawScope* const outer_;
    Draws recorded_;
    const Draws* again_{nullptr};  // null in a recording scope
    std::vector<Repeated> repeated_;
    size_t read_{0};  // index into again_->read
};

// A generator, by default that of the process, or an RNG key, on which alone the numbers then
// depend.
class Source {
 public:
    Source() = default;
    Source(const Generator& generator) : generator_{&generator} {}  // NOLINT: as it is said
    Source(uint64_t key) : key_{key} {}                             // NOLINT: the same
    Source(std::optional<uint64_t> key) : key_{key} {}              // NOLINT: the same

    bool is_key() const { return key_.has_value(); }
    CX_API Array StateOn(Device& device) const;

 private:
    const Generator* generator_{nullptr};  // outlives the call
    std::optional<uint64_t> key_;
};

}  // namespace chainerx::random
