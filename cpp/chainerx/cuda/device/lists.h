// Lists of arrays that are worked on in one launch.
#pragma once

#include <cstdint>

namespace chainerx::cuda {

// The array of this block of threads, by bisection.
template <typename Params>
inline int FindArray(const Params& p) {
    int first = 0;
    for (int last = p.count - 1; first < last;) {
        const int middle = (first + last + 1) / 2;
        if (static_cast<int64_t>(blockIdx.x) < p.arrays[middle].first_block) {
            last = middle - 1;
        } else {
            first = middle;
        }
    }
    return first;
}

}  // namespace chainerx::cuda
