// bincount: counts each number, or sums its weights.
#include <algorithm>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/index/indexing.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// Several tables of counters, so that equal neighbors don't wait for each other; used as long as
// all tables stay in cache.
constexpr int64_t kWays = 4;
constexpr int64_t kMaxCounters = 4096;

template <typename T>
[[noreturn]] CX_COLD void FailAt(const char* op, const T* x, int64_t i, int64_t length) {
    Fail(KernelError::Index(op, "x", i, static_cast<int64_t>(x[i]), length, !std::is_signed_v<T>));
}

// Counts x[begin], ..., x[end - 1] in rows of `length` counters.
template <int64_t kRows, typename T>
void CountPart(const char* op, const T* x, int64_t begin, int64_t end, int64_t length,
               int64_t* counters) {
    const auto n = static_cast<uint64_t>(length);
    const auto place = [](T number) { return static_cast<uint64_t>(static_cast<int64_t>(number)); };
    int64_t i = begin;
    for (; i + kRows <= end; i += kRows) {
        uint64_t at[kRows];
        bool fits = true;
        for (int64_t k = 0; k < kRows; ++k) {
            at[k] = place(x[i + k]);
            fits &= at[k] < n;
        }
        if (!fits) [[unlikely]]
            break;
        for (int64_t k = 0; k < kRows; ++k) {
            ++counters[k * length + static_cast<int64_t>(at[k])];
        }
    }
    for (; i < end; ++i) {
        const uint64_t at = place(x[i]);
        if (at >= n) [[unlikely]]
            FailAt(op, x, i, length);
        ++counters[at];
    }
}

void CountAll(const char* op, const auto* x, int64_t n, int64_t length, int64_t* out) {
    constexpr int64_t kGrain = 1 << 18;
    constexpr int64_t kMaxPieces = 16;
    std::fill_n(out, length, int64_t{0});
    // Clearing and summing the tables must be cheap.
    const int64_t rows = length <= std::min(kMaxCounters, n / (4 * kWays)) ? kWays : 1;
    if (rows == 1) {
        ForChunks(
            n, [&](int64_t begin, int64_t end) { CountPart<1>(op, x, begin, end, length, out); });
        return;
    }
    const int64_t piece = std::max(kGrain, CeilDiv(n, kMaxPieces));
    const int64_t pieces = CeilDiv(n, piece);
    const int64_t size = kWays * length;
    const Scratch<int64_t> counters{pieces * size};
    ParallelFor(pieces, [&](int64_t k) {
        int64_t* part = counters.data() + k * size;
        std::fill_n(part, size, int64_t{0});
        const int64_t first = k * piece;
        ForChunks(std::min(piece, n - first), [&](int64_t begin, int64_t end) {
            CountPart<kWays>(op, x, first + begin, first + end, length, part);
        });
    });
    for (int64_t r = 0; r < pieces * kWays; ++r) {
        const int64_t* row = counters.data() + r * length;
        for (int64_t j = 0; j < length; ++j) out[j] += row[j];
    }
}

void CountEach(const char* op, const Array& numbers, const Array& out) {
    VisitInt(numbers.dtype(), [&]<typename T>() {
        CountAll(op, reinterpret_cast<const T*>(numbers.raw_data()), numbers.GetTotalSize(),
                 out.GetTotalSize(), reinterpret_cast<int64_t*>(out.raw_data()));
    });
}
CX_NATIVE_KERNEL(CountEach)

void SumEach(const char* op, const Array& numbers, const Array& weights, const Array& out) {
    auto* sums = reinterpret_cast<double*>(out.raw_data());
    const int64_t length = out.GetTotalSize();
    std::fill_n(sums, length, 0.0);
    VisitInt(numbers.dtype(), [&]<typename T>() {
        const auto* x = reinterpret_cast<const T*>(numbers.raw_data());
        VisitDtype(weights.dtype(), [&]<typename W>() {
            const auto* w = reinterpret_cast<const W*>(weights.raw_data());
            ForChunks(numbers.GetTotalSize(), [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    const auto at = static_cast<uint64_t>(static_cast<int64_t>(x[i]));
                    if (at >= static_cast<uint64_t>(length)) [[unlikely]]
                        FailAt(op, x, i, length);
                    sums[at] += Cast<double>(w[i]);
                }
            });
        });
    });
}
CX_NATIVE_KERNEL(SumEach)

}  // namespace
}  // namespace chainerx::native
