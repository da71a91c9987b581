// Fills memory, and copies it from and to the host.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "chainerx/core/capture_observer.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/strided/copy_bytes.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {
namespace {

constexpr int64_t kGrain = 1 << 16;  // elements of a chunk

void Fill(const Array& out, const Scalar& value) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        const T v = value.To<T>();
        // Equal bytes are set by memset, in half of the time of other values.
        const auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(v);
        const bool is_zero = std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
        ForEachRun(StridedIterator<1>{AxisOrder::kByStride, out},
                   [v, is_zero](auto& p, auto& s, int64_t n) {
                       ParallelFor(CeilDiv(n, kGrain), [&](int64_t i) {
                           char* to = p[0] + i * kGrain * s[0];
                           const int64_t count = std::min(kGrain, n - i * kGrain);
                           if (s[0] == sizeof(T) && is_zero) {
                               std::memset(to, 0, static_cast<size_t>(count) * sizeof(T));
                           } else if (s[0] == sizeof(T)) {
                               std::fill_n(reinterpret_cast<T*>(to), count, v);
                           } else {
                               for (int64_t k = 0; k < count; ++k)
                                   *reinterpret_cast<T*>(to + k * s[0]) = v;
                           }
                       });
                   });
    });
}
CX_NATIVE_KERNEL(Fill)

// memcpy may not be given the null pointers that stand for no bytes.
void Copy(void* dst, const void* src, int64_t nbytes) {
    if (nbytes != 0) CopyBytes(static_cast<char*>(dst), static_cast<const char*>(src), nbytes);
}

}  // namespace

void NativeDevice::CopyFromHost(void* dst, const void* src, int64_t nbytes) {
    Copy(dst, src, nbytes);
    if (auto* capture = internal::CurrentCapture()) [[unlikely]]
        capture->CopiedFromHost(*this, dst, src, nbytes);
}

void NativeDevice::ReadToHost(void* dst, const void* src, int64_t nbytes) {
    Copy(dst, src, nbytes);
}

}  // namespace chainerx::native
