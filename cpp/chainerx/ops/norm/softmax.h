// Softmax, and the cross entropy loss.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Returns exp(x) / sum exp(x), with the sum over all `axes` together. Integers are computed in the
// default float dtype.
CX_API Array Softmax(const Array& x, const Axes& axes = {1});
CX_API Array LogSoftmax(const Array& x, const Axes& axes = {1});

// Returns -log softmax(x1)[i, x2[i]] for each row i of x1, or 0 where x2[i] is -1. x2 is a vector
// of integers; IndexError for other labels out of range. `label_smoothing`, 0 to 1, is the weight
// that all classes share; the label gets the rest.
CX_API Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, double label_smoothing = 0);
// The same for x1 (n, classes, ...) and x2 (n, ...); 0 where x2 is `ignore_label`. With `mean`,
// returns the mean over the labels that are not ignored, 0 if all are.
CX_API Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, int64_t ignore_label, bool mean,
                                 double label_smoothing = 0);

}  // namespace chainerx
