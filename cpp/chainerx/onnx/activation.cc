#include "chainerx/onnx/activation.h"

#include <cctype>

#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/where.h"

namespace chainerx::onnx {

Array Activation::operator()(const Array& x) const {
    if (name == "sigmoid") return Sigmoid(x);
    if (name == "tanh") return Tanh(x);
    if (name == "relu") return Relu(x);
    if (name == "affine") return x * alpha + beta;
    if (name == "leakyrelu") return LeakyRelu(x, alpha);
    if (name == "thresholdedrelu") return Where(x >= alpha, x, 0);
    if (name == "scaledtanh") return Tanh(x * beta) * alpha;
    if (name == "hardsigmoid") return Clip(x * alpha + beta, 0, 1);
    if (name == "elu") return Elu(x, double{alpha});
    if (name == "softsign") return x / (Absolute(x) + 1);
    if (name == "softplus") return Softplus(x);
    if (name == "clip") return Clip(x, alpha, beta);
    throw NotImplementedError{"the activation \"", name, "\" is unknown"};
}

Activation DefaultActivation(std::string_view name) {
    // Numbers that are there are given in order to those activations that have any.
    static constexpr struct {
        std::string_view name;
        float alpha, beta;
        bool has_beta;
    } kDefaults[] = {{"affine", 1, 0, true},     {"leakyrelu", 0.01F, 0, false},
                     {"clip", 0, 0, true},       {"thresholdedrelu", 1, 0, false},
                     {"scaledtanh", 1, 1, true}, {"hardsigmoid", 0.2F, 0.5F, true},
                     {"elu", 1, 0, false}};
    Activation f;
    for (const char c : name) {
        f.name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    for (const auto& d : kDefaults) {
        if (f.name == d.name) return {f.name, d.alpha, d.beta, true, d.has_beta};
    }
    return f;
}

}  // namespace chainerx::onnx
