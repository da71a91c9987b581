// Creates and joins arrays; a thread writes one element.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/shape/params.h"

namespace chainerx::cuda {

template <typename T>
inline void Arange(const ArangeParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n) return;
    T& to = *AtByte<T>(p.out, i * p.stride);
    if (p.is_whole) {
        // Unsigned, since overflow wraps as in NumPy.
        const uint64_t value = p.first_whole + static_cast<uint64_t>(i) * p.step_whole;
        to = AsConverted::Store<T>(static_cast<int64_t>(value));
    } else {
        to = AsConverted::Store<T>(p.first + static_cast<double>(i) * p.step);
    }
}

template <typename T>
inline void Triangle(const TriangleParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n) return;
    int64_t offsets[2] = {};
    int64_t at[2] = {};  // column, row
    int64_t rest = i;
    for (int d = 0; d < p.ndim; ++d) {
        const int64_t next = rest / p.dims[d];
        const int64_t place = rest - next * p.dims[d];
        if (d == 0) at[0] = place;
        if (d == 1) at[1] = place;
        for (int k = 0; k < 2; ++k) offsets[k] += place * p.strides[k][d];
        rest = next;
    }
    // k may be as large as an integer can be.
    const bool is_below = at[0] - at[1] <= p.k;
    const bool is_above = at[0] - at[1] >= p.k;
    T value{};
    if (p.lower ? is_below : is_above) {
        value = *AtByte<const T>(p.x, offsets[0]);
    }
    *AtByte<T>(p.out, offsets[1]) = value;
}

template <typename T>
inline void Concatenate(const ConcatenateParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.rows * p.row) return;
    const int64_t r = i / p.row;
    const int64_t column = i - r * p.row;
    // The first piece that ends behind the column.
    int low = 0;
    int high = p.n_pieces - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (p.ends[middle] > column) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const int64_t begin = low == 0 ? 0 : p.ends[low - 1];
    const int64_t length = p.ends[low] - begin;
    At<T>(p.out)[r * p.out_row + p.places[low] + column - begin] =
        At<const T>(p.from[low])[r * length + column - begin];
}

inline void PackBits(const BitsParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n) return;
    const int64_t r = i / p.row;
    const int64_t first = (i - r * p.row) * 8;
    const auto* x = At<const uint8_t>(p.x) + r * p.bits + first;
    unsigned byte = 0;
    for (int k = 0; k < 8 && first + k < p.bits; ++k) {
        if (x[k] != 0) byte |= 1u << (p.is_big ? 7 - k : k);
    }
    At<uint8_t>(p.out)[i] = static_cast<uint8_t>(byte);
}

inline void UnpackBits(const BitsParams& p) {
    const int64_t i = ThreadNumber();
    if (i >= p.n) return;
    const auto k = static_cast<int>(i % 8);
    const unsigned byte = At<const uint8_t>(p.x)[i / 8];
    At<uint8_t>(p.out)[i] = static_cast<uint8_t>(byte >> (p.is_big ? 7 - k : k) & 1);
}

}  // namespace chainerx::cuda
