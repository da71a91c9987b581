// Normalized exponentials, and the loss made of them.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// exp(x) / sum exp(x), the sum taken over all `axes` together. Integers are computed in the default
// float dtype.
CX_API Array Softmax(const Array& x, const Axes& axes = {1});
CX_API Array LogSoftmax(const Array& x, const Axes& axes = {1});

// -log softmax(x1)[i, x2[i]] for each row i of x1, or 0 where x2[i] is -1. x2 is a vector of
// integers; IndexError for other labels out of range. `label_smoothing`, 0 to 1, is the part of the
// weight that all classes share; the label has the rest.
CX_API Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, double label_smoothing = 0);
// The same for x1 (n, classes, ...) and x2 (n, ...); 0 where x2 is `ignore_label`. With `mean`, one
// number: the mean where x2 is another label, 0 if that is nowhere.
CX_API Array SoftmaxCrossEntropy(const Array& x1, const Array& x2, int64_t ignore_label, bool mean,
                                 double label_smoothing = 0);

}  // namespace chainerx
