// A model that is checked and ready to run: its graphs as steps, in an order in which all that a
// step reads is there. Names have become slots, numbers that are unique in the whole model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/onnx/model.h"
#include "chainerx/onnx/node_label.h"
#include "chainerx/onnx/value.h"

namespace chainerx::onnx {

class Call;
struct Block;
struct Operator;
struct Prepared;

// Computes the outputs of a step.
using Routine = Values (*)(const Call& call);

struct Attribute {
    std::string name;
    int64_t type{0};  // as AttributeMessage's
    float f{0};
    int64_t i{0};
    std::string s;
    Array tensor;  // on native:0
    std::shared_ptr<const Block> block;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<std::string> strings;
};

inline constexpr int kNoSlot = -1;

// What is the same in each run is computed once and kept, up to this size: a few bytes of a file
// may describe a huge value.
inline constexpr int64_t kMaxFoldedBytes = 1 << 20;

struct Step {
    NodeLabel label;
    int64_t opset{0};
    Routine routine{nullptr};
    std::vector<Attribute> attributes;
    std::vector<int> inputs;                   // kNoSlot for a missing one
    std::vector<int> outputs;                  // kNoSlot for one that nobody reads
    std::vector<int> freed;                    // slots of the same graph that no later step reads
    bool is_foldable{false};                   // gives the same result each time
    const Operator* op{nullptr};               // null for a function of the model
    std::shared_ptr<const Prepared> prepared;  // null except in a FusedPlan
};

// What a graph says of one of its outputs; -1 for an axis of any length.
struct DeclaredOutput {
    int64_t elem_type{0};
    std::optional<std::vector<int64_t>> lengths{};
};

struct Block {
    std::vector<int> inputs;
    std::vector<int> outputs;
    std::vector<DeclaredOutput> declared;  // by output
    std::vector<Step> steps;
};

// The slots of one run.
struct Frame {
    Values slots;
    Device* device;     // of the model
    bool trains{true};  // false: nodes in training mode run as in inference
    // Slots of running statistics, with the values that nodes in training mode give them.
    std::vector<std::pair<int, Array>> statistics{};
    // Gives the RNG key of a run that draws numbers; null for the default generator.
    const std::function<uint64_t()>* draw_key{nullptr};
    std::optional<uint64_t> key{};  // of the latest draw
    // Slots whose values are the same in each run that is captured; null: none are.
    const std::unordered_set<int>* known{nullptr};

    Value& At(int slot) { return slots[static_cast<size_t>(slot)]; }
    const Value& At(int slot) const { return slots[static_cast<size_t>(slot)]; }
};

// The slots that a step reads, those of graphs within it included.
std::vector<int> ReadBy(const Step& step);
// Lets each step free the values of the block that no later one reads; those of `kept` stay.
void FreeEarly(const std::unordered_set<int>& kept, Block* block);

// Runs a graph within a graph, and returns its outputs. DimensionError for another number of
// inputs.
Values RunBlock(const Block& block, Values inputs, Frame& frame);
// Is called around each step of a block, but not of those within.
class StepWatcher {
 public:
    virtual ~StepWatcher() = default;
    virtual void Before() {}
    // While all that the step read and made is still there.
    virtual void After(const Step& step, const Frame& frame) = 0;
};
void RunSteps(const Block& block, Frame& frame, StepWatcher* watcher = nullptr);
// Throws the exception that is being handled again, its message after the name of the step.
[[noreturn]] void RethrowFrom(const Step& step);

}  // namespace chainerx::onnx
