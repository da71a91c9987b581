// Checks and conversions of arguments that all random functions share.
#pragma once

#include <array>
#include <initializer_list>

#include "chainerx/kernels/random/domain.h"
#include "chainerx/ops/random/random_distributions.h"

namespace chainerx::random {

struct Named {
    const char* name;
    const Parameter& value;
    const Domain& domain;
};

// Selects the allowed dtypes (floats only, or integers as well) and the default.
enum class Kind : int8_t { kFloats, kCounts, kTruths };

// KernelError of `op` unless all of x is in the domain.
void CheckDomain(const char* op, const char* argument, const Array& x, const Domain& domain);

class Plan {
 public:
    static constexpr int kMaxParameters = 4;

    // `event` are the axes of a result behind those of options.size and of the parameters.
    Plan(const char* op, std::initializer_list<Named> parameters, const Options& options,
         Kind kind = Kind::kFloats);

    const char* op() const { return op_; }
    const Shape& shape() const { return shape_; }
    Dtype dtype() const { return dtype_; }
    Device& device() const { return *device_; }
    // Each use counts a draw.
    const Array& state() const { return state_; }

    // Returns parameter i in dtype `compute` with its own shape, 0-dimensional for a number.
    // Differentiable.
    Array Get(int i, Dtype compute = Dtype::kFloat64) const;
    // Returns it for kernels: outside all graphs, contiguous, with one element or the plan's shape.
    Array GetSpread(int i, Dtype compute = Dtype::kFloat64) const;
    // Returns whether the parameter is that number.
    bool Is(int i, double number) const;

    // Random numbers of the plan's shape: in [0, 1), in (0, 1), and positive with mean 1.
    Array Uniform(Dtype compute = Dtype::kFloat64) const;
    Array OpenUniform() const;
    Array Exponential() const;
    Array Normal(Dtype compute = Dtype::kFloat64) const;

    // Returns float32 if the result has at most 32 bits.
    Dtype compute_dtype() const;
    // Converts to the dtype of the plan. Differentiable.
    Array Finish(const Array& y) const;

 private:
    const char* op_;
    std::array<Parameter, kMaxParameters> parameters_;
    Shape shape_;
    Dtype dtype_;
    Device* device_{nullptr};
    Array state_;
};

// Throws in backward for a parameter without a derivative.
[[noreturn]] void RefuseGradient(const char* op, const char* parameter, const Array& gy);

// Converts x as kernels take parameters: see Plan::GetSpread.
Array Spread(const Array& x, const Shape& shape);

}  // namespace chainerx::random
