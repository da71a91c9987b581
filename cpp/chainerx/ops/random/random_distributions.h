// Arrays of random numbers. Parameters are numbers or arrays that broadcast:
//
//     Normal(1, 2, {.size = Shape{3, 4}, .dtype = Dtype::kFloat32})
//     Normal(means, deviations)
//     Normal({3, 4})  // the shape alone, where Python has defaults for all parameters
//
// Unless said otherwise, the defaults of Options are: size, the broadcast shape of the parameters;
// dtype, the float dtype of those that are arrays, float64 if there are none; device, theirs. The
// numbers are computed in float64 and rounded, except normal, uniform and gamma numbers of at most
// 32 bits. Element i is a function of the generator's state and of i.
//
// Samples are differentiable in parameters that are arrays: by the formula that makes them of
// uniform or normal numbers (any order), else by implicit reparameterization (M. Figurnov, S.
// Mohamed, A. Mnih, NeurIPS 2018; first order). Integers have no gradients.
//
// A parameter out of its range is an error that names it: a number at once, an element of an array
// when its device computes (core/kernel_error.h).
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

// Defines overloads that take a shape, and the default parameters. They take a list in braces as a
// shape, not as a parameter.
#define CX_STANDARD(Name, ...)                                                                  \
    inline Array Name(const Shape& size, const Options& options = {}) {                         \
        return Name(__VA_ARGS__, Options{size, options.dtype, options.device, options.source}); \
    }                                                                                           \
    inline Array Name(std::initializer_list<int64_t> size, const Options& options = {}) {       \
        return Name(Shape{size}, options);                                                      \
    }

// Distributions with a location and a scale; gradients have any order.
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
// Draws normal numbers between low and high; they, too, are differentiable at first order.
CX_API Array TruncatedNormal(const Parameter& low, const Parameter& high, const Parameter& loc,
                             const Parameter& scale, const Options& options = {});
// Multiplies the Cholesky factor of the covariance by normal numbers. mean is (..., d), cov (...,
// d, d); size is that of the result without the last axis.
CX_API Array MultivariateNormal(const Array& mean, const Array& cov, const Options& options = {});

// Distributions drawn by their quantile functions; gradients have any order.
CX_API Array Exponential(const Parameter& scale, const Options& options = {});
CX_API Array Weibull(const Parameter& a, const Options& options = {});
CX_API Array Pareto(const Parameter& a, const Options& options = {});
CX_API Array Power(const Parameter& a, const Options& options = {});
CX_API Array Rayleigh(const Parameter& scale, const Options& options = {});
CX_API Array Triangular(const Parameter& left, const Parameter& mode, const Parameter& right,
                        const Options& options = {});
CX_STANDARD(Exponential, 1)
CX_STANDARD(Rayleigh, 1)

// Distributions derived from gamma variables.
CX_API Array StandardGamma(const Parameter& shape, const Options& options = {});
CX_API Array Gamma(const Parameter& shape, const Parameter& scale = 1, const Options& options = {});
CX_API Array Beta(const Parameter& a, const Parameter& b, const Options& options = {});
CX_API Array ChiSquare(const Parameter& df, const Options& options = {});
CX_API Array F(const Parameter& dfnum, const Parameter& dfden, const Options& options = {});
CX_API Array StandardT(const Parameter& df, const Options& options = {});
// Sums of squares of df normal variables whose squared means add up to nonc; df need not be an
// integer. Differentiable in df; a gradient in nonc is refused.
CX_API Array NoncentralChiSquare(const Parameter& df, const Parameter& nonc,
                                 const Options& options = {});
CX_API Array NoncentralF(const Parameter& dfnum, const Parameter& dfden, const Parameter& nonc,
                         const Options& options = {});
// alpha is (..., k); size is that of the result without the last axis.
CX_API Array Dirichlet(const Array& alpha, const Options& options = {});

// Differentiable in mu; a gradient in kappa is refused.
CX_API Array VonMises(const Parameter& mu, const Parameter& kappa, const Options& options = {});

// The inverse Gaussian distribution: the first passage time of a Brownian motion with drift.
// Gradients are refused.
CX_API Array Wald(const Parameter& mean, const Parameter& scale, const Options& options = {});

// Integers: int64, unless another integer or float dtype is given.
// Integers draws low <= x < high, in an integer dtype that holds both ends; IntegersUpTo includes
// the end, which may be the maximum of 64 bits, signed or not.
CX_API Array Integers(int64_t low, int64_t high, const Options& options = {});
CX_API Array IntegersUpTo(const Scalar& low, const Scalar& last, const Options& options = {});
// The same for integer arrays.
CX_API Array Integers(const Array& low, const Array& high, const Options& options = {});
CX_API Array IntegersUpTo(const Array& low, const Array& last, const Options& options = {});
CX_API Array Poisson(const Parameter& mean, const Options& options = {});
CX_STANDARD(Poisson, 1)
#undef CX_STANDARD
CX_API Array Binomial(const Parameter& n, const Parameter& p, const Options& options = {});
CX_API Array NegativeBinomial(const Parameter& n, const Parameter& p, const Options& options = {});
CX_API Array Geometric(const Parameter& p, const Options& options = {});
// Draw k >= 1 with probability proportional to k^-a, and to p^k / k.
CX_API Array Zipf(const Parameter& a, const Options& options = {});
CX_API Array LogSeries(const Parameter& p, const Options& options = {});
// Counts the `good` ones among `sample` drawn without replacement. good and bad are at most 10^9
// each.
CX_API Array Hypergeometric(const Parameter& good, const Parameter& bad, const Parameter& sample,
                            const Options& options = {});
// The same for several colors: colors (k,) has the number of each; the result is (..., k).
CX_API Array MultivariateHypergeometric(const Array& colors, int64_t sample,
                                        const Options& options = {});
// The default dtype is bool.
CX_API Array Bernoulli(const Parameter& p, const Options& options = {});
// Draws indices along the last axis of p (..., k), whose weights need not sum to 1. size is that of
// the result, to which p without the last axis broadcasts.
CX_API Array Categorical(const Array& p, const Options& options = {});
// Counts the categories in n draws: (..., k); size is that of the result without the last axis.
CX_API Array Multinomial(const Parameter& n, const Array& p, const Options& options = {});

// Draws slices along an axis; without `replace` each at most once. p: their weights.
CX_API Array Choice(const Array& x, const std::optional<Shape>& size, bool replace,
                    const std::optional<Array>& p, int8_t axis = 0, const Source& source = {});
// Draws from 0 ... n-1.
CX_API Array Choice(int64_t n, const std::optional<Shape>& size, bool replace,
                    const std::optional<Array>& p, Device& device = GetDefaultDevice(),
                    const Source& source = {});
// Permutes the elements along an axis independently for each position on the other axes; without an
// axis, permutes the flattened array. Differentiable.
CX_API Array Permuted(const Array& x, std::optional<int8_t> axis = std::nullopt,
                      const Source& source = {});
// Permutes the slices along an axis, in place.
CX_API void Shuffle(const Array& x, int8_t axis = 0, const Source& source = {});

}  // namespace chainerx::random
