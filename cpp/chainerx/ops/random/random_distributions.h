// Arrays of numbers from many distributions. Parameters are numbers or arrays that broadcast:
//
//     Normal(1, 2, {.size = Shape{3, 4}, .dtype = Dtype::kFloat32})
//     Normal(means, deviations)
//     Normal({3, 4})  // the shape alone, where Python has defaults for all parameters
//
// Unless said otherwise, an Options without size takes the shape that the parameters have together,
// without dtype the float dtype of those that are arrays, float64 if there is none, and without
// device theirs. The numbers are computed in float64 and rounded, but for normal, uniform and gamma
// ones of at most 32 bits. Element i is a function of the generator's state and of i.
//
// Samples are differentiable in parameters that are arrays: as functions of the numbers that they
// are made of where that is one formula (any order), else by implicit reparameterization (M.
// Figurnov, S. Mohamed, A. Mnih, NeurIPS 2018; first order). Integers have no gradients.
//
// A parameter that is out of its range is an error that names it: a number at once, an element of
// an array when its device computes (core/kernel_error.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/random/random_generator.h"

namespace chainerx::random {

struct Options {
    std::optional<Shape> size{};
    std::optional<Dtype> dtype{};
    Device* device{nullptr};
    Source source{};
};

class Parameter {
 public:
    Parameter(const Array& array) : array_{array} {}  // NOLINT: either stands for itself
    template <typename T>
        requires std::is_arithmetic_v<T>
    Parameter(T number) : number_{static_cast<double>(number)} {}  // NOLINT: the same

    bool is_array() const { return !array_.is_null(); }
    const Array& array() const { return array_; }
    double number() const { return number_; }

 private:
    Array array_;
    double number_{0};
};

// Numbers of a shape by the distribution with these parameters, by default. One that is written out
// in braces is no parameter.
#define CX_STANDARD(Name, ...)                                                                  \
    inline Array Name(const Shape& size, const Options& options = {}) {                         \
        return Name(__VA_ARGS__, Options{size, options.dtype, options.device, options.source}); \
    }                                                                                           \
    inline Array Name(std::initializer_list<int64_t> size, const Options& options = {}) {       \
        return Name(Shape{size}, options);                                                      \
    }

// Of a location and a scale, with gradients of any order.
CX_API Array Normal(const Parameter& loc, const Parameter& scale, const Options& options = {});
CX_API Array Uniform(const Parameter& low, const Parameter& high, const Options& options = {});
CX_API Array Laplace(const Parameter& loc, const Parameter& scale, const Options& options = {});
CX_API Array Logistic(const Parameter& loc, const Parameter& scale, const Options& options = {});
CX_API Array Gumbel(const Parameter& loc, const Parameter& scale, const Options& options = {});
CX_API Array Cauchy(const Parameter& loc, const Parameter& scale, const Options& options = {});
CX_API Array LogNormal(const Parameter& mean, const Parameter& sigma, const Options& options = {});
CX_STANDARD(Normal, 0, 1)
CX_STANDARD(Uniform, 0, 1)
CX_STANDARD(Laplace, 0, 1)
CX_STANDARD(Logistic, 0, 1)
CX_STANDARD(Gumbel, 0, 1)
CX_STANDARD(Cauchy, 0, 1)
CX_STANDARD(LogNormal, 0, 1)
// Normal ones between low and high, which are at first order differentiable, too.
CX_API Array TruncatedNormal(const Parameter& low, const Parameter& high, const Parameter& loc,
                             const Parameter& scale, const Options& options = {});
// The lower triangle of the covariance's Cholesky factor times normal ones. mean (..., d), cov
// (..., d, d); size is that of the result without the last axis.
CX_API Array MultivariateNormal(const Array& mean, const Array& cov, const Options& options = {});

// By their quantile functions, with gradients of any order.
CX_API Array Exponential(const Parameter& scale, const Options& options = {});
CX_API Array Weibull(const Parameter& a, const Options& options = {});
CX_API Array Pareto(const Parameter& a, const Options& options = {});
CX_API Array Power(const Parameter& a, const Options& options = {});
CX_API Array Rayleigh(const Parameter& scale, const Options& options = {});
CX_API Array Triangular(const Parameter& left, const Parameter& mode, const Parameter& right,
                        const Options& options = {});
CX_STANDARD(Exponential, 1)
CX_STANDARD(Rayleigh, 1)

// Of gamma variables.
CX_API Array StandardGamma(const Parameter& shape, const Options& options = {});
CX_API Array Gamma(const Parameter& shape, const Parameter& scale = 1, const Options& options = {});
CX_API Array Beta(const Parameter& a, const Parameter& b, const Options& options = {});
CX_API Array ChiSquare(const Parameter& df, const Options& options = {});
CX_API Array F(const Parameter& dfnum, const Parameter& dfden, const Options& options = {});
CX_API Array StandardT(const Parameter& df, const Options& options = {});
// Sums of squares of df normal variables whose squared means add up to nonc; df need not be whole.
// Differentiable in df, a gradient in nonc is refused.
CX_API Array NoncentralChiSquare(const Parameter& df, const Parameter& nonc,
                                 const Options& options = {});
CX_API Array NoncentralF(const Parameter& dfnum, const Parameter& dfden, const Parameter& nonc,
                         const Options& options = {});
// alpha (..., k); size is that of the result without the last axis.
CX_API Array Dirichlet(const Array& alpha, const Options& options = {});

// Differentiable in mu; a gradient in kappa is refused.
CX_API Array VonMises(const Parameter& mu, const Parameter& kappa, const Options& options = {});

// When a Brownian motion with drift first is there: the inverse Gaussian distribution. Gradients
// are refused.
CX_API Array Wald(const Parameter& mean, const Parameter& scale, const Options& options = {});

// Integers: int64, unless another integer or float dtype is asked for.
// low <= x < high, of an integer dtype that holds both ends; IntegersUpTo draws the end, too, which
// may be the last of 64 bits, signed or not.
CX_API Array Integers(int64_t low, int64_t high, const Options& options = {});
CX_API Array IntegersUpTo(const Scalar& low, const Scalar& last, const Options& options = {});
// The same of integer arrays.
CX_API Array Integers(const Array& low, const Array& high, const Options& options = {});
CX_API Array IntegersUpTo(const Array& low, const Array& last, const Options& options = {});
CX_API Array Poisson(const Parameter& mean, const Options& options = {});
CX_STANDARD(Poisson, 1)
#undef CX_STANDARD
CX_API Array Binomial(const Parameter& n, const Parameter& p, const Options& options = {});
CX_API Array NegativeBinomial(const Parameter& n, const Parameter& p, const Options& options = {});
CX_API Array Geometric(const Parameter& p, const Options& options = {});
// k >= 1 with probability of the order of k^-a; of p^k / k.
CX_API Array Zipf(const Parameter& a, const Options& options = {});
CX_API Array LogSeries(const Parameter& p, const Options& options = {});
// How many of `good` ones are among `sample` drawn, without replacement, from all. Each of both at
// most 10^9.
CX_API Array Hypergeometric(const Parameter& good, const Parameter& bad, const Parameter& sample,
                            const Options& options = {});
// The same of several kinds: colors (k,) says how many there are of each; (..., k).
CX_API Array MultivariateHypergeometric(const Array& colors, int64_t sample,
                                        const Options& options = {});
// bool, unless another dtype is asked for.
CX_API Array Bernoulli(const Parameter& p, const Options& options = {});
// p (..., k), weights that need not sum to 1: places along the last axis. size is that of the
// result, which p without the last axis broadcasts to.
CX_API Array Categorical(const Array& p, const Options& options = {});
// How often each place comes in n draws: (..., k); size is that without the last axis.
CX_API Array Multinomial(const Parameter& n, const Array& p, const Options& options = {});

// Slices along an axis; without `replace` each at most once. p: weights of them.
CX_API Array Choice(const Array& x, const std::optional<Shape>& size, bool replace,
                    const std::optional<Array>& p, int8_t axis = 0, const Source& source = {});
// The same of 0 ... n-1.
CX_API Array Choice(int64_t n, const std::optional<Shape>& size, bool replace,
                    const std::optional<Array>& p, Device& device = GetDefaultDevice(),
                    const Source& source = {});
// The elements along an axis in an order of its own for each of the others; without an axis, those
// of the flattened array. Differentiable.
CX_API Array Permuted(const Array& x, std::optional<int8_t> axis = std::nullopt,
                      const Source& source = {});
// In place, the slices along an axis.
CX_API void Shuffle(const Array& x, int8_t axis = 0, const Source& source = {});

}  // namespace chainerx::random
