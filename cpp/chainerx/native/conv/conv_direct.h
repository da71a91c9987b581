// Direct convolution for groups of very few channels, depthwise ones above all: GEMM has no reuse
// there, so each row of the result is summed tap by tap.
#pragma once

#include "chainerx/native/conv/implicit_gemm.h"

namespace chainerx::native {

// Takes the operands of RunImplicitGemm, except that the last axis of x is never split into phases
// (`phase` is ignored), elements of y are adjacent, and the input may be spread.
template <typename T>
void RunDirectConv(const ConvOperands<T>& conv);

// The weight gradient: sets or adds to gw the sum of gy times the input each position reads. `conv`
// describes the forward pass, with gy for y; gw is addressed as its w.
template <typename T>
void RunDirectWeightGrad(const ConvOperands<T>& conv, T* gw, bool accumulate);

}  // namespace chainerx::native
