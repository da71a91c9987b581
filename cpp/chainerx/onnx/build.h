// Checks a model that was read, and makes a plan of it.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "chainerx/onnx/file_bytes.h"
#include "chainerx/onnx/messages.h"
#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {

using Names = std::unordered_set<std::string>;

// All that a node reads, by graphs in its attributes, too.
Names ReadBy(const NodeMessage& node);

struct Constant {
    int slot;
    Value value;
    std::string name;   // of an initializer of the main graph; else ""
    bool is_parameter;  // a float initializer of the main graph
    // Of parameters, whose values may be absent.
    bool is_statistic{false};  // a running mean or variance
    Dtype dtype{};
    Shape shape{};
};

struct Plan {
    Block block;
    std::vector<Constant> constants;
    std::vector<Step> folded;  // depend on no input and no parameter, and run once
    // Memory of tensors in attributes. It may be freed: no array is read through these.
    std::unordered_set<const Buffer*> attributes;
    int n_slots{0};
};

// NotImplementedError that lists all operators that are unknown, or not in this version; ValueError
// for all other defects: names that nothing makes, or two nodes do; cycles; a missing opset.
// If the bytes of the model are those of `file`, it gives back the memory of tensors while it
// copies them, so that they can't be read again from the message.
Plan BuildPlan(const ModelMessage& model, const std::string& folder, FileBytes* file = nullptr);

}  // namespace chainerx::onnx
