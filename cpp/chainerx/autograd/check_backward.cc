#include "chainerx/autograd/check_backward.h"

#include <cmath>
#include <complex>
#include <string>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/scopes.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

using Values = std::vector<Complex128>;

// Returns the elements in C order.
Values ToHost(const Array& x) {
    const Array wide = internal::engine_ops::AsType(internal::Detached(x), Dtype::kComplex128);
    const Array packed = wide.IsContiguous() ? wide : internal::engine_ops::Copy(wide);
    Values out(static_cast<size_t>(x.GetTotalSize()));
    x.device().Synchronize();
    x.device().CopyToHost(out.data(), packed.raw_data(), packed.GetNBytes());
    return out;
}

Array FromHost(const Values& values, const Array& like) {
    const bool complex = IsComplex(like.dtype());
    Array out = Empty(like.shape(), complex ? Dtype::kComplex128 : Dtype::kFloat64, like.device());
    std::vector<double> real;
    if (!complex) {
        for (const Complex128& v : values) real.push_back(v.real());
    }
    const void* source = complex ? static_cast<const void*>(values.data()) : real.data();
    like.device().CopyFromHost(out.raw_data(), source, out.GetNBytes());
    return out;
}

// Sets one element of a contiguous array, and returns its value after rounding to the dtype.
Complex128 SetElement(const Array& x, size_t i, Complex128 value) {
    return VisitDtype(x.dtype(), [&]<typename T>() {
        const T v = Cast<T>(value);
        x.device().CopyFromHost(x.raw_data() + i * sizeof(T), &v, sizeof(T));
        return Cast<Complex128>(v);
    });
}

void CheckOutputs(const char* op, const std::vector<Array>& outputs,
                  const std::vector<Array>& grad_outputs) {
    if (outputs.size() != grad_outputs.size()) {
        throw GradientError{op,
                            ": the function has ",
                            outputs.size(),
                            " outputs but there are ",
                            grad_outputs.size(),
                            " grad_outputs"};
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].shape() != grad_outputs[i].shape()) {
            throw GradientError{op,
                                ": grad_outputs[",
                                i,
                                "] has shape ",
                                grad_outputs[i].shape(),
                                ", the output ",
                                outputs[i].shape()};
        }
    }
}

void CheckEps(const char* op, const std::vector<Array>& inputs, const std::vector<Array>& eps) {
    if (eps.size() != inputs.size()) {
        throw ValueError{op,         ": ",     inputs.size(), " arrays to differentiate by but ",
                         eps.size(), " of eps"};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (eps[i].shape() != inputs[i].shape()) {
            throw DimensionError{
                op, ": eps[", i, "] has shape ", eps[i].shape(), ", the input ", inputs[i].shape()};
        }
    }
}

// A function, the point at which it is evaluated, and the weights of its outputs.
class Differences {
 public:
    Differences(const char* op, const CheckedFunction& func, const std::vector<Array>& inputs,
                const std::vector<Array>& grad_outputs)
        : op_{op}, func_{func}, inputs_{inputs}, grad_outputs_{grad_outputs} {
        for (const Array& gy : grad_outputs) weights_.push_back(ToHost(gy));
    }

    Values ByInput(size_t k, const Values& eps) const {
        const Values x = ToHost(inputs_[k]);
        Values gx(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            if (eps[i].real() == 0) {
                throw ValueError{op_, ": a step in eps[", k, "] is 0"};
            }
            gx[i] = Slope(k, i, x[i], eps[i].real());
            if (IsComplex(inputs_[k].dtype())) {
                gx[i] -= Complex128{0, Slope(k, i, x[i], {0, eps[i].real()})};
            }
        }
        return gx;
    }

 private:
    // Returns d Re(sum(gy * y)) / d step, with the step as rounded to the dtype.
    double Slope(size_t k, size_t i, Complex128 x, Complex128 step) const {
        Complex128 up;
        Complex128 down;
        const std::vector<Values> y2 = Evaluate(k, i, x + step, &up);
        const std::vector<Values> y1 = Evaluate(k, i, x - step, &down);
        double sum = 0;
        for (size_t n = 0; n < weights_.size(); ++n) {
            for (size_t j = 0; j < weights_[n].size(); ++j) {
                sum += (weights_[n][j] * (y2[n][j] - y1[n][j])).real();
            }
        }
        const double length = std::abs(up - down);
        if (length == 0) {
            throw ValueError{op_,
                             ": eps[",
                             k,
                             "] = ",
                             std::abs(step),
                             " is too small for ",
                             inputs_[k].dtype(),
                             " at ",
                             x.real()};
        }
        return sum / std::copysign(length, step.real() + step.imag());
    }

    std::vector<Values> Evaluate(size_t k, size_t i, Complex128 value, Complex128* actual) const {
        std::vector<Array> xs;
        for (const Array& x : inputs_) {
            xs.push_back(internal::engine_ops::Copy(internal::Detached(x)));
        }
        *actual = SetElement(xs[k], i, value);
        const std::vector<Array> ys = func_(xs);
        CheckOutputs(op_, ys, grad_outputs_);
        std::vector<Values> out;
        for (const Array& y : ys) out.push_back(ToHost(y));
        return out;
    }

    const char* op_;
    const CheckedFunction& func_;
    const std::vector<Array>& inputs_;
    const std::vector<Array>& grad_outputs_;
    std::vector<Values> weights_;
};

std::string IndexText(size_t flat, const Shape& shape) {
    Shape index = shape;
    auto rest = static_cast<int64_t>(flat);
    for (int8_t i = shape.ndim() - 1; i >= 0; --i) {
        index[i] = rest % shape[i];
        rest /= shape[i];
    }
    return index.ToString();
}

std::string ValueText(Complex128 v, Dtype dtype) {
    return IsComplex(dtype) ? Scalar{v}.ToString() : StrCat(v.real());
}

// Returns the name of an argument in messages: first inputs, then grad_outputs.
std::string ArgumentName(size_t k, size_t n_inputs) {
    return k < n_inputs ? StrCat("inputs[", k, "]") : StrCat("grad_outputs[", k - n_inputs, "]");
}

void Compare(const char* op, const std::string& name, const Array& x, const Values* backward,
             const Values& numerical, const Values& eps, double atol, double rtol) {
    size_t n_wrong = 0;
    size_t first = 0;
    for (size_t i = 0; i < numerical.size(); ++i) {
        const Complex128 g = backward != nullptr ? (*backward)[i] : Complex128{};
        // Not "greater than", which is false for NaN.
        const bool close = std::abs(g - numerical[i]) <= atol + rtol * std::abs(numerical[i]);
        if (!close && n_wrong++ == 0) first = i;
    }
    if (n_wrong == 0) return;
    const Complex128 n = numerical[first];
    const std::string got =
        backward != nullptr ? ValueText((*backward)[first], x.dtype()) : "no gradient";
    const double difference = std::abs((backward != nullptr ? (*backward)[first] : 0.0) - n);
    throw GradientCheckError{op,
                             ": gradient of ",
                             name,
                             " is wrong at ",
                             n_wrong,
                             " of ",
                             numerical.size(),
                             " elements, first at ",
                             IndexText(first, x.shape()),
                             ": backward gives ",
                             got,
                             ", finite differences give ",
                             ValueText(n, x.dtype()),
                             " (difference ",
                             difference,
                             ", allowed ",
                             atol + rtol * std::abs(n),
                             ", eps ",
                             eps[first].real(),
                             ", dtype ",
                             x.dtype(),
                             ")"};
}

// The first `n_inputs` inputs are named so in messages; the rest are grad_outputs.
void Check(const char* op, const CheckedFunction& func, const std::vector<Array>& inputs,
           const std::vector<Array>& grad_outputs, const std::vector<Array>& eps, double atol,
           double rtol, const std::optional<BackpropId>& id, size_t n_inputs) {
    CheckEps(op, inputs, eps);
    const std::vector<Array> outputs = func(inputs);
    CheckOutputs(op, outputs, grad_outputs);
    std::vector<size_t> checked;
    std::vector<ConstArrayRef> targets;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (!inputs[k].IsGradRequired(id)) continue;
        checked.push_back(k);
        targets.emplace_back(inputs[k]);
    }
    if (checked.empty()) {
        throw ChainerxError{op, ": none of the ", inputs.size(),
                            " inputs requires a gradient; call require_grad() on some"};
    }
    // Ignores outputs that do not depend on the inputs in the graph.
    const std::vector<std::optional<Array>> grads =
        Grad(std::vector<ConstArrayRef>{outputs.begin(), outputs.end()}, targets, id,
             DoubleBackpropOption::kDisable, false, false,
             std::vector<std::optional<Array>>{grad_outputs.begin(), grad_outputs.end()});

    const Differences differences{op, func, inputs, grad_outputs};
    for (size_t c = 0; c < checked.size(); ++c) {
        const size_t k = checked[c];
        const Values steps = ToHost(eps[k]);
        const Values numerical = differences.ByInput(k, steps);
        Values backward;
        if (grads[c]) backward = ToHost(*grads[c]);
        Compare(op, ArgumentName(k, n_inputs), inputs[k], grads[c] ? &backward : nullptr, numerical,
                steps, atol, rtol);
    }
}

}  // namespace

void CheckBackward(const CheckedFunction& func, const std::vector<Array>& inputs,
                   const std::vector<Array>& grad_outputs, const std::vector<Array>& eps,
                   double atol, double rtol, const std::optional<BackpropId>& id) {
    std::vector<Array> gys;
    for (const Array& gy : grad_outputs) gys.push_back(internal::Detached(gy));
    Check("check_backward", func, inputs, gys, eps, atol, rtol, id, inputs.size());
}

void CheckDoubleBackward(const CheckedFunction& func, const std::vector<Array>& inputs,
                         const std::vector<Array>& grad_outputs,
                         const std::vector<Array>& grad_grad_inputs, const std::vector<Array>& eps,
                         double atol, double rtol, const std::optional<BackpropId>& id) {
    constexpr const char* kOp = "check_double_backward";
    const size_t n_inputs = inputs.size();
    std::vector<bool> wanted;
    for (const Array& x : inputs) wanted.push_back(x.IsGradRequired(id));

    // Computes the gradients of the wanted inputs from inputs and grad_outputs.
    const CheckedFunction first_order = [&](const std::vector<Array>& args) {
        std::vector<Array> xs{args.begin(), args.begin() + static_cast<std::ptrdiff_t>(n_inputs)};
        std::vector<std::optional<Array>> gys{args.begin() + static_cast<std::ptrdiff_t>(n_inputs),
                                              args.end()};
        std::vector<ConstArrayRef> targets;
        for (size_t i = 0; i < n_inputs; ++i) {
            if (!wanted[i]) continue;
            // The perturbed copies are in no graph yet.
            if (!xs[i].IsGradRequired(id)) xs[i].RequireGrad(id);
            targets.emplace_back(xs[i]);
        }
        const std::vector<Array> ys = func(xs);
        const std::vector<std::optional<Array>> gxs =
            Grad(std::vector<ConstArrayRef>{ys.begin(), ys.end()}, targets, id,
                 DoubleBackpropOption::kEnable, false, false, gys);
        std::vector<Array> out;
        for (size_t i = 0; i < targets.size(); ++i) {
            const Array& x = targets[i];
            out.push_back(gxs[i] ? *gxs[i]
                                 : internal::engine_ops::Full(x.shape(), 0, x.dtype(), x.device()));
        }
        return out;
    };

    std::vector<Array> args = inputs;
    args.insert(args.end(), grad_outputs.begin(), grad_outputs.end());
    std::vector<Array> ggxs;
    for (const Array& ggx : grad_grad_inputs) ggxs.push_back(internal::Detached(ggx));
    Check(kOp, first_order, args, ggxs, eps, atol, rtol, id, n_inputs);
}

std::vector<Array> CalculateNumericalGradient(const CheckedFunction& func,
                                              const std::vector<Array>& inputs,
                                              const std::vector<Array>& grad_outputs,
                                              const std::vector<Array>& eps) {
    constexpr const char* kOp = "numerical_gradient";
    CheckEps(kOp, inputs, eps);
    const Differences differences{kOp, func, inputs, grad_outputs};
    std::vector<Array> out;
    for (size_t k = 0; k < inputs.size(); ++k) {
        out.push_back(FromHost(differences.ByInput(k, ToHost(eps[k])), inputs[k]));
    }
    return out;
}

}  // namespace chainerx
