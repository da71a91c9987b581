#include "chainerx/cuda/linalg/matrices.h"

#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kNames[] = {"CheckFinite",    "CheckInfo",     "MakeComplexVectors",
                                  "FactorLu",       "SolveFactored", "Determinants",
                                  "FactorCholesky", "Diagonalize"};

constinit const FunctionTable<kNumDtypes, std::size(kNames)> g_functions;

}  // namespace

MatrixParams MakeMatrixParams(const Array& a) {
    MatrixParams params{};
    params.a = a.raw_data();
    params.count = CountMatrices(a);
    params.rows = Rows(a);
    params.n = Columns(a);
    params.log = static_cast<CudaDevice&>(a.device()).error_log();
    return params;
}

void LaunchMatrices(CudaDevice& device, MatrixKernel kernel, Dtype dtype,
                    const MatrixParams& params) {
    const auto number = static_cast<int>(kernel);
    const char* const name = kNames[number];
    const bool is_thread_each =
        kernel == MatrixKernel::kCheckInfo || kernel == MatrixKernel::kDeterminants;
    const CUfunction function = g_functions.Get(device, static_cast<int>(dtype), number, [&] {
        const char* type = DeviceTypeOf(dtype);
        const std::string arguments =
            kernel == MatrixKernel::kCheckInfo ? std::string{}
            : kernel == MatrixKernel::kDeterminants
                ? StrCat("<", type, ", ", DeviceTypeOf(RealDtype(dtype)), ">")
                : StrCat("<", type, ">");
        const bool is_check = number <= static_cast<int>(MatrixKernel::kMakeComplexVectors);
        return MakeSource(StrCat(name, "_", GetDtypeName(dtype)),
                          is_check ? "linalg/device/matrices.h" : "linalg/device/factor.h",
                          "MatrixParams", StrCat(name, arguments, "(p);"), "128, 1");
    });
    const int64_t blocks = is_thread_each ? CeilDiv(params.count, kMatrixThreads) : params.count;
    Launch(device.current_stream(), function, {blocks, kMatrixThreads}, params);
}

void CheckInfo(CudaDevice& device, const Array& info, int64_t first, const KernelError& error) {
    MatrixParams params{};
    params.info = info.raw_data();
    params.count = info.GetTotalSize();
    params.first = first;
    params.log = device.error_log();
    params.site = MakeErrorSite(error);
    LaunchMatrices(device, MatrixKernel::kCheckInfo, Dtype::kInt32, params);
}

Array Transposed(const Array& a) {
    Shape shape = a.shape();
    Strides strides = a.strides();
    const int8_t last = a.ndim() - 1;
    std::swap(shape[last], shape[last - 1]);
    std::swap(strides[last], strides[last - 1]);
    return internal::MakeView(a, shape, strides, a.raw_data());
}

Array ContiguousCopy(const Array& a) {
    const Array copy = EmptyUnchecked(a.shape(), a.dtype(), a.device());
    CallOn<kernels::AsType>(a.device(), a, copy);
    return copy;
}

}  // namespace chainerx::cuda
