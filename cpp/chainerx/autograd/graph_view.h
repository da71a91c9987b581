// Views of the graph as data: the operation that made an array, and its inputs. Views are small
// values that keep what they show alive, as an array does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chainerx/autograd/op_info.h"
#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/macro.h"

namespace chainerx {

namespace internal {
struct Node;
struct Slot;

// Returns the slot of the array, without expired ids; null if it is in no graph.
Slot* CurrentSlot(const Array& x);
}  // namespace internal

class GraphNode;

// A value in the graphs: the output of an operation, or a leaf.
class CX_API GraphValue {
 public:
    // Adds a reference.
    GraphValue(internal::Slot* slot, uint64_t mask);
    GraphValue(const GraphValue& o) : GraphValue{o.slot_, o.mask_} {}
    GraphValue& operator=(GraphValue o) noexcept;
    ~GraphValue();

    const Shape& shape() const;
    Dtype dtype() const;
    Device& device() const;
    // Returns the ids of the graphs that contain the value; for an input, those for which it was
    // recorded.
    std::vector<BackpropId> backprop_ids() const;
    bool IsRecorded(uint64_t mask) const { return (mask_ & mask) != 0; }
    std::optional<GraphNode> creator() const;
    int output_index() const;  // among the outputs of the creator
    // Returns null if nobody holds the array any more.
    std::optional<Array> array() const;

    // Identifies the value while it lives.
    const void* id() const { return slot_; }

    friend bool operator==(const GraphValue& a, const GraphValue& b) { return a.slot_ == b.slot_; }

 private:
    internal::Slot* slot_;
    uint64_t mask_;
};

// One recorded operation.
class CX_API GraphNode {
 public:
    // Adds a reference.
    explicit GraphNode(internal::Node* node);
    GraphNode(const GraphNode& o) : GraphNode{o.node_} {}
    GraphNode& operator=(GraphNode o) noexcept;
    ~GraphNode();

    const char* name() const { return op().name; }
    const OpInfo& op() const;
    int64_t rank() const;  // length of the longest path to a leaf
    // Returns the recorded attributes, in the order of the kernel's; none once backward has
    // released them.
    std::vector<double> attributes() const;
    uint64_t sequence() const;  // greater than that of every node it depends on
    // Returns the ids whose backward has not run yet.
    std::vector<BackpropId> backprop_ids() const;
    // Returns one value per input of the operation; null where the input was in no recorded graph,
    // and all null once backward has released the node.
    std::vector<std::optional<GraphValue>> inputs() const;
    std::vector<GraphValue> outputs() const;
    // Cuts the operation from its inputs, and frees what it saved.
    void Unchain() const;
    // Identifies the node while it lives.
    const void* id() const { return node_; }

    friend bool operator==(const GraphNode& a, const GraphNode& b) { return a.node_ == b.node_; }

 private:
    internal::Node* node_;
};

// Returns null if the array is in no graph.
CX_API std::optional<GraphValue> GetGraphValue(const Array& x);
// Returns whether `x` is the result of an operation in the graph of `id` (by default the default
// one).
CX_API bool IsChained(const Array& x, const std::optional<BackpropId>& id = std::nullopt);
// Makes `x` a leaf, at which backward ends. The other outputs of its creator are unchanged.
CX_API void Unchain(const Array& x);
// Returns one line per operation on which `x` depends in the graph of `id`, starting at `x`.
CX_API std::string DumpGraph(const Array& x, const std::optional<BackpropId>& id = std::nullopt);

}  // namespace chainerx
