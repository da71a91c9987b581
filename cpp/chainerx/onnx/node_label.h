// What errors and profiles call a node.
#pragma once

#include <string>

namespace chainerx::onnx {

struct NodeLabel {
    std::string name;  // of the node; of its first output if it has none
    std::string op;    // with its domain, if that is not ONNX's own
    bool has_name{false};

    // As in 'node "conv1" (Conv)'.
    std::string ToString() const;
};

}  // namespace chainerx::onnx
