// Reductions over any axes.
#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided.h"

namespace chainerx::native {
namespace {

void Sum(const Array& x, const Axes& axes, const Array& out) {
    // `out` seen with the shape of x: stride 0 on the reduced axes.
    Strides strides;
    int8_t k = 0;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
        strides.push_back(reduced ? 0 : out.strides()[k++]);
    }
    const Array to = internal::MakeView(out, x.shape(), strides, out.raw_data());
    CallOn<kernels::Fill>(out.device(), out, Scalar{0});
    VisitDtype(out.dtype(), [&]<typename Out>() {
        using C = ComputeType<Out>;
        VisitDtype(x.dtype(), [&]<typename T>() {
            Squashed<2>{to, x}.ForEachRun([](auto& p, auto& s, int64_t n) {
                for (int64_t i = 0; i < n; ++i) {
                    auto& o = *reinterpret_cast<Out*>(p[0] + i * s[0]);
                    o = Cast<Out>(Cast<C>(o) +
                                  Cast<C>(*reinterpret_cast<const T*>(p[1] + i * s[1])));
                }
            });
        });
    });
}
CX_NATIVE_KERNEL(Sum)

}  // namespace
}  // namespace chainerx::native
