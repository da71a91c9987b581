// Finding nonzero elements.
#include <algorithm>
#include <cstring>

#include "chainerx/core/interrupt.h"
#include "chainerx/kernels/indexing.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"

namespace chainerx::native {
namespace {

// Any byte but 0 is true: foreign memory may have others than 1. Counted in lanes of a byte, which
// hold 255 rounds.
void NonzeroCount(const Array& x, const Array& count) {
    const auto* p = reinterpret_cast<const uint8_t*>(x.raw_data());
    const int64_t n = x.GetTotalSize();
    constexpr int64_t kLanes = 64;
    int64_t total = 0;
    int64_t i = 0;
    for (int64_t round = 1; i + kLanes <= n; ++round) {
        if (round % 64 == 0) internal::CheckInterrupt();  // after each MiB
        uint8_t lanes[kLanes] = {};
        for (int r = 0; r < 255 && i + kLanes <= n; ++r, i += kLanes) {
            for (int64_t j = 0; j < kLanes; ++j) lanes[j] += static_cast<uint8_t>(p[i + j] != 0);
        }
        for (const uint8_t lane : lanes) total += lane;
    }
    for (; i < n; ++i) total += p[i] != 0;
    *reinterpret_cast<int64_t*>(count.raw_data()) = total;
}
CX_NATIVE_KERNEL(NonzeroCount)

// Writes the positions of the first `room` true ones among p[0], ..., p[n - 1] to `to`, and returns
// how many there are.
int64_t FindTruePart(const uint8_t* p, int64_t n, int64_t* to, int64_t room) {
    constexpr int64_t kStep = 8;
    int64_t found = 0;
    int64_t i = 0;
    for (; i + kStep <= n && found < room; i += kStep) {
        uint64_t word;
        std::memcpy(&word, p + i, sizeof(word));
        if (word == 0) continue;
        if (found + kStep <= room) {
            // No branch depends on an element; what is not true is overwritten by the next one.
            for (int64_t k = 0; k < kStep; ++k) {
                to[found] = i + k;
                found += p[i + k] != 0;
            }
        } else {
            for (int64_t k = 0; k < kStep && found < room; ++k) {
                if (p[i + k] != 0) to[found++] = i + k;
            }
        }
    }
    for (; i < n && found < room; ++i) {
        if (p[i] != 0) to[found++] = i;
    }
    return found;
}

// The same, for any length.
int64_t FindTrue(const uint8_t* p, int64_t n, int64_t* to, int64_t room) {
    int64_t found = 0;
    InParts(n, [&](int64_t begin, int64_t end) {
        const int64_t count = FindTruePart(p + begin, end - begin, to + found, room - found);
        if (begin != 0) {
            for (int64_t i = 0; i < count; ++i) to[found + i] += begin;
        }
        found += count;
    });
    return found;
}

void Nonzero(const Array& x, const Array& out) {
    const auto* p = reinterpret_cast<const uint8_t*>(x.raw_data());
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t count = out.shape()[1];
    if (count == 0) return;
    const int last = x.ndim() - 1;
    const int64_t length = x.shape()[last];
    int64_t index[kMaxNdim] = {};
    const uint8_t* const end = p + x.GetTotalSize();
    int64_t found = 0;
    for (; found < count && p < end; p += length) {
        const int64_t begin = found;
        found += FindTrue(p, length, to + last * count + found, count - found);
        for (int d = 0; d < last; ++d) {
            std::fill(to + d * count + begin, to + d * count + found, index[d]);
        }
        for (int d = last - 1; d >= 0 && ++index[d] == x.shape()[d]; --d) index[d] = 0;
    }
    // Fewer than were counted, if another thread has written to the array meanwhile.
    for (int d = 0; d <= last; ++d) std::fill(to + d * count + found, to + (d + 1) * count, 0);
}
CX_NATIVE_KERNEL(Nonzero)

}  // namespace
}  // namespace chainerx::native
