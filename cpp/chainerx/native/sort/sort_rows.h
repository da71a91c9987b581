// Helpers of the sorting kernels: rows, key buffers, and signed zeros.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"
#include "chainerx/native/sort/sort_driver.h"

namespace chainerx::native {
namespace {

// Calls f(row) for each row of `x`, (rows, n), from several threads.
void ForEachRow(const Array& x, const auto& f) {
    constexpr int64_t kGrain = 1 << 14;
    const int64_t rows = x.shape()[0];
    const int64_t group = std::max<int64_t>(1, kGrain / x.shape()[1]);
    ParallelFor(CeilDiv(rows, group), [&](int64_t g) {
        const int64_t end = std::min(rows, (g + 1) * group);
        for (int64_t row = g * group; row < end; ++row) f(row);
    });
}

template <typename T>
T* RowOf(const Array& x, int64_t row) {
    return reinterpret_cast<T*>(x.raw_data()) + row * x.shape()[1];
}

// A buffer of n keys; small ones are on the stack.
template <typename K>
class KeyRoom {
 public:
    explicit KeyRoom(int64_t n) : large_{n > kInlineKeys ? n : 0} {}
    KeyRoom(const KeyRoom&) = delete;
    KeyRoom& operator=(const KeyRoom&) = delete;
    K* data() { return large_.data() != nullptr ? large_.data() : few_; }

 private:
    static constexpr int64_t kInlineKeys = 2048;

    struct Large {
        explicit Large(int64_t n) : size{static_cast<size_t>(n) * sizeof(K)} {
            if (n != 0) memory = static_cast<K*>(AllocLarge(size));
        }
        ~Large() {
            if (memory != nullptr) FreeLarge(memory, size);
        }
        K* data() const { return memory; }
        size_t size;
        K* memory{nullptr};
    };

    Large large_;
    alignas(64) K few_[kInlineKeys];
};

// Restores the order of zeros: -0.0 and 0.0 have adjacent keys, so that each decodes to itself; if
// both occur, they are written in their original order.
template <typename T>
void RestoreZeros(const T* x, int64_t n, SortKey<T> flip, T* out) {
    if constexpr (GetKind(kDtypeOf<T>) == DtypeKind::kFloat) {
        const auto key = [&](int64_t i) { return EncodeKey(out[i], false, flip); };
        if (key(0) > 0 || key(n - 1) < -1) return;
        int64_t begin = 0;
        for (int64_t end = n; begin < end;) {
            const int64_t middle = begin + (end - begin) / 2;
            key(middle) < -1 ? begin = middle + 1 : end = middle;
        }
        if (key(begin) != -1) return;
        int64_t end = begin;
        while (end < n && key(end) <= 0) ++end;
        if (key(end - 1) != 0) return;
        // Another thread may write to the row meanwhile, so that it has fewer zeros.
        for (int64_t i = 0; i < n && begin < end; ++i) {
            const T v = x[i];
            if (Cast<ComputeType<T>>(v) == ComputeType<T>{0}) out[begin++] = v;
        }
    }
}

}  // namespace
}  // namespace chainerx::native
