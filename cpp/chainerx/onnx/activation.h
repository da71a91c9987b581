// Activations by name: those of recurrent layers, and of products that onnxruntime fuses with one.
#pragma once

#include <string>
#include <string_view>

#include "chainerx/core/array.h"

namespace chainerx::onnx {

struct Activation {
    std::string name;  // in small letters
    float alpha{0};
    float beta{0};
    bool has_alpha{false};
    bool has_beta{false};

    // NotImplementedError if it has an unknown name.
    Array operator()(const Array& x) const;
};

// With the numbers that it has unless a model says others.
Activation DefaultActivation(std::string_view name);

}  // namespace chainerx::onnx
