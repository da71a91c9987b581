// Integers of ranges whose ends are operands, and parameters that are outside of their domain.
#pragma once

#include "chainerx/cuda/device/errors.h"
#include "chainerx/cuda/random/device/fill.h"
#include "chainerx/native/random/integer_range.h"

namespace chainerx::cuda {

template <typename T>
inline native::IntegerRange RangeAt(const BetweenParams& p, int64_t i, bool reports = true) {
    using native::RangeFault;
    const native::RangeEnd low{p.low[i * p.low_step], p.low_is_unsigned};
    const native::RangeEnd high{p.high[i * p.high_step], p.high_is_unsigned};
    const native::IntegerRange range = native::MakeRange<T>(low, high, p.closed);
    if (range.fault != RangeFault::kNone && reports) {
        const double end = range.fault == RangeFault::kLow ? low.ToDouble() : high.ToDouble();
        const int site = static_cast<int>(range.fault) - static_cast<int>(RangeFault::kEmpty);
        ReportError(p.log, p.sites[site], i, std::bit_cast<int64_t>(end));
    }
    return range;
}

// One range for all. Which of the two ways draws is known only here.
template <typename T>
inline void FillBetween(const BetweenParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t first = 4 * ThreadNumber();
    if (first >= p.size) return;
    const native::IntegerRange range = RangeAt<T>(p, 0, first == 0);
    if (IsShortRange(range.size)) {
        StoreNumbers(
            p.out, p.size, first,
            DrawShortIntegers<T>(stream, first, range.start, static_cast<uint32_t>(range.size)));
        return;
    }
    for (int64_t i = first; i < first + 4 && i < p.size; i += 2) {
        StoreNumbers(p.out, p.size, i, DrawIntegers<T>(stream, i, range.start, range.size));
    }
}

// A range for each element.
template <typename T>
inline void FillBetweenEach(const BetweenParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t first = 2 * ThreadNumber();
    if (first >= p.size) return;
    Numbers<T, 2> y{};
    for (int j = 0; j < 2 && first + j < p.size; ++j) {
        const native::IntegerRange range = RangeAt<T>(p, first + j);
        y.v[j] = DrawIntegers<T>(stream, first, range.start, range.size).v[j];
    }
    StoreNumbers(p.out, p.size, first, y);
}

// Reports the first element of the block of threads that is not from low to high.
inline void ReportOutside(const DomainParams& p) {
    CX_SHARED(unsigned, first, 1);
    const int64_t i = ThreadNumber();
    const double x = i < p.size ? p.in[i] : p.low;
    const bool is_bad = !(x >= p.low && x <= p.high);
    if (__syncthreads_or(is_bad ? 1 : 0) == 0) return;
    if (threadIdx.x == 0) first[0] = kBlockThreads;
    __syncthreads();
    if (is_bad) atomicMin(&first[0], threadIdx.x);
    __syncthreads();
    if (threadIdx.x == first[0]) {
        ReportError(p.log, p.site, p.has_position ? i : -1, std::bit_cast<int64_t>(x));
    }
}

}  // namespace chainerx::cuda
