// What runs along an edge of a graph: an array, a sequence of values, or the absence of both.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"

namespace chainerx::onnx {

struct Value;
using Values = std::vector<Value>;

struct Value {
    Array array;                             // null unless it is an array
    std::shared_ptr<const Values> sequence;  // null unless it is a sequence

    Value() = default;
    Value(Array a) : array{std::move(a)} {}  // NOLINT: an array is a value
    static Value Sequence(Values values) {
        Value v;
        v.sequence = std::make_shared<const Values>(std::move(values));
        return v;
    }

    // Whether there is nothing: an optional value of ONNX that is empty.
    bool is_none() const { return array.is_null() && sequence == nullptr; }
};

}  // namespace chainerx::onnx
