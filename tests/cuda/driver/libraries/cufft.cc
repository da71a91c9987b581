// The stand-in for cuFFT: one-dimensional transforms of packed rows.
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "standin.h"

namespace chainerx::cuda::standin {
namespace {

using Number = std::complex<double>;

enum Status { kInvalidPlan = 1, kInvalidValue = 4, kInvalidSize = 8, kUnaligned = 9 };

struct Plan {
    bool automatic = true;
    long long n = 0, batch = 0;
    cudaDataType in{}, out{};
    std::uint64_t work_size = 0;
    CUstream stream = nullptr;
    void* work = nullptr;
};

std::mutex mutex;
std::map<cufftHandle, Plan> plans;
cufftHandle next_plan = 1;

Plan& At(cufftHandle handle) {
    const auto it = plans.find(handle);
    Require(it != plans.end(), "cuFFT: there is no such plan", kInvalidPlan);
    return it->second;
}

// out_j = the sum of in[k * stride] w^jk, by the smallest factor of n.
void Compute(long long n, const Number* in, long long stride, double sign, Number* out) {
    long long p = 2;
    while (p * p <= n && n % p != 0) ++p;
    if (n % p != 0) p = n;
    const long long m = n / p;
    std::vector<Number> parts(n);
    for (long long r = 0; r < p; ++r) {
        if (m == 1) {
            parts[r] = in[r * stride];
        } else {
            Compute(m, in + r * stride, stride * p, sign, parts.data() + r * m);
        }
    }
    std::vector<Number> roots(n);
    for (long long k = 0; k < n; ++k) {
        roots[k] =
            std::polar(1.0, sign * 2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
    }
    for (long long k = 0; k < n; ++k) {
        Number sum = 0;
        for (long long r = 0; r < p; ++r) sum += parts[r * m + k % m] * roots[r * k % n];
        out[k] = sum;
    }
}

template <typename T>
void Transform(const Plan& plan, T* in, T* out, int direction) {
    const bool from_real = plan.in == CUDA_R_32F || plan.in == CUDA_R_64F;
    const bool to_real = plan.out == CUDA_R_32F || plan.out == CUDA_R_64F;
    const long long n = plan.n, half = n / 2 + 1;
    std::vector<Number> x(n), y(n);
    for (long long row = 0; row < plan.batch; ++row) {
        for (long long k = 0; k < n; ++k) {
            if (from_real) {
                x[k] = in[row * n + k];
            } else if (to_real) {
                const T* z = in + 2 * (row * half + (k < half ? k : n - k));
                x[k] = {z[0], k < half ? z[1] : -z[1]};
            } else {
                x[k] = {in[2 * (row * n + k)], in[2 * (row * n + k) + 1]};
            }
        }
        Compute(n, x.data(), 1, from_real ? -1 : to_real ? 1 : direction, y.data());
        for (long long k = 0; k < (from_real ? half : n); ++k) {
            if (to_real) {
                out[row * n + k] = static_cast<T>(y[k].real());
                continue;
            }
            T* z = out + 2 * (row * (from_real ? half : n) + k);
            z[0] = static_cast<T>(y[k].real());
            z[1] = static_cast<T>(y[k].imag());
        }
    }
    // As the library may do.
    if (to_real && in != out) std::memset(in, 0xff, plan.batch * half * 2 * sizeof(T));
}

}  // namespace
}  // namespace chainerx::cuda::standin

using namespace chainerx::cuda;
using namespace chainerx::cuda::standin;

CX_EXPORT int cufftGetVersion(int* version) {
    *version = 12500;
    return 0;
}

CX_EXPORT int cufftCreate(cufftHandle* plan) {
    const std::lock_guard lock{mutex};
    *plan = next_plan++;
    plans[*plan];
    return 0;
}

CX_EXPORT int cufftDestroy(cufftHandle plan) {
    const std::lock_guard lock{mutex};
    return plans.erase(plan) == 1 ? 0 : kInvalidPlan;
}

CX_EXPORT int cufftSetAutoAllocation(cufftHandle plan, int automatic) {
    const std::lock_guard lock{mutex};
    return Run([&] { At(plan).automatic = automatic != 0; });
}

CX_EXPORT int cufftXtMakePlanMany(cufftHandle handle, int rank, long long* n, long long* in_embed,
                                  long long, long long, cudaDataType in, long long* out_embed,
                                  long long, long long, cudaDataType out, long long batch,
                                  std::size_t* work_size, cudaDataType type) {
    const std::lock_guard lock{mutex};
    return Run([&] {
        Plan& plan = At(handle);
        Require(plan.n == 0, "cuFFT: the plan is made already", kInvalidPlan);
        Require(rank == 1 && in_embed == nullptr && out_embed == nullptr,
                "cuFFT: the stand-in has packed rows only", kInvalidValue);
        Require(*n > 0 && batch > 0, "cuFFT: sizes must be positive", kInvalidSize);
        const bool is_single = type == CUDA_C_32F;
        const cudaDataType real = is_single ? CUDA_R_32F : CUDA_R_64F;
        Require((type == CUDA_C_32F || type == CUDA_C_64F) && (in == type || in == real) &&
                    (out == type || out == real) && (in == type || out == type),
                "cuFFT: types do not fit", kInvalidValue);
        Require(!plan.automatic, "cuFFT: the stand-in allocates nothing", kInvalidValue);
        plan.n = *n;
        plan.batch = batch;
        plan.in = in;
        plan.out = out;
        plan.work_size = *n % 2 == 0 ? 0 : 16 * static_cast<std::uint64_t>(*n);
        *work_size = plan.work_size;
    });
}

CX_EXPORT int cufftSetStream(cufftHandle plan, CUstream stream) {
    const std::lock_guard lock{mutex};
    return Run([&] { At(plan).stream = stream; });
}

CX_EXPORT int cufftSetWorkArea(cufftHandle plan, void* work) {
    const std::lock_guard lock{mutex};
    return Run([&] { At(plan).work = work; });
}

CX_EXPORT int cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
    const std::lock_guard lock{mutex};
    return Run([&] {
        const Plan plan = At(handle);
        Require(plan.n != 0, "cuFFT: the plan is not made", kInvalidPlan);
        Require(direction == CUFFT_FORWARD || direction == CUFFT_INVERSE, "cuFFT: direction",
                kInvalidValue);
        const bool is_complex = plan.in == plan.out;
        const long long half = plan.n / 2 + 1;
        const auto count = [&](cudaDataType type) {
            const bool is_real = type == CUDA_R_32F || type == CUDA_R_64F;
            return static_cast<std::uint64_t>(plan.batch * (is_complex || is_real ? plan.n : half));
        };
        const std::uint64_t alignment = std::max(SizeOf(plan.in), SizeOf(plan.out));
        Require(IsMemory(in, count(plan.in) * SizeOf(plan.in), alignment) &&
                    IsMemory(out, count(plan.out) * SizeOf(plan.out), alignment),
                "cuFFT: bad address of an array", kUnaligned);
        Require(plan.work_size == 0 || IsMemory(plan.work, plan.work_size, 16),
                "cuFFT: bad work area", kInvalidValue);
        Enqueue(
            plan.stream,
            [=] {
                if (plan.work_size != 0) std::memset(View(plan.work), 0xff, plan.work_size);
                if (plan.in == CUDA_R_64F || plan.in == CUDA_C_64F) {
                    Transform(plan, static_cast<double*>(View(in)), static_cast<double*>(View(out)),
                              direction);
                } else {
                    Transform(plan, static_cast<float*>(View(in)), static_cast<float*>(View(out)),
                              direction);
                }
            },
            kInvalidPlan);
    });
}
