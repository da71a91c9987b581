// The messages of a file of ONNX, as they are written; nothing but their form is checked. What is
// a view lies in the bytes of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/onnx/node_label.h"

namespace chainerx::onnx {

// TensorProto.
struct TensorMessage {
    std::string name;
    int64_t data_type{0};
    std::vector<int64_t> dims;
    bool has_raw{false};
    std::string_view raw;
    std::vector<int64_t> ints;  // of int32_data, int64_data or uint64_data
    std::vector<float> floats;
    std::vector<double> doubles;
    bool has_strings{false};
    bool is_external{false};
    std::vector<std::pair<std::string, std::string>> external;  // keys and values
};

struct GraphMessage;

// AttributeProto; `type` has the numbers of AttributeProto.AttributeType.
struct AttributeMessage {
    static constexpr int64_t kFloat = 1, kInt = 2, kString = 3, kTensor = 4, kGraph = 5;
    static constexpr int64_t kFloats = 6, kInts = 7, kStrings = 8, kTensors = 9, kGraphs = 10;

    std::string name;
    std::string reference;  // of the attribute of a function that it stands for
    int64_t type{0};
    float f{0};
    int64_t i{0};
    std::string s;
    std::shared_ptr<TensorMessage> tensor;
    std::shared_ptr<GraphMessage> graph;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<std::string> strings;
    std::string refused;  // the name of a kind of value that no operator here has
};

// NodeProto.
struct NodeMessage {
    std::string name;
    std::string op_type;
    std::string domain;
    std::string overload;
    std::vector<std::string> inputs;  // "" for a missing one
    std::vector<std::string> outputs;
    std::vector<AttributeMessage> attributes;

    NodeLabel Label() const;
    std::string Describe() const { return Label().ToString(); }
};

// A dimension of TypeProto: of fixed length, of a name, or of neither.
struct DimMessage {
    int64_t length{-1};
    std::string name;
};

// ValueInfoProto. `elem_type` is 0 for what is no tensor.
struct ValueMessage {
    std::string name;
    int64_t elem_type{0};
    bool has_shape{false};
    std::vector<DimMessage> dims;
};

// GraphProto.
struct GraphMessage {
    std::string name;
    std::vector<NodeMessage> nodes;
    std::vector<TensorMessage> initializers;
    std::vector<ValueMessage> inputs;
    std::vector<ValueMessage> outputs;
    bool has_sparse{false};
};

// OperatorSetIdProto.
struct OpsetMessage {
    std::string domain;
    int64_t version{0};
};

// FunctionProto.
struct FunctionMessage {
    std::string name;
    std::string domain;
    std::string overload;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::string> attributes;  // names of those without a default
    std::vector<AttributeMessage> defaults;
    std::vector<NodeMessage> nodes;
    std::vector<OpsetMessage> opsets;
};

// ModelProto.
struct ModelMessage {
    int64_t ir_version{0};
    std::string producer;
    std::vector<OpsetMessage> opsets;
    GraphMessage graph;
    std::vector<FunctionMessage> functions;
    bool has_graph{false};
};

// ValueError that names message and field if the bytes are no model.
ModelMessage ReadModel(std::string_view bytes);

}  // namespace chainerx::onnx
