// Sorts rows of up to kBlockSortSize elements in shared memory, by a bitonic network of keys and
// their places, so that equal keys keep their order.
#pragma once

#include <cstdint>

#include "chainerx/cuda/sort/device/keys.h"
#include "chainerx/cuda/sort/params.h"

namespace chainerx::cuda {

// Writes places if kPlaces, else numbers.
template <typename T, bool kPlaces>
inline void BlockSort(const SortParams& p) {
    using K = KeyOf<T>;
    CX_SHARED(K, keys, kBlockSortSize);
    CX_SHARED(uint32_t, places, kBlockSortSize);
    const int width = static_cast<int>(p.width);
    const int64_t first_row = static_cast<int64_t>(blockIdx.x) * (kBlockSortSize / width);
    const bool descending = p.descending != 0;
    const auto place_of = [&](int i, int64_t* row, int* column) {
        *row = first_row + i / width;
        *column = i % width;
        return *row < p.rows && *column < p.n;
    };
    int64_t row;
    int column;
    for (int i = static_cast<int>(threadIdx.x); i < kBlockSortSize; i += kBlockThreads) {
        const bool is_inside = place_of(i, &row, &column);
        keys[i] =
            is_inside ? Keys<T>::Encode(At<const T>(p.x)[row * p.n + column], descending) : ~K(0);
        places[i] = static_cast<uint32_t>(column);  // those beyond the row are the largest
    }
    for (int size = 2; size <= width; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int k = static_cast<int>(threadIdx.x); k < kBlockSortSize / 2;
                 k += kBlockThreads) {
                const int i = 2 * k - k % step;
                const int j = i + step;
                const bool is_up = (i % width & size) == 0;
                const bool is_above =
                    keys[i] > keys[j] || (keys[i] == keys[j] && places[i] > places[j]);
                if (is_above != is_up) continue;
                const K key = keys[i];
                keys[i] = keys[j];
                keys[j] = key;
                const uint32_t place = places[i];
                places[i] = places[j];
                places[j] = place;
            }
        }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kBlockSortSize; i += kBlockThreads) {
        if (!place_of(i, &row, &column)) continue;
        const int64_t at = row * p.n + column;
        if constexpr (kPlaces) {
            At<int64_t>(p.out)[at] = places[i];
        } else {
            const T* x = At<const T>(p.x) + row * p.n;
            At<T>(p.out)[at] = Keys<T>::Restore(keys[i], descending, x + places[i]);
        }
    }
}

}  // namespace chainerx::cuda
