#include "chainerx/python/engine/links/steps.h"

#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/rng_key.h"

namespace chainerx::python::engine {
namespace {

using Arrays = std::vector<Array>;

// Applies the layer whose weight is inputs[place] and whose bias, null if there is none, follows.
Array Layer(const StepInputs& inputs, size_t place, const Array& x) {
    const Array& w = inputs[place];
    const Array& b = inputs[place + 1];
    if (w.is_null()) throw TypeError{"a step's weight is None, expected an array"};
    return Linear(x, w, b.is_null() ? std::nullopt : std::optional{b});
}

// As F.linear_interpolate composes it.
Array Interpolate(const Array& p, const Array& x, const Array& y) { return p * x + (y - p * y); }

// Replaces null arrays by zeros, for each row of `gates`.
Arrays OrZeros(std::span<const Array> states, const Array& gates, int64_t units) {
    Array zeros;
    Arrays result;
    result.reserve(states.size());
    for (const Array& state : states) {
        if (state.is_null() && zeros.is_null()) {
            zeros = Zeros(Shape{gates.shape()[0], units}, gates.dtype(), gates.device());
        }
        result.push_back(state.is_null() ? zeros : state);
    }
    return result;
}

double ToRatio(PyObject* o) {
    const double ratio = ToDouble("zoneout", "ratio", o);
    if (!(0 <= ratio && ratio <= 1)) {
        throw ValueError{"zoneout: ratio is ", ratio, ", expected 0 <= ratio <= 1"};
    }
    return ratio;
}

}  // namespace

Array GruStep(const StepInputs& inputs, PyObject* const*) {
    const Array& x = inputs[0];
    const Array& h = inputs[1];
    const Array r = Sigmoid(Layer(inputs, 2, x) + Layer(inputs, 4, h));
    const Array z = Sigmoid(Layer(inputs, 6, x) + Layer(inputs, 8, h));
    return Interpolate(z, Tanh(Layer(inputs, 10, x) + Layer(inputs, 12, r * h)), h);
}

Array MguStep(const StepInputs& inputs, PyObject* const*) {
    const Array& x = inputs[0];
    const Array& h = inputs[1];
    const Array f = Sigmoid(Layer(inputs, 2, Concatenate(Arrays{h, x}, 1)));
    return Interpolate(f, Tanh(Layer(inputs, 4, Concatenate(Arrays{f * h, x}, 1))), h);
}

LstmState LstmStep(const StepInputs& inputs, PyObject* const*) {
    return Lstm(inputs[1], Layer(inputs, 3, inputs[0]) + Layer(inputs, 5, inputs[2]));
}

LstmState ZoneoutStep(const StepInputs& inputs, PyObject* const* params) {
    // Numbers are drawn when nothing can fail any more, for the link tries again in Python.
    const double c_ratio = ToRatio(params[0]);
    const double h_ratio = ToRatio(params[1]);
    const Array& c = inputs[1];
    const Array& h = inputs[2];
    LstmState y = LstmStep(inputs, params);
    if (!IsTraining()) return y;
    if (y.c.shape() != c.shape() || y.h.shape() != h.shape()) {
        throw DimensionError{"zoneout: the next state has shape ", y.h.shape(), ", expected ",
                             h.shape()};
    }
    y.c = Where(ZoneoutFlags(c, c_ratio), c, y.c);
    y.h = Where(ZoneoutFlags(h, h_ratio), h, y.h);
    return y;
}

LstmState PeepholeStep(const StepInputs& inputs, PyObject* const* params) {
    const Array& c = inputs[1];
    const Array gates = Layer(inputs, 3, inputs[0]) + Layer(inputs, 5, inputs[2]);
    const Shape by_unit{gates.shape()[0], ToInt("step", "units", params[0]), 4};
    const Arrays parts = Split(Reshape(gates, by_unit), 4, 2);
    const auto gate = [&](size_t i) { return Squeeze(parts[i], Axes{2}); };
    const Array added = Tanh(gate(0)) * Sigmoid(gate(1) + Layer(inputs, 7, c));
    const Array next = added + Sigmoid(gate(2) + Layer(inputs, 9, c)) * c;
    return {next, Sigmoid(gate(3) + Layer(inputs, 11, next)) * Tanh(next)};
}

LstmState ChildSumStep(const StepInputs& inputs, PyObject* const* params) {
    if (inputs.size() % 2 == 0)
        throw DimensionError{"step: there are not as many cells as outputs"};
    const int64_t units = ToInt("step", "units", params[0]);
    const size_t n = (inputs.size() - 7) / 2;
    const size_t layers = 1 + 2 * n;
    const Arrays parts =
        Split(Layer(inputs, layers, inputs[0]), std::vector<int64_t>{3 * units}, 1);
    if (n == 0) {
        const Arrays gates = Split(parts[0], 3, 1);
        const Array c = Tanh(gates[0]) * Sigmoid(gates[1]);
        return {c, Sigmoid(gates[2]) * Tanh(c)};
    }
    const Arrays states = OrZeros({&inputs[1], 2 * n}, parts[0], units);
    const std::span<const Array> outputs = std::span{states}.subspan(n);
    Array total = outputs[0];
    for (const Array& h : outputs.subspan(1)) total = total + h;
    Arrays gates{parts[0] + Layer(inputs, layers + 2, total)};
    for (const Array& h : outputs) gates.push_back(parts[1] + Layer(inputs, layers + 4, h));
    return TreeLstm({states.begin(), states.end() - static_cast<std::ptrdiff_t>(n)},
                    Concatenate(gates, 1));
}

LstmState NaryStep(const StepInputs& inputs, PyObject* const* params) {
    if (inputs.size() % 4 != 3)
        throw DimensionError{"step: there are not as many cells as outputs"};
    const size_t n = (inputs.size() - 3) / 4;
    const size_t layers = 1 + 2 * n;
    Array gates = Layer(inputs, layers, inputs[0]);
    for (size_t k = 0; k < n; ++k) {
        const Array& h = inputs[1 + n + k];
        if (!h.is_null()) gates = gates + Layer(inputs, layers + 2 + 2 * k, h);
    }
    const int64_t units = ToInt("step", "units", params[0]);
    return TreeLstm(OrZeros({&inputs[1], n}, gates, units), gates);
}

}  // namespace chainerx::python::engine
