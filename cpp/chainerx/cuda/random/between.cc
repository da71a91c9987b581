// Integers of ranges whose ends are operands, and checks of parameters.
#include <cmath>
#include <limits>

#include "chainerx/cuda/random/calls.h"
#include "chainerx/cuda/random/params.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/kernels/random/parameters.h"
#include "chainerx/kernels/random/random.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kHeader = "random/device/between.h";
CX_DEVICE_KERNEL(kBetween, kHeader, BetweenParams, "FillBetween<T>", Dtype)
CX_DEVICE_KERNEL(kBetweenEach, kHeader, BetweenParams, "FillBetweenEach<T>", Dtype)
void RandomBetween(const Array& state, const Array& low, const Array& high, bool closed,
                   const Array& out) {
    BetweenParams params{};
    params.size = out.GetTotalSize();
    params.low_step = low.GetTotalSize() == 1 ? 0 : 1;
    params.high_step = high.GetTotalSize() == 1 ? 0 : 1;
    const bool is_one = params.low_step == 0 && params.high_step == 0;
    const int64_t width = is_one ? 4 : 2;
    const RandomLaunch launch{state, CeilDiv(params.size, width)};
    for (const Array& x : {ConstArrayRef{low}, ConstArrayRef{high}, ConstArrayRef{out}}) {
        launch.Use(x);
    }
    params.call = launch.call();
    params.out = out.raw_data();
    params.low = low.raw_data();
    params.high = high.raw_data();
    params.low_is_unsigned = low.dtype() == Dtype::kUInt64;
    params.high_is_unsigned = high.dtype() == Dtype::kUInt64;
    params.closed = closed;
    params.log = launch.device().error_log();
    // In the order of native::RangeFault.
    params.sites[0] = MakeErrorSite(MakeRangeError(false, true, closed, 0, 0));
    params.sites[1] = MakeErrorSite(MakeRangeError(true, false, closed, 0, 0));
    params.sites[2] = MakeErrorSite(MakeRangeError(false, false, closed, 0, 0));
    launch.Run(is_one ? kBetween : kBetweenEach, params, out.dtype());
}
CX_CUDA_KERNEL(RandomBetween)

CX_DEVICE_KERNEL(kReportOutside, kHeader, DomainParams, "ReportOutside")
void CheckDomain(const Array& x, const char* op, const char* argument, const Domain& domain) {
    if (x.GetTotalSize() == 0) return;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    CudaDevice& device = Prepare(x);
    DomainParams params{};
    params.in = x.raw_data();
    params.size = x.GetTotalSize();
    params.low = domain.has_low ? domain.low : std::nextafter(domain.low, kInfinity);
    params.high = domain.has_high ? domain.high : std::nextafter(domain.high, -kInfinity);
    params.has_position = x.ndim() != 0;
    params.log = device.error_log();
    params.site = MakeErrorSite(KernelError::Domain(op, argument, 0, 0, domain.expected));
    kReportOutside.Launch(device, ThreadsFor(params.size), params);
}
CX_CUDA_KERNEL(CheckDomain)

}  // namespace
}  // namespace chainerx::cuda
