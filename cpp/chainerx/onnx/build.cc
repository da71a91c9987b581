#include "chainerx/onnx/build.h"

#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/messages.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/tensor.h"

namespace chainerx::onnx {
namespace {

// Functions call functions, so that a small file may describe a huge graph.
constexpr int kMaxCalls = 32;
constexpr int64_t kMaxSteps = 200'000;
constexpr size_t kMaxCopiedBytes = size_t{1} << 28;
constexpr size_t kBytesPerName = 64;  // of an input or output, in the tables of names and slots

using FunctionKey = std::tuple<std::string, std::string, std::string>;
using Opsets = std::map<std::string, int64_t>;

Opsets ToOpsets(const std::vector<OpsetMessage>& messages) {
    Opsets opsets;
    for (const OpsetMessage& o : messages) opsets[o.domain] = o.version;
    return opsets;
}

// The names that a graph reads from around it.
void AddFreeNames(const GraphMessage& graph, Names& free) {
    Names read;
    Names made;
    for (const NodeMessage& node : graph.nodes) {
        read.insert(node.inputs.begin(), node.inputs.end());
        made.insert(node.outputs.begin(), node.outputs.end());
        for (const AttributeMessage& a : node.attributes) {
            if (a.graph != nullptr) AddFreeNames(*a.graph, read);
        }
    }
    for (const ValueMessage& v : graph.outputs) read.insert(v.name);
    for (const ValueMessage& v : graph.inputs) made.insert(v.name);
    for (const TensorMessage& t : graph.initializers) made.insert(t.name);
    for (const std::string& name : read) {
        if (!name.empty() && !made.contains(name)) free.insert(name);
    }
}

// Runs the body of a function of the model.
Values RunFunction(const Call& call) {
    Values inputs;
    for (size_t i = 0; i < call.n_inputs(); ++i) inputs.push_back(call.In(i));
    const Block& body = call.Graph("body");
    inputs.resize(body.inputs.size());
    return RunBlock(body, std::move(inputs), call.frame());
}

// What surrounds the nodes of a graph.
struct Scope {
    const Scope* outer;  // null for the main graph, and for the body of a function
    std::unordered_map<std::string, int> slots;
    const Opsets* opsets;
    // The attributes that the nodes of a function refer to.
    const std::unordered_map<std::string, const AttributeMessage*>* arguments;
    int depth;  // of calls of functions

    int Find(const std::string& name) const {
        for (const Scope* s = this; s != nullptr; s = s->outer) {
            const auto i = s->slots.find(name);
            if (i != s->slots.end()) return i->second;
        }
        return kNoSlot;
    }
};

class Builder {
 public:
    Builder(const ModelMessage& model, const std::string& folder, FileBytes* file)
        : model_{model}, folder_{folder}, file_{file}, opsets_{ToOpsets(model.opsets)} {
        for (const FunctionMessage& f : model.functions) {
            const FunctionKey key{f.domain, f.name, f.overload};
            if (!functions_.emplace(key, &f).second) {
                throw ValueError{"onnx: function ", f.domain, ".", f.name, " is defined twice"};
            }
        }
    }

    Plan Build() {
        CheckOperators();
        Scope scope{nullptr, {}, &opsets_, nullptr, 0};
        plan_.block = BuildBlock(model_.graph, scope, /*is_main=*/true);
        for (Constant& c : plan_.constants) {
            c.is_statistic = c.is_parameter && statistics_.contains(c.slot);
        }
        return std::move(plan_);
    }

 private:
    const FunctionMessage* FindFunction(const NodeMessage& node) const {
        const auto i = functions_.find({node.domain, node.op_type, node.overload});
        return i != functions_.end() ? i->second : nullptr;
    }

    void CheckNode(const NodeMessage& node, const Opsets& opsets) {
        for (const AttributeMessage& a : node.attributes) {
            if (a.graph == nullptr) continue;
            for (const NodeMessage& inner : a.graph->nodes) CheckNode(inner, opsets);
        }
        if (FindFunction(node) != nullptr) return;
        const auto opset = opsets.find(node.domain);
        const std::string domain = node.domain.empty() ? "ai.onnx" : node.domain;
        std::string fault;
        if (opset == opsets.end()) {
            fault = StrCat(node.op_type, ": the model imports no version of the domain ", domain);
        } else if (FindOperator(node.domain, node.op_type, opset->second) == nullptr) {
            fault = StrCat(node.op_type, " of version ", opset->second, " of ", domain, ": ",
                           SupportedOpsets(node.domain, node.op_type));
        }
        if (!fault.empty() && unknown_.insert(fault).second) {
            first_nodes_[fault] = node.Describe();
        }
    }

    void CheckOperators() {
        for (const NodeMessage& node : model_.graph.nodes) CheckNode(node, opsets_);
        for (const FunctionMessage& f : model_.functions) {
            const Opsets opsets = ToOpsets(f.opsets);
            for (const NodeMessage& node : f.nodes) CheckNode(node, opsets);
        }
        if (unknown_.empty()) return;
        std::string message = "onnx: the model has operators that are not supported:";
        for (const std::string& key : unknown_) {
            message += "\n  " + key;
            if (const auto i = first_nodes_.find(key); i != first_nodes_.end()) {
                message += " (" + i->second + ")";
            }
        }
        throw NotImplementedError{message};
    }

    int NewSlot() { return plan_.n_slots++; }

    int Declare(Scope& scope, const std::string& name, const std::string& by) {
        const int slot = NewSlot();
        if (!scope.slots.emplace(name, slot).second) {
            throw ValueError{"onnx: ", by, " makes \"", name, "\", which something else makes too"};
        }
        return slot;
    }

    // The array of a tensor; the same one for each call of a function that has it.
    Array Loaded(const TensorMessage& tensor, const std::string& what) {
        Array& x = loaded_[&tensor];
        if (!x.is_null()) return x;
        x = ToArray(tensor, folder_, what);
        if (file_ != nullptr) file_->Release(tensor.raw);
        return x;
    }

    void AddInitializers(const GraphMessage& graph, Scope& scope, bool is_main) {
        if (graph.has_sparse) {
            throw NotImplementedError{"onnx: graph \"", graph.name,
                                      "\" has sparse initializers, which are not supported"};
        }
        Names inputs;
        for (const ValueMessage& v : graph.inputs) inputs.insert(v.name);
        for (const TensorMessage& t : graph.initializers) {
            const std::string what = StrCat("onnx: initializer \"", t.name, "\"");
            Array x = Loaded(t, what);
            // One of the same name as an input of the main graph is its default.
            const bool is_default = is_main && inputs.contains(t.name);
            if (is_default && !defaults_.insert(t.name).second) {
                throw ValueError{what, " is there twice"};
            }
            const int slot =
                is_default ? scope.slots.at(t.name) : Declare(scope, t.name, "an initializer");
            const bool is_parameter = is_main && IsFloat(x.dtype());
            if (!is_parameter && !is_default) constant_.insert(slot);
            constants_.insert(slot);
            Constant c{slot, x, is_main ? t.name : "", is_parameter};
            c.dtype = x.dtype();
            c.shape = x.shape();
            plan_.constants.push_back(std::move(c));
        }
    }

    Block BuildBlock(const GraphMessage& graph, Scope& scope, bool is_main) {
        Block block;
        for (const ValueMessage& v : graph.inputs) {
            block.inputs.push_back(Declare(scope, v.name, "an input"));
        }
        AddInitializers(graph, scope, is_main);
        std::vector<std::string> outputs;
        for (const ValueMessage& v : graph.outputs) {
            outputs.push_back(v.name);
            DeclaredOutput& declared = block.declared.emplace_back(DeclaredOutput{v.elem_type});
            if (!v.has_shape) continue;
            declared.lengths.emplace();
            for (const DimMessage& dim : v.dims) declared.lengths->push_back(dim.length);
        }
        AddSteps(graph.nodes, outputs, scope, block, is_main);
        return block;
    }

    // Nodes in an order in which each comes after those whose outputs it reads: the order of the
    // file, where it is one.
    std::vector<size_t> Order(const std::vector<NodeMessage>& nodes,
                              const std::vector<Names>& reads) const {
        std::unordered_map<std::string, size_t> makers;
        for (size_t i = 0; i < nodes.size(); ++i) {
            for (const std::string& name : nodes[i].outputs) {
                if (!name.empty()) makers.emplace(name, i);
            }
        }
        std::vector<std::vector<size_t>> readers(nodes.size());
        std::vector<size_t> waits(nodes.size(), 0);
        for (size_t i = 0; i < nodes.size(); ++i) {
            for (const std::string& name : reads[i]) {
                const auto maker = makers.find(name);
                if (maker == makers.end()) continue;
                readers[maker->second].push_back(i);
                ++waits[i];
            }
        }
        std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
        for (size_t i = 0; i < nodes.size(); ++i) {
            if (waits[i] == 0) ready.push(i);
        }
        std::vector<size_t> order;
        while (!ready.empty()) {
            const size_t i = ready.top();
            ready.pop();
            order.push_back(i);
            for (const size_t reader : readers[i]) {
                if (--waits[reader] == 0) ready.push(reader);
            }
        }
        if (order.size() != nodes.size()) {
            size_t i = 0;
            while (waits[i] == 0) ++i;
            throw ValueError{"onnx: ", nodes[i].Describe(), " is part of a cycle, or after one"};
        }
        return order;
    }

    void AddSteps(const std::vector<NodeMessage>& nodes, const std::vector<std::string>& outputs,
                  Scope& scope, Block& block, bool is_main) {
        std::vector<Names> reads;
        Names read(outputs.begin(), outputs.end());
        for (const NodeMessage& node : nodes) {
            reads.push_back(ReadBy(node));
            read.insert(reads.back().begin(), reads.back().end());
        }
        const std::vector<size_t> order = Order(nodes, reads);
        for (const size_t i : order) {
            for (const std::string& name : nodes[i].outputs) {
                if (!name.empty()) Declare(scope, name, nodes[i].Describe());
            }
        }
        for (const size_t i : order) {
            for (const std::string& name : reads[i]) {
                if (scope.Find(name) == kNoSlot) {
                    throw ValueError{"onnx: ", nodes[i].Describe(), " reads \"", name,
                                     "\", which nothing makes"};
                }
            }
            Step step = BuildStep(nodes[i], scope, read);
            bool is_folded = is_main && step.is_foldable;
            for (const int slot : step.inputs) {
                is_folded = is_folded && (slot == kNoSlot || constant_.contains(slot));
            }
            if (is_folded) {
                constant_.insert(step.outputs.begin(), step.outputs.end());
            }
            (is_folded ? plan_.folded : block.steps).push_back(std::move(step));
        }
        for (const std::string& name : outputs) {
            const int slot = scope.Find(name);
            if (slot == kNoSlot) {
                throw ValueError{"onnx: the output \"", name, "\" of a graph is made by nothing"};
            }
            block.outputs.push_back(slot);
        }
        FreeEarly(constants_, &block);
    }

    Step BuildStep(const NodeMessage& node, const Scope& scope, const Names& read) {
        if (scope.depth > 0 && ++n_steps_ > kMaxSteps) {
            throw ValueError{"onnx: expanded, the functions of the model have more than ",
                             kMaxSteps, " nodes"};
        }
        Step step;
        step.label = node.Label();
        const std::string what = step.label.ToString();
        CountCopy(
            sizeof(Step) + what.size() + (node.inputs.size() + node.outputs.size()) * kBytesPerName,
            scope, what);
        for (const std::string& name : node.inputs) {
            step.inputs.push_back(name.empty() ? kNoSlot : scope.Find(name));
        }
        for (const std::string& name : node.outputs) {
            const bool is_read = !name.empty() && read.contains(name);
            step.outputs.push_back(is_read ? scope.Find(name) : kNoSlot);
        }
        if (const FunctionMessage* function = FindFunction(node)) {
            step.routine = &RunFunction;
            step.attributes.push_back(BuildCall(*function, node, scope));
            return step;
        }
        if (node.domain.empty() && node.op_type == "BatchNormalization") {
            for (size_t i = 3; i < step.inputs.size(); ++i) statistics_.insert(step.inputs[i]);
        }
        step.opset = scope.opsets->at(node.domain);
        const Operator& op = *FindOperator(node.domain, node.op_type, step.opset);
        step.op = &op;
        step.routine = op.routine;
        step.is_foldable = op.is_foldable;
        for (const AttributeMessage& a : node.attributes) {
            const AttributeMessage* value = &a;
            if (!a.reference.empty()) {
                value = FindArgument(scope, a.reference);
                if (value == nullptr) continue;  // the caller leaves it at its default
            }
            step.attributes.push_back(BuildAttribute(*value, a.name, what, scope));
        }
        return step;
    }

    // Counts what the expansion of functions copies.
    void CountCopy(size_t nbytes, const Scope& scope, const std::string& what) {
        if (scope.depth > 0) copied_ += nbytes;
        if (copied_ > kMaxCopiedBytes) {
            throw ValueError{what, ": expanded, the functions of the model have more than ",
                             kMaxCopiedBytes, " bytes"};
        }
    }

    static const AttributeMessage* FindArgument(const Scope& scope, const std::string& name) {
        if (scope.arguments == nullptr) return nullptr;
        const auto i = scope.arguments->find(name);
        return i != scope.arguments->end() ? i->second : nullptr;
    }

    Attribute BuildAttribute(const AttributeMessage& a, const std::string& name,
                             const std::string& node, const Scope& scope) {
        const std::string what = StrCat("onnx: ", node, ": attribute ", name);
        if (!a.refused.empty()) {
            throw NotImplementedError{what, " holds ", a.refused, ", which is not supported"};
        }
        size_t nbytes = name.size() + a.s.size() + a.floats.size() * sizeof(float) +
                        a.ints.size() * sizeof(int64_t) + a.strings.size() * sizeof(std::string);
        for (const std::string& s : a.strings) nbytes += s.size();
        CountCopy(nbytes, scope, what);
        Attribute made{name, a.type, a.f, a.i, a.s, {}, {}, a.floats, a.ints, a.strings};
        // Old files have no types.
        if (made.type == 0) {
            made.type = a.graph != nullptr    ? AttributeMessage::kGraph
                        : a.tensor != nullptr ? AttributeMessage::kTensor
                        : !a.ints.empty()     ? AttributeMessage::kInts
                        : !a.floats.empty()   ? AttributeMessage::kFloats
                        : !a.strings.empty()  ? AttributeMessage::kStrings
                        : !a.s.empty()        ? AttributeMessage::kString
                        : a.f != 0            ? AttributeMessage::kFloat
                                              : AttributeMessage::kInt;
        }
        if (made.type == AttributeMessage::kTensor) {
            if (a.tensor == nullptr) throw ValueError{what, " should be a tensor, but has none"};
            made.tensor = Loaded(*a.tensor, what);
            plan_.attributes.insert(made.tensor.buffer());
        }
        if (made.type == AttributeMessage::kGraph) {
            if (a.graph == nullptr) throw ValueError{what, " should be a graph, but has none"};
            Scope inner{&scope, {}, scope.opsets, scope.arguments, scope.depth};
            made.block = std::make_shared<const Block>(BuildBlock(*a.graph, inner, false));
        }
        return made;
    }

    Attribute BuildCall(const FunctionMessage& f, const NodeMessage& node, const Scope& scope) {
        const std::string what = StrCat("onnx: ", node.Describe());
        if (scope.depth == kMaxCalls) {
            throw ValueError{what, ": functions call each other more than ", kMaxCalls, " deep"};
        }
        if (node.inputs.size() > f.inputs.size() || node.outputs.size() > f.outputs.size()) {
            throw ValueError{what,
                             " has ",
                             node.inputs.size(),
                             " inputs and ",
                             node.outputs.size(),
                             " outputs, but its function ",
                             f.inputs.size(),
                             " and ",
                             f.outputs.size()};
        }
        CountCopy((f.inputs.size() + f.outputs.size() + f.defaults.size() + f.opsets.size()) *
                      kBytesPerName,
                  scope, what);
        std::unordered_map<std::string, const AttributeMessage*> arguments;
        for (const AttributeMessage& a : f.defaults) arguments[a.name] = &a;
        for (const AttributeMessage& a : node.attributes) {
            const AttributeMessage* value = &a;
            if (!a.reference.empty()) value = FindArgument(scope, a.reference);
            if (value != nullptr) arguments[a.name] = value;
        }
        const Opsets opsets = ToOpsets(f.opsets);
        Scope inner{nullptr, {}, &opsets, &arguments, scope.depth + 1};
        Block block;
        for (const std::string& name : f.inputs) {
            block.inputs.push_back(Declare(inner, name, "an input of a function"));
        }
        AddSteps(f.nodes, f.outputs, inner, block, false);
        Attribute body;
        body.name = "body";
        body.type = AttributeMessage::kGraph;
        body.block = std::make_shared<const Block>(std::move(block));
        return body;
    }

    const ModelMessage& model_;
    const std::string& folder_;
    FileBytes* file_;
    Opsets opsets_;
    std::map<FunctionKey, const FunctionMessage*> functions_;
    std::set<std::string> unknown_;
    std::map<std::string, std::string> first_nodes_;
    Plan plan_;
    Names defaults_;
    std::unordered_set<int> constant_;    // slots whose values depend on no input and no parameter
    std::unordered_set<int> constants_;   // slots of initializers
    std::unordered_set<int> statistics_;  // slots that are read as running means or variances
    std::unordered_map<const TensorMessage*, Array> loaded_;
    int64_t n_steps_{0};  // of functions
    size_t copied_{0};
};

}  // namespace

Names ReadBy(const NodeMessage& node) {
    Names read;
    for (const std::string& name : node.inputs) {
        if (!name.empty()) read.insert(name);
    }
    for (const AttributeMessage& a : node.attributes) {
        if (a.graph != nullptr) AddFreeNames(*a.graph, read);
    }
    return read;
}

Plan BuildPlan(const ModelMessage& model, const std::string& folder, FileBytes* file) {
    if (!model.has_graph) throw ValueError{"onnx: ModelProto.graph is missing"};
    if (model.ir_version < 3 || model.ir_version > kNewestIr) {
        throw ValueError{"onnx: ModelProto.ir_version is ", model.ir_version, ", expected 3 to ",
                         kNewestIr};
    }
    for (const OpsetMessage& o : model.opsets) {
        if (o.domain.empty() && (o.version < 1 || o.version > kNewestOpset)) {
            throw NotImplementedError{"onnx: the model needs version ", o.version,
                                      " of the operators of ai.onnx, expected 1 to ", kNewestOpset};
        }
    }
    return Builder{model, folder, file}.Build();
}

}  // namespace chainerx::onnx
