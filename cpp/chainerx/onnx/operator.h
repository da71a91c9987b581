// The table of operators: a row per operator and meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "chainerx/onnx/call.h"
#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {

inline constexpr int64_t kNewestOpset = 28;  // of the domain ai.onnx
inline constexpr int64_t kNewestIr = 14;
inline constexpr const char* kMicrosoft = "com.microsoft";  // what onnxruntime adds

struct Operator {
    const char* name;
    int16_t since;  // the versions of the operator set in which it means this
    int16_t until;
    Routine routine;
    bool is_foldable{true};  // false if it draws numbers, or runs graphs
    const char* domain{""};
};

// Adapts a function that returns one value, or several.
template <auto kFunction>
Values Run(const Call& call) {
    if constexpr (std::is_same_v<decltype(kFunction(call)), Values>) {
        return kFunction(call);
    } else {
        Values values;
        values.emplace_back(kFunction(call));
        return values;
    }
}

// A row for a function of the name of the operator.
#define CX_OPERATOR_SINCE(name, since) \
    Operator { #name, since, kNewestOpset, &Run<name> }
#define CX_OPERATOR_FROM_TO(name, since, until) \
    Operator { #name, since, until, &Run<name> }

// The rows of one family each.
std::span<const Operator> ElementwiseOperators();
std::span<const Operator> ShapeOperators();
std::span<const Operator> IndexOperators();
std::span<const Operator> ReduceOperators();
std::span<const Operator> LayerOperators();
std::span<const Operator> NormOperators();
std::span<const Operator> PoolOperators();
std::span<const Operator> ControlOperators();
std::span<const Operator> RecurrentOperators();
std::span<const Operator> ResizeOperators();
std::span<const Operator> AttentionOperators();
std::span<const Operator> LossOperators();
std::span<const Operator> QuantizeOperators();
std::span<const Operator> RandomOperators();
std::span<const Operator> VisionOperators();
std::span<const Operator> SignalOperators();
std::span<const Operator> OptimizerOperators();
std::span<const Operator> ConstantOperators();
std::span<const Operator> ClassicalOperators();
std::span<const Operator> FusedOperators();
std::span<const Operator> FusedQuantizeOperators();

// Returns null if there is no such operator of this version.
const Operator* FindOperator(const std::string& domain, const std::string& name, int64_t opset);
// Says which versions there are: "supported from 13 to 28", or "no version of it is supported".
std::string SupportedOpsets(const std::string& domain, const std::string& name);

}  // namespace chainerx::onnx
