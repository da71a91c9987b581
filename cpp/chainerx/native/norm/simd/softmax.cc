// SIMD loops of softmax.
#include "chainerx/native/norm/simd/softmax_rows.h"
#include "chainerx/native/norm/softmax_loops.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

template <typename T>
constexpr SoftmaxLoops<T> kLoops = {SoftmaxStats<T>, Softmax<T>, LogSoftmax<T>, ScaledSoftmax<T>};

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::SoftmaxUnit CX_UNIT_ENTRY;
const chainerx::native::SoftmaxUnit CX_UNIT_ENTRY = {chainerx::native::CX_ISA::kLoops<float>,
                                                     chainerx::native::CX_ISA::kLoops<double>};
}
