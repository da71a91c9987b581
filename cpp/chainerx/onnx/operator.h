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
#define CX_FAMILY(family) std::span<const Operator> family##Operators();
#include "chainerx/onnx/families.def"
#undef CX_FAMILY

// Returns null if there is no such operator of this version.
const Operator* FindOperator(const std::string& domain, const std::string& name, int64_t opset);
// Says which versions there are: "supported from 13 to 28", or "no version of it is supported".
std::string SupportedOpsets(const std::string& domain, const std::string& name);

}  // namespace chainerx::onnx
