// The algorithms of convolutions: one table for the three passes, from which a call takes a row.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/conv/conv_geometry.h"
#include "chainerx/kernels/conv/conv_layer.h"
#include "chainerx/kernels/kept_weights.h"

namespace chainerx::native {

// What the choice depends on: the shapes of the forward pass y = conv(x, w), whichever pass is
// computed, and the dtype of the result.
struct ConvProblem {
    const Shape& x;
    const Shape& w;
    const Shape& y;
    const ConvGeometry& geometry;
    Dtype dtype;
};

// What a layer has beyond operands, see the kernel ConvLayer; of float32 unless it has none.
struct LayerOperands {
    const Array* addend{nullptr};  // contiguous, of y's shape
    ConvLimits limits{};
    const KeptWeights* kept{nullptr};

    bool is_none() const { return addend == nullptr && limits.is_none(); }
};

// Computes y = conv(x, w) + b, or the input gradient gx of gy, plus b. `b` may be empty. Nothing
// else is.
using ConvFn = void(const Array& x, const Array& w, const Array& b, const ConvGeometry& geometry,
                    const LayerOperands& layer, const Array& y);
using ConvInputGradFn = void(const Array& gy, const Array& w, const Array& b,
                             const ConvGeometry& geometry, const Array& gx);
using ConvWeightGradFn = void(const Array& x, const Array& gy, const ConvGeometry& geometry,
                              const Array& gw);

// Implicit GEMM: a matrix product whose second operand, im2col, is made block by block while it is
// packed. It computes everything. Of each product it decides which operand pixels are: few pixels
// serve better as its rows (M).
ConvFn ConvImplicitGemm;
ConvInputGradFn InputGradImplicitGemm;
ConvWeightGradFn WeightGradImplicitGemm;

// The same with pixels as M throughout.
ConvFn ConvPixelsAsM;
ConvInputGradFn InputGradPixelsAsM;

// Sums of shifted rows, without a product.
ConvFn ConvDirect;
ConvInputGradFn InputGradDirect;
ConvWeightGradFn WeightGradDirect;

// Implicit GEMM in the layout CHWN, whose blocks skip taps that see only padding.
ConvFn ConvChwn;
ConvInputGradFn InputGradChwn;
ConvWeightGradFn WeightGradChwn;

// One product, whose result is then added to gx element by element.
ConvInputGradFn InputGradCol2Im;

// Adds the addend to y, and clips it: for algorithms that can't do so while they compute.
void FinishLayer(const LayerOperands& layer, const Array& y);

// Sets each channel of y to the element of b, or to 0 if b is empty.
void FillWithBias(const Array& b, const Array& y);

}  // namespace chainerx::native
