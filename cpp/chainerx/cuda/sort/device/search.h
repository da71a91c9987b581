// Searches in sorted numbers: a thread for each number.
#pragma once

#include <cstdint>
#include <limits>

#include "chainerx/cuda/sort/device/keys.h"
#include "chainerx/cuda/sort/params.h"

namespace chainerx::cuda {

// The number of sorted numbers below the key, or with `right` below or equal.
template <typename T>
inline int64_t CountBelow(const SearchParams& p, KeyOf<T> key, bool right) {
    const T* sorted = At<const T>(p.sorted);
    int64_t at = 0;
    for (int64_t left = p.n; left > 0;) {
        const int64_t half = left / 2;
        const KeyOf<T> middle = Keys<T>::Encode(sorted[at + half], false);
        if (right ? middle <= key : middle < key) {
            at += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return at;
}

template <typename T>
inline void SearchSorted(const SearchParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.size) return;
    const KeyOf<T> key = Keys<T>::Encode(At<const T>(p.x)[i], false);
    At<int64_t>(p.out)[i] = CountBelow<T>(p, key, p.right != 0);
}

template <typename T>
inline void Isin(const SearchParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.size) return;
    const KeyOf<T> key = Keys<T>::Encode(At<const T>(p.x)[i], false);
    const int64_t at = CountBelow<T>(p, key, false);
    bool is_in = at < p.n && Keys<T>::Encode(At<const T>(p.sorted)[at], false) == key;
    const auto x = static_cast<Number<T>>(At<const T>(p.x)[i]);
    is_in = is_in && x == x;  // not NaN
    At<Bool8>(p.out)[i] = Bool8(is_in != (p.invert != 0));
}

// As native/signal/interp.cc.
template <typename T>
inline bool IsFinite(T v) {
    return (v < 0 ? -v : v) <= std::numeric_limits<T>::max();
}
template <typename T>
inline T OnHardLine(T x0, T x1, T y0, T y1, T slope, T x) {
    if (IsFinite(x0) && IsFinite(x1) && IsFinite(y0) && IsFinite(y1) && x0 != x1) {
        const T part = (x / 4 - x0 / 4) / (x1 / 4 - x0 / 4);
        return y0 * (1 - part) + y1 * part;
    }
    T y = y0 + slope * (x - x0);
    if (y != y) y = y1 + slope * (x - x1);
    return y != y && x == x && y0 == y1 ? y0 : y;
}
template <typename T>
inline void Interp(const SearchParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.size) return;
    const T* const xp = At<const T>(p.sorted);
    const T* const fp = At<const T>(p.values);
    const T x = At<const T>(p.x)[i];
    // The last interval whose start is not above x, or the first.
    int64_t at = 0;
    for (int64_t left = p.n - 1; left > 1;) {
        const int64_t half = left / 2;
        at += xp[at + half] <= x ? half : 0;
        left -= half;
    }
    const T x0 = xp[at];
    const T x1 = xp[at + 1];
    const T y0 = fp[at];
    const T y1 = fp[at + 1];
    const T width = x1 - x0;
    const T slope = (y1 - y0) / (width == 0 ? T(1) : width);
    T y = IsFinite(width) ? y0 + slope * (x - x0) : std::numeric_limits<T>::quiet_NaN();
    // Infinity has become NaN at points, and -0 has lost its sign. A steep line is infinite.
    if (!((y < 0 ? -y : y) > 0) || !IsFinite(y)) {
        if (x == x0) {
            y = y0;
        } else if (!IsFinite(y)) {
            y = OnHardLine(x0, x1, y0, y1, slope, x);
        }
    }
    const T last = xp[p.n - 1];
    if (x >= last) y = fp[p.n - 1];
    if (x > last && p.has_right != 0) y = static_cast<T>(p.right_value);
    if (x < xp[0]) y = p.has_left != 0 ? static_cast<T>(p.left) : fp[0];
    At<T>(p.out)[i] = y;
}

}  // namespace chainerx::cuda
