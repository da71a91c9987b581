#include "chainerx/onnx/select.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/build.h"

namespace chainerx::onnx {
namespace {

// All values that these depend on, themselves included.
Names Needed(const GraphMessage& graph, const std::vector<std::string>& names) {
    std::unordered_map<std::string, const NodeMessage*> makers;
    for (const NodeMessage& node : graph.nodes) {
        for (const std::string& name : node.outputs) {
            if (!name.empty()) makers.emplace(name, &node);
        }
    }
    Names needed(names.begin(), names.end());
    std::vector<std::string> left = names;
    while (!left.empty()) {
        const auto maker = makers.find(left.back());
        left.pop_back();
        if (maker == makers.end()) continue;
        for (const std::string& name : ReadBy(*maker->second)) {
            if (needed.insert(name).second) left.push_back(name);
        }
    }
    return needed;
}

bool Contains(const auto& values, const std::string& name) {
    return std::any_of(values.begin(), values.end(),
                       [&name](const auto& v) { return v.name == name; });
}

bool IsMade(const GraphMessage& graph, const std::string& name) {
    const auto makes = [&name](const NodeMessage& n) {
        return std::find(n.outputs.begin(), n.outputs.end(), name) != n.outputs.end();
    };
    return Contains(graph.inputs, name) || Contains(graph.initializers, name) ||
           std::any_of(graph.nodes.begin(), graph.nodes.end(), makes);
}

}  // namespace

void SelectOutputs(GraphMessage& graph, const std::vector<std::string>& names) {
    std::vector<ValueMessage> outputs;
    for (const std::string& name : names) {
        if (name.empty() || !IsMade(graph, name)) {
            throw ValueError{"onnx: outputs has \"", name,
                             "\", but no node, input or initializer of the model has this name"};
        }
        if (Contains(outputs, name)) throw ValueError{"onnx: outputs has \"", name, "\" twice"};
        const auto known = std::find_if(graph.outputs.begin(), graph.outputs.end(),
                                        [&name](const ValueMessage& v) { return v.name == name; });
        ValueMessage output;
        output.name = name;
        outputs.push_back(known != graph.outputs.end() ? *known : std::move(output));
    }
    graph.outputs = std::move(outputs);
    const Names needed = Needed(graph, names);
    std::erase_if(graph.nodes, [&needed](const NodeMessage& n) {
        return std::none_of(n.outputs.begin(), n.outputs.end(),
                            [&needed](const std::string& name) { return needed.contains(name); });
    });
    const auto is_unneeded = [&needed](const auto& v) { return !needed.contains(v.name); };
    std::erase_if(graph.initializers, is_unneeded);
    std::erase_if(graph.inputs, is_unneeded);
}

}  // namespace chainerx::onnx
