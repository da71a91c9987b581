// A recorded step: its kernel calls in order, and the memory on which they work.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/fuse/fused_chain.h"
#include "chainerx/kernels/kept_call.h"

namespace chainerx::internal {

enum class MemoryKind : uint8_t {
    kTemporary,  // allocated in the step
    kArgument,   // of an argument
    kHeld,       // was there before
};

inline Extent RangeOf(const Array& x) {
    return ExtentOf(x.raw_data(), x.shape(), x.strides(), x.GetItemSize());
}

// Whether backward ends there, and stores its gradient: of what the program has unchained, too.
inline bool IsLeaf(const Slot& slot) {
    return slot.node == nullptr || slot.cut.load(std::memory_order_relaxed);
}

// A part that gives arrays to the program, which are compared when a replay is verified.
class CX_API NamedPart : public ReplayPart {
 public:
    virtual std::string name() const = 0;
    // What is now where Finish would put arrays; others in number if it is something else.
    virtual std::vector<Array> Now() const = 0;
};

// A part of some memory of the step.
struct Place {
    int memory;  // index among those of the recording
    int64_t offset;

    bool operator==(const Place&) const = default;
};

// An array operand of a call: `body` is the recording's own, and its address follows the memory.
struct RecordedArray {
    Place place;
    OperandRole role;
    ArrayBody* body;
};

// Bytes that the host gives to the device: the same at each replay, but for keys, which are drawn
// anew.
struct HostBytes {
    Place to;
    std::vector<std::byte> bytes;
    int key;          // index among the keys; -1 for none
    uint64_t add{0};  // what they begin with is the key plus this
};

// Code of the program that runs in each replay, in its place among the kernels.
class CX_API HostCode {
 public:
    virtual ~HostCode() = default;
    virtual std::string name() const = 0;
    // Runs it on arrays like those that it was recorded with, and puts what it returns into new
    // ones. What it throws ends the replay.
    virtual void Run(std::span<const Array> inputs, std::span<const Array> outputs) = 0;
    virtual bool IsSame(const HostCode& o) const = 0;
};

struct HostCall {
    std::shared_ptr<HostCode> code;
    size_t n_inputs;          // among the arrays of the call; the others are its outputs
    size_t n_keys;            // that are drawn before it
    std::vector<Array> kept;  // the arrays of the call
};

struct RecordedCall {
    Device* device;
    std::unique_ptr<KeptCall> call;  // null for bytes, and code of the program
    std::vector<RecordedArray> arrays;
    std::optional<HostBytes> bytes;
    std::string where;  // "train.py:31"; "" if it is not known
    // When it is called: after so many calls of the step.
    size_t time;
    // An interrupt in it would leave other arrays than one somewhere in the step does.
    bool is_masked{false};
    std::unique_ptr<HostCall> host{};  // code of the program

    // "Multiply", or "an array made of numbers".
    std::string name() const {
        if (host) return host->code->name();
        return call ? call->kernel().name : "array of the host";
    }
};

// Some memory of a step. The arrays of the recording are views of a buffer of its own, which stands
// for that memory and owns nothing.
struct CX_API Memory {
    MemoryKind kind;
    Buffer* stand_in;                 // owned
    int64_t nbytes{0};                // of a temporary
    size_t first_use{0};              // the same: before it, so many calls
    std::string made{};               // of a temporary: "Multiply (train.py:31)"
    std::vector<ArrayBody*> views{};  // not owned

    // For memory that was there before the step.
    Buffer* held{nullptr};                    // owned
    std::atomic<uint32_t>* holders{nullptr};  // the recordings that own a reference to it
    uint32_t version{0};                      // of `held`, when it was found; then after the step
    uint32_t writes{0};                       // that the step adds to it
    bool begins_written{false};  // the first kernel writes it: maybe that was counted before
    bool is_borrowed{false};     // the step itself wrapped it: it belongs to NumPy or the like

    Memory(MemoryKind kind, Device& device, char* data);
    Memory(Memory&& o) noexcept;
    Memory& operator=(Memory&&) = delete;
    ~Memory();

    // From now on it is at another address.
    void MoveTo(char* data);
    void Hold(Buffer& buffer);
};

// An array that leaves the step.
struct RecordedOutput {
    Place place;
    Shape shape;
    Strides strides;
    Dtype dtype;
    Device* device;
    bool read_only;
};

// The gradient of a leaf that the step reads or sets.
struct RecordedGrad {
    // How it was before the step.
    enum class Before : uint8_t {
        kAny,      // the step overwrites it
        kAbsent,   // the step adds to nothing
        kPresent,  // the step reads it: it is like an argument
    };

    Slot* slot;    // owned; null for that of an argument
    int argument;  // index among the arguments; -1 for none
    uint64_t id;
    Before before{Before::kAny};
    int memory{-1};        // of the gradient before the step
    Strides strides{};     // the same
    char* begin{nullptr};  // the same
    uint32_t writes{0};    // that the step adds to it
    bool is_set{true};
    int output{-1};  // what it is set to; -1: it is cleared

    // The calls before which it is set or cleared for the first and for the last time.
    static constexpr size_t kNever = SIZE_MAX;
    size_t first_write{kNever};
    size_t last_write{kNever};
    bool begins_cleared{false};  // the first time

    Slot* SlotIn(std::span<const Array> arguments) const {
        return slot != nullptr ? slot : arguments[static_cast<size_t>(argument)].body()->slot;
    }
};

class CX_API Recording {
 public:
    Recording() = default;
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    std::vector<RecordedCall> calls;
    std::vector<std::unique_ptr<FusedChain>> chains;  // operands of calls
    std::vector<Memory> memories;                     // Place::memory is the index
    std::vector<int> argument_memories;               // by argument
    std::vector<Extent> argument_extents;
    std::vector<uint32_t> argument_writes;  // by argument, that the step adds to its memory
    // Gradients, too; alive until it is known whether the next recording has others elsewhere.
    std::vector<Array> argument_arrays;
    // A gradient lies in memory of another one or of an argument, as it may not in other calls.
    bool has_shared_grad{false};
    std::vector<std::function<uint64_t()>> keys;
    std::vector<std::shared_ptr<ReplayPart>> parts;
    std::vector<size_t> part_outputs;     // by part, how many
    std::vector<RecordedOutput> outputs;  // of the step, of the parts, then gradients
    size_t n_results{0};                  // of the step
    std::vector<RecordedGrad> grads;
    std::vector<Slot*> variables;  // that the step uses; owned
    std::string result;            // what was returned besides arrays, in words
    std::string doubt;             // why it must not be replayed; see CaptureObserver::Doubt

    // Returns whether an argument lies in memory that the step also uses without it: it would not
    // be known which of them an operand is.
    bool IsHeld(Extent argument) const;

    // Returns whether the gradients of leaves are there that it was recorded with.
    bool Fits(std::span<const Array> arguments) const;

    // Returns what differs in another recording of the step: "Multiply (train.py:31): x2 was 0.1,
    // now 0.0999"; nullopt if nothing does.
    std::optional<std::string> FindDifference(const Recording& o) const;
};

}  // namespace chainerx::internal
