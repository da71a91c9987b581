// Random numbers: of the key of the run or this library's generator, unless the file has a seed.
#include <bit>
#include <cstdint>
#include <optional>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/random/random_distributions.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

random::Source SourceOf(const Call& call) {
    if (!call.HasAttribute("seed")) return call.Key();
    return uint64_t{std::bit_cast<uint32_t>(static_cast<float>(call.Float("seed")))};
}

// Draws numbers of this shape in the dtype of the attribute, or else of `fallback`.
template <bool kIsNormal>
Array Draw(const Call& call, const Shape& shape, Dtype fallback, Device& device) {
    const Dtype dtype =
        call.HasAttribute("dtype") ? ToDtype(call.Int("dtype"), "attribute dtype") : fallback;
    if (!IsFloat(dtype)) throw DtypeError{"dtype is ", dtype, ", expected floats"};
    const random::Options options{shape, dtype, &device, SourceOf(call)};
    if constexpr (kIsNormal) {
        return random::Normal(call.Float("mean", 0), call.Float("scale", 1), options);
    } else {
        return random::Uniform(call.Float("low", 0), call.Float("high", 1), options);
    }
}

template <bool kIsNormal>
Array OfShape(const Call& call) {
    return Draw<kIsNormal>(call, ToShape(call.IntList("shape")), Dtype::kFloat32,
                           *call.frame().device);
}

template <bool kIsNormal>
Array Like(const Call& call) {
    const Array x = call.X(0);
    return Draw<kIsNormal>(call, x.shape(), x.dtype(), x.device());
}

Array Bernoulli(const Call& call) {
    const Array p = call.X(0);
    const Dtype dtype =
        call.HasAttribute("dtype") ? ToDtype(call.Int("dtype"), "attribute dtype") : p.dtype();
    const random::Options options{p.shape(), p.dtype(), &p.device(), SourceOf(call)};
    return AsType(random::Uniform(0, 1, options) < p, dtype);
}

// Classes by their unnormalized logarithms, by Gumbel's noise: the greatest sum wins.
Array Multinomial(const Call& call) {
    const Array x = call.X(0);
    if (x.ndim() != 2) throw DimensionError{"the input has shape ", x.shape(), ", expected 2 axes"};
    const int64_t n = call.Int("sample_size", 1);
    if (n < 1) throw ValueError{"attribute sample_size is ", n, ", expected at least 1"};
    const random::Options options{Shape{x.shape()[0], n, x.shape()[1]}, x.dtype(), &x.device(),
                                  SourceOf(call)};
    const Array noise = random::Gumbel(0, 1, options);
    const Dtype dtype = ToDtype(call.Int("dtype", 6), "attribute dtype");
    return AsType(ArgMax(ExpandDims(x, Axes{1}) + noise, 2), dtype, false);
}

#define CX_DRAWS(name, function, since) {name, since, kNewestOpset, &Run<function>, false}
constexpr Operator kOperators[] = {
    CX_DRAWS("Bernoulli", Bernoulli, 15),         CX_DRAWS("Multinomial", Multinomial, 7),
    CX_DRAWS("RandomNormal", OfShape<true>, 1),   CX_DRAWS("RandomNormalLike", Like<true>, 1),
    CX_DRAWS("RandomUniform", OfShape<false>, 1), CX_DRAWS("RandomUniformLike", Like<false>, 1),
};
#undef CX_DRAWS

}  // namespace

std::span<const Operator> RandomOperators() { return kOperators; }

}  // namespace chainerx::onnx
