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
    friend class UsedGenerators;
    class Impl;
    struct Live;

    static Live& GetLive();
    // Tells those who look, before the state changes.
    void NoteUse() const;

    std::shared_ptr<Impl> impl_;
};

// The generators that this thread draws from or sets during its life, and the states in which they
// were found. They lie inside one another, and all of them see each use.
class CX_API UsedGenerators {
 public:
    using List = std::vector<std::pair<Generator, State>>;

    UsedGenerators();
    ~UsedGenerators();
    UsedGenerators(const UsedGenerators&) = delete;
    UsedGenerators& operator=(const UsedGenerators&) = delete;

    const List& found() const { return found_; }

 private:
    friend class Generator;

    UsedGenerators* const outer_;
    List found_;
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
