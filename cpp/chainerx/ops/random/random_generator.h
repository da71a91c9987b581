// Where random numbers come from: generators, of which each draw takes the next call, or a key.
//
// The same seed gives the same numbers on any device and any number of threads. A state lives in
// the memory of the device that drew last, and the kernels there count: a step of kernel calls that
// is recorded and run again draws new numbers, as if it had been called again. Drawing on another
// device, and asking for the state, wait for that device.
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
    uint64_t seed;
    uint64_t call;  // draws since the seed was set
};

class DrawScope;

// Of the entropy of the system.
CX_API uint64_t MakeSeed();

// A handle; copies share the state. Threads may draw from one at the same time, then in no fixed
// order. A forked child has a copy of its own, which gives the same numbers as the parent's.
class CX_API Generator {
 public:
    explicit Generator(uint64_t seed = MakeSeed());
    explicit Generator(const State& state);

    // Which functions take when they are given none.
    static Generator& Default();

    State GetState() const;
    void SetState(const State& state) const;
    // New ones, whose seeds are one draw of this one.
    std::vector<Generator> Spawn(int64_t n) const;
    // For one draw, in the memory of a device: two uint64, of which kernels count the second.
    Array StateOn(Device& device) const;

 private:
    friend class DrawScope;
    friend struct Draws;
    class Impl;
    struct Live;

    static Live& GetLive();
    // f(scope) for each that records, up to the one that repeats. That, and its place there; null
    // if there is none.
    template <typename F>
    std::pair<DrawScope*, int> ForScopes(const F& f) const;

    std::shared_ptr<Impl> impl_;
};

// What a thread drew from generators, to be drawn again.
struct Draws {
    struct OfOne {
        Generator generator;
        std::vector<Array> keys;     // seed and number of each draw, in the memory of a device
        std::optional<State> found;  // if it was asked for before the first draw
    };

    CX_API OfOne& Of(const Generator& generator);  // made if there is none

    std::vector<OfOne> all;
    std::vector<Array> read;   // what AsAtFirst gave, in order
    std::vector<Array> moved;  // kept, so that no other array has their memory
};

// For the thread that makes one: records what is drawn during its life, or repeats what was. A
// generator that draws again stays as it is for all others, and gives each draw the numbers that it
// had, whoever else drew in between. They lie inside one another: an outer one sees what an inner
// one does not repeat.
//
// What a function moves besides its results, such as running statistics, it moves once: not where a
// scope repeats.
class CX_API DrawScope {
 public:
    DrawScope();
    // `draws` live longer.
    explicit DrawScope(const Draws& draws);
    ~DrawScope();
    DrawScope(const DrawScope&) = delete;
    DrawScope& operator=(const DrawScope&) = delete;

    // Of one that records.
    Draws& draws() { return recorded_; }

    // Whether a scope of this thread repeats.
    static bool Repeats();
    // Whether a function is to move an array: not if it has done so at its first call.
    static bool Moves(const Array& x);
    // What an array is, or was at the first call where a scope repeats; one that records keeps a
    // copy. For what a function reads before it moves it.
    static Array AsAtFirst(const Array& x);

 private:
    friend class Generator;

    // How far one generator has come.
    struct Repeated {
        size_t drawn{0};
        std::optional<State> set;  // since the last draw
    };

    // f(scope) for each of this thread that records, up to the one that repeats; null if none does.
    template <typename F>
    static DrawScope* ForScopes(const F& f);
    int Find(const Generator& generator) const;  // -1 if it is not repeated
    State GetState(int i) const;
    Array Draw(int i, Device& device);

    DrawScope* const outer_;
    Draws recorded_;
    const Draws* again_{nullptr};  // null in one that records
    std::vector<Repeated> repeated_;
    size_t read_{0};  // of again_
};

// A generator, by default that of the process, or a key: the numbers then depend on it alone.
class Source {
 public:
    Source() = default;
    Source(const Generator& generator) : generator_{&generator} {}  // NOLINT: as it is said
    Source(uint64_t key) : key_{key} {}                             // NOLINT: the same
    Source(std::optional<uint64_t> key) : key_{key} {}              // NOLINT: the same

    bool is_key() const { return key_.has_value(); }
    CX_API Array StateOn(Device& device) const;

 private:
    const Generator* generator_{nullptr};  // lives longer than the call
    std::optional<uint64_t> key_;
};

}  // namespace chainerx::random
