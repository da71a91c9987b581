// Fourier transforms by cuFFT.
#include "chainerx/kernels/signal/fft.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <numeric>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/cuda/signal/params.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

CX_DEVICE_KERNEL(kCopyRows, "signal/device/rows.h", RowsParams, "CopyRows<T>", Dtype)

// Copies numbers; both arrays have the same shape.
void CopyRows(const Array& from, const Array& to, int8_t axis, const RowsChange& change) {
    RowsParams params{};
    params.in = from.raw_data();
    params.out = to.raw_data();
    params.n = to.GetTotalSize();
    params.change = change;
    const auto add = [&](int8_t d) {
        params.dims[params.ndim] = to.shape()[d];
        params.in_strides[params.ndim] = from.strides()[d];
        params.out_strides[params.ndim++] = to.strides()[d];
    };
    add(axis);
    for (int8_t d = to.ndim() - 1; d >= 0; --d) {
        if (d != axis) add(d);
    }
    kCopyRows.Launch(Prepare(to, from), ThreadsFor(params.n), params, to.dtype());
}

// Whether cuFFT reads the array, or writes it, as it is.
bool HasRows(const Array& x, int8_t axis) {
    return x.IsContiguous() && axis == x.ndim() - 1 && IsAligned(x, 16);
}

// A new array of this shape, whose rows along the axis are contiguous.
Array EmptyRows(const Shape& shape, int8_t axis, Dtype dtype, Device& device) {
    const Array rows = EmptyUnchecked(shape, dtype, device);
    Strides strides = rows.strides();
    int64_t stride = GetItemSize(dtype);
    strides[axis] = stride;
    stride *= shape[axis];
    for (int8_t d = rows.ndim() - 1; d >= 0; --d) {
        if (d == axis) continue;
        strides[d] = stride;
        stride *= shape[d];
    }
    return internal::MakeView(rows, shape, strides, rows.raw_data());
}

struct TransformKey {
    int device;
    CUstream stream;
    cudaDataType in;
    cudaDataType out;
    int64_t n;
    int64_t batch;

    bool operator==(const TransformKey&) const = default;
};

struct Plan {
    TransformKey key;
    cufftHandle handle;
    size_t work;
};

// cuFFT leaves little memory to a device whose free memory is in the pool.
void MakePlan(CudaDevice& device, Plan& plan) {
    const TransformKey& key = plan.key;
    const auto make = [&] {
        long long n = key.n;
        const cudaDataType type =
            key.in == CUDA_C_32F || key.out == CUDA_C_32F ? CUDA_C_32F : CUDA_C_64F;
        CX_CUFFT_CALL(Create, &plan.handle);
        CX_CUFFT_CALL(SetAutoAllocation, plan.handle, 0);
        try {
            CX_CUFFT_CALL(XtMakePlanMany, plan.handle, 1, &n, nullptr, 1LL, 1LL, key.in, nullptr,
                          1LL, 1LL, key.out, static_cast<long long>(key.batch), &plan.work, type);
            CX_CUFFT_CALL(SetStream, plan.handle, key.stream);
        } catch (...) {
            GetCufft().Destroy(plan.handle);
            throw;
        }
    };
    try {
        make();
    } catch (const OutOfMemoryError&) {
        device.ReleaseCachedMemory();
        make();
    }
}

// The plans that were used last, the newest first.
class Plans {
 public:
    void Run(CudaDevice& device, const TransformKey& key, const Array& in, const Array& out,
             bool inverse) {
        device.current_stream().CheckMayUse("cuFFT");
        const std::lock_guard lock{mutex_};
        const Plan& plan = Find(device, key);
        Array work;
        if (plan.work != 0) {
            const auto nbytes = static_cast<int64_t>(plan.work);
            work = EmptyUnchecked(Shape{nbytes}, Dtype::kUInt8, device);
            device.RecordUse(work, device.current_stream());
            CX_CUFFT_CALL(SetWorkArea, plan.handle, static_cast<void*>(work.raw_data()));
        }
        CX_CUFFT_CALL(XtExec, plan.handle, static_cast<void*>(in.raw_data()),
                      static_cast<void*>(out.raw_data()), inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
    }

 private:
    static constexpr size_t kMost = 128;

    const Plan& Find(CudaDevice& device, const TransformKey& key) {
        const auto at =
            std::ranges::find_if(plans_, [&](const Plan& plan) { return plan.key == key; });
        if (at != plans_.end()) {
            plans_.splice(plans_.begin(), plans_, at);
            return plans_.front();
        }
        Plan plan{key, 0, 0};
        MakePlan(device, plan);
        if (plans_.size() == kMost) {
            // It waits for work that uses the plan.
            CX_CUFFT_CALL(Destroy, plans_.back().handle);
            plans_.pop_back();
        }
        return plans_.emplace_front(plan);
    }

    internal::ForkMutex mutex_;
    std::list<Plan> plans_;
};

constinit internal::Lazy<Plans> g_plans;

// Transforms in one way or the other; cuFFT goes forward from real numbers, and inversely to them.
void Transform(const Array& x, int8_t axis, bool inverse, double scale, double inside,
               const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const bool from_real = !IsComplex(x.dtype());
    const bool to_real = !IsComplex(out.dtype());
    const int64_t n = (to_real ? out : x).shape()[axis];
    RowsChange before;
    RowsChange after;
    after.scale = scale;
    if (from_real) {
        after.inside = inside;
        after.length = n;
        after.conjugates = inverse;
    } else if (to_real) {
        before = {1, inside, n, !inverse, true};
    }
    if (n == 1) {
        CallOn<kernels::AsType>(x.device(), x, out);
        CopyRows(out, out, axis, after);
        return;
    }
    CudaDevice& device = Prepare(x, out);
    Array in = x;
    if (to_real || !HasRows(x, axis)) {  // cuFFT overwrites what it makes real
        in = EmptyRows(x.shape(), axis, x.dtype(), device);
        CopyRows(x, in, axis, before);
    }
    const Array rows = HasRows(out, axis) ? out : EmptyRows(out.shape(), axis, out.dtype(), device);
    const TransformKey key{device.index(),
                           device.current_stream().handle(),
                           DataTypeOf(x.dtype()),
                           DataTypeOf(out.dtype()),
                           n,
                           out.GetTotalSize() / out.shape()[axis]};
    Prepare(in, rows);
    g_plans.Get().Run(device, key, in, rows, from_real ? false : to_real || inverse);
    const bool changes = scale != 1 || (from_real && (inside != 1 || inverse));
    if (changes || rows.raw_data() != out.raw_data()) CopyRows(rows, out, axis, after);
}

void FourierTransform(const Array& x, int8_t axis, bool inverse, double scale, const Array& out) {
    Transform(x, axis, inverse, scale, 1, out);
}
CX_CUDA_KERNEL(FourierTransform)

void FourierFromReal(const Array& x, int8_t axis, bool inverse, double scale, double inside,
                     const Array& out) {
    Transform(x, axis, inverse, scale, inside, out);
}
CX_CUDA_KERNEL(FourierFromReal)

void FourierToReal(const Array& x, int8_t axis, bool inverse, double scale, double inside,
                   const Array& out) {
    Transform(x, axis, inverse, scale, inside, out);
}
CX_CUDA_KERNEL(FourierToReal)

}  // namespace
}  // namespace chainerx::cuda
