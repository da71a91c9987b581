#include "chainerx/native/sort/sort_driver.h"

#include <algorithm>
#include <bit>

#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/sort/quicksort.h"
#include "chainerx/native/sort/sort_rows.h"

namespace chainerx::native {

CX_DISPATCH(sorting, SortLoops)

namespace {

// Packs a key above its place: sorted order is then stable.
inline int64_t Pack(uint32_t key, int64_t place) {
    return static_cast<int64_t>(uint64_t{key ^ 0x80000000u} << 32 | static_cast<uint64_t>(place));
}
inline int64_t PlaceOf(int64_t packed) { return packed & 0xffffffff; }

// Packed keys have 32-bit places.
constexpr int64_t kMaxPacked = int64_t{1} << 32;

// Calls f(i) for all of n, with interrupt checks.
void ForEach(int64_t n, const auto& f) {
    ForChunks(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) f(i);
    });
}

void ArgSortByComparing(const auto* keys, int64_t n, int64_t* out) {
    constexpr int64_t kBetweenChecks = 1 << 16;
    int64_t left = kBetweenChecks;
    ForEach(n, [=](int64_t i) { out[i] = i; });
    std::stable_sort(out, out + n, [keys, &left](int64_t a, int64_t b) {
        if (--left == 0) [[unlikely]] {
            internal::CheckInterrupt();
            left = kBetweenChecks;
        }
        return keys[a] < keys[b];
    });
}

// Sorts places [begin, end) of `packed`, whose keys have equal upper bits. They refer to keys64.
void SortRun(const int64_t* keys64, int64_t* packed, int64_t begin, int64_t end) {
    constexpr int64_t kMaxInsertion = 16;
    const auto key = [&](int64_t i) { return keys64[PlaceOf(packed[i])]; };
    if (end - begin <= kMaxInsertion) {
        for (int64_t i = begin + 1; i < end; ++i) {
            const int64_t moved = packed[i];
            const int64_t moved_key = key(i);
            int64_t j = i;
            for (; j > begin && key(j - 1) > moved_key; --j) packed[j] = packed[j - 1];
            packed[j] = moved;
        }
        return;
    }
    // The keys differ in lower bits, which the next pass packs.
    const int64_t n = end - begin;
    const Scratch<int64_t> some{n};
    bool differ = false;
    ForEach(n, [&](int64_t i) {
        some.data()[i] = key(begin + i);
        differ |= some.data()[i] != some.data()[0];
    });
    if (!differ) return;
    const Scratch<int64_t> order{n};
    ArgSortKeys(some.data(), n, order.data());
    ForEach(n, [&](int64_t i) { order.data()[i] = PlaceOf(packed[begin + order.data()[i]]); });
    // The keys are no longer needed.
    std::copy_n(order.data(), n, packed + begin);
}

}  // namespace

void SortKeys(int32_t* keys, int32_t* spare, int64_t n, int32_t* out) {
    Quicksort(keys, out, out == keys ? spare : keys, n, {}, MaxSteps(n));
}
void SortKeys(int64_t* keys, int64_t* spare, int64_t n, int64_t* out) {
    Quicksort(keys, out, out == keys ? spare : keys, n, {}, MaxSteps(n));
}

void ArgSortKeys(const int32_t* keys, int64_t n, int64_t* out) {
    if (n >= kMaxPacked) return ArgSortByComparing(keys, n, out);
    KeyRoom<int64_t> spare{n};
    ForEach(n, [=](int64_t i) {
        out[i] = static_cast<int64_t>(uint64_t{static_cast<uint32_t>(keys[i])} << 32 |
                                      static_cast<uint64_t>(i));
    });
    SortKeys(out, spare.data(), n, out);
    ForEach(n, [=](int64_t i) { out[i] = PlaceOf(out[i]); });
}

void ArgSortKeys(const int64_t* keys, int64_t n, int64_t* out) {
    if (n >= kMaxPacked) return ArgSortByComparing(keys, n, out);
    // The upper 32 of the bits in which keys differ, relative to the smallest key.
    int64_t least = keys[0];
    int64_t most = keys[0];
    ForChunks(n, [&](int64_t begin, int64_t end) {
        const auto [low, high] = std::minmax_element(keys + begin, keys + end);
        least = std::min(least, *low);
        most = std::max(most, *high);
    });
    const auto base = static_cast<uint64_t>(least);
    const int bits = std::bit_width(static_cast<uint64_t>(most) - base);
    const int shift = std::max(0, bits - 32);
    KeyRoom<int64_t> spare{n};
    ForEach(n, [=](int64_t i) {
        out[i] = Pack(static_cast<uint32_t>((static_cast<uint64_t>(keys[i]) - base) >> shift), i);
    });
    SortKeys(out, spare.data(), n, out);
    if (shift > 0) {
        constexpr int64_t kBetweenChecks = 1 << 16;
        int64_t next_check = kBetweenChecks;
        for (int64_t begin = 0; begin < n;) {
            if (begin >= next_check) {
                internal::CheckInterrupt();
                next_check = begin + kBetweenChecks;
            }
            int64_t end = begin + 1;
            while (end < n && out[end] >> 32 == out[begin] >> 32) ++end;
            if (end - begin > 1) SortRun(keys, out, begin, end);
            begin = end;
        }
    }
    ForEach(n, [=](int64_t i) { out[i] = PlaceOf(out[i]); });
}

}  // namespace chainerx::native
