// Update rules of the domain ai.onnx.preview.training. Inputs are the learning rate, the number of
// the update, and then for all tensors their values, gradients and states in turn.
#include <cmath>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/explog.h"

namespace chainerx::onnx {
namespace {

// Tensors of one parameter: its value, its gradient with the regularization, its states.
struct Parameter {
    Array x;
    Array g;
    std::vector<Array> states;
};

// Calls rule(rate, t, parameter), which returns the next value and the next states, for each
// parameter; all values come first in the result, then all first states and so on.
Values Update(const Call& call, size_t n_states, auto rule) {
    const size_t kinds = 2 + n_states;
    if (call.n_inputs() < 2 || (call.n_inputs() - 2) % kinds != 0) {
        throw DimensionError{"there are ", call.n_inputs(),
                             " inputs, expected 2 and a multiple of ", kinds};
    }
    const size_t n = (call.n_inputs() - 2) / kinds;
    const double rate = call.DoubleAt(0);
    const double t = call.DoubleAt(1);
    const double decay = call.Float("norm_coefficient", 0);
    Values results((kinds - 1) * n);
    for (size_t i = 0; i < n; ++i) {
        Parameter p{call.X(2 + i), call.X(2 + n + i), {}};
        p.g = p.g + p.x * decay;
        for (size_t k = 0; k < n_states; ++k) p.states.push_back(call.X(2 + (2 + k) * n + i));
        const std::vector<Array> next = rule(rate, t, p);
        for (size_t k = 0; k < next.size(); ++k) results[k * n + i] = next[k];
    }
    return results;
}

Values Adagrad(const Call& call) {
    return Update(call, 1, [&call](double rate, double t, const Parameter& p) {
        const double r = rate / (1 + t * call.Float("decay_factor", 0));
        const Array h = p.states[0] + Square(p.g);
        return std::vector{p.x - p.g * r / (Sqrt(h) + call.Float("epsilon", 1e-6)), h};
    });
}

Values Adam(const Call& call) {
    const double alpha = call.Float("alpha", 0.9);
    const double beta = call.Float("beta", 0.999);
    return Update(call, 2, [&](double rate, double t, const Parameter& p) {
        const Array v = p.states[0] * alpha + p.g * (1 - alpha);
        const Array h = p.states[1] * beta + Square(p.g) * (1 - beta);
        const bool is_first = t <= 0;
        const double r =
            is_first ? rate : rate * std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
        const Array x = p.x - v * r / (Sqrt(h) + call.Float("epsilon", 1e-6));
        return std::vector{x * (1 - call.Float("norm_coefficient_post", 0)), v, h};
    });
}

Values Momentum(const Call& call) {
    const std::string_view mode = call.String("mode", "standard");
    if (mode != "standard" && mode != "nesterov") {
        throw ValueError{"attribute mode is \"", mode, "\", expected standard or nesterov"};
    }
    const double alpha = call.Float("alpha");
    const double beta = call.Float("beta");
    return Update(call, 1, [&](double rate, double t, const Parameter& p) {
        const Array v = p.states[0] * alpha + p.g * (t > 0 ? beta : 1);
        return std::vector{p.x - (mode == "nesterov" ? p.g + v * alpha : v) * rate, v};
    });
}

#define CX_RULE(name) {#name, 1, kNewestOpset, &Run<name>, true, "ai.onnx.preview.training"}
constexpr Operator kOperators[] = {CX_RULE(Adagrad), CX_RULE(Adam), CX_RULE(Momentum)};
#undef CX_RULE

}  // namespace

std::span<const Operator> OptimizerOperators() { return kOperators; }

}  // namespace chainerx::onnx
