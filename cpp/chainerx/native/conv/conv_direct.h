// Convolutions with hardly any channels in a group, depthwise ones above all: there is no product
// of matrices in them, so each row of the result is summed tap by tap.
#pragma once

#include "chainerx/native/conv/conv_gather.h"

namespace chainerx::native {

// Whether it is faster than products of matrices that narrow.
constexpr bool IsForDirectConv(int64_t ins, int64_t outs) { return ins * outs <= 4; }

// As RunGatherConv, but the last axis of x is never taken apart (`phase` is not read), elements of
// y are adjacent, and the input may be spread.
template <typename T>
void RunDirectConv(const GatherConv<T>& conv);

// The gradient of the weights: gw[...] = or += the sum of gy times what it saw. `conv` describes
// the forward pass, with gy for y; gw is addressed as its w.
template <typename T>
void RunDirectWeightGrad(const GatherConv<T>& conv, T* gw, bool accumulate);

}  // namespace chainerx::native
