// Axes and shapes from attributes and inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/dims.h"
#include "chainerx/onnx/call.h"

namespace chainerx::onnx {

inline Shape ToShape(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

inline Axes ToAxes(const Call& call, const std::vector<int64_t>& values, int8_t ndim) {
    Axes axes;
    for (const int64_t v : values) axes.push_back(call.Axis(v, ndim));
    return axes;
}

// Integers that were an attribute at first, and are an input now; empty if there are none.
inline std::vector<int64_t> IntsOf(const Call& call, const char* name, size_t input) {
    if (call.HasAttribute(name)) return call.IntList(name);
    return call.Has(input) ? call.Ints(input) : std::vector<int64_t>{};
}

}  // namespace chainerx::onnx
