// SIMD loops of softmax.
#include "chainerx/native/norm/simd/softmax_rows.h"
#include "chainerx/native/norm/softmax_loops.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
constexpr SoftmaxLoops<T> kLoops = {SoftmaxStats<T>, Softmax<T>, LogSoftmax<T>, ScaledSoftmax<T>};

}  // namespace

CX_EXPORT_LOOPS(SoftmaxUnit){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
