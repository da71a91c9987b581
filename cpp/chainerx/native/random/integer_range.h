// Ranges of random integers whose ends are operands, on the host and on devices.
#pragma once

#include <cstdint>
#include <limits>

namespace chainerx::native {

// An end of a range: the bits of an int64 or of a uint64.
struct RangeEnd {
    uint64_t bits;
    bool is_unsigned;

    bool is_negative() const { return !is_unsigned && static_cast<int64_t>(bits) < 0; }
    double ToDouble() const {
        return is_unsigned ? static_cast<double>(bits)
                           : static_cast<double>(static_cast<int64_t>(bits));
    }
    friend bool operator<(const RangeEnd& a, const RangeEnd& b) {
        if (a.is_negative() != b.is_negative()) return a.is_negative();
        return a.bits < b.bits;
    }
};

enum class RangeFault : int8_t { kNone, kEmpty, kLow, kHigh };

// The start and the length of an element's range; 0 means 2^64.
struct IntegerRange {
    uint64_t start;
    uint64_t size;
    RangeFault fault;
};

// low <= x < high, or <= high if closed. T is the dtype of the numbers.
template <typename T>
IntegerRange MakeRange(const RangeEnd& low, const RangeEnd& high, bool closed) {
    using Limits = std::numeric_limits<T>;
    constexpr bool kUnsigned = !(Limits::min() < 0);
    const RangeEnd least{static_cast<uint64_t>(Limits::min()), kUnsigned};
    const RangeEnd most{static_cast<uint64_t>(Limits::max()), kUnsigned};
    if (closed ? high < low : !(low < high)) return {0, 1, RangeFault::kEmpty};
    if (low < least || most < low) return {0, 1, RangeFault::kLow};
    // One more than the largest number, if that is not included.
    if (most < high && (closed || high.bits - 1 != most.bits)) return {0, 1, RangeFault::kHigh};
    return {low.bits, high.bits - low.bits + (closed ? 1 : 0), RangeFault::kNone};
}

}  // namespace chainerx::native
