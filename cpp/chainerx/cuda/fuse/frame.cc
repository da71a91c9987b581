#include "chainerx/cuda/fuse/frame.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace chainerx::cuda {
namespace {

// The axes of the frame, outermost first: as they are in rows, whose elements are reduced in this
// order; else those come first along which the last result has the largest strides.
std::vector<int8_t> OrderOf(const FusedChain& chain, const Strides& result) {
    std::vector<int8_t> axes(static_cast<size_t>(chain.frame.ndim()));
    std::iota(axes.begin(), axes.end(), int8_t{0});
    if (chain.row_ndim == chain.frame.ndim()) {
        std::ranges::stable_sort(
            axes, [&](int8_t a, int8_t b) { return std::abs(result[a]) > std::abs(result[b]); });
    }
    return axes;
}

}  // namespace

FusedFrame::FusedFrame(const FusedChain& chain)
    : strides(static_cast<size_t>(chain.n_arrays)),
      item_sizes(static_cast<size_t>(chain.n_arrays)),
      size{chain.frame.GetTotalSize()},
      has_rows{chain.row_ndim != chain.frame.ndim()} {
    std::vector<const Strides*> given(strides.size());
    const Strides* result = nullptr;
    for (const FusedCall& call : chain.calls) {
        for (const FusedOperand& x : call.operands) {
            if (x.array >= chain.n_arrays) continue;
            const auto k = static_cast<size_t>(x.array);
            given[k] = &x.strides;
            item_sizes[k] = GetItemSize(x.dtype);
            if (&x == &call.operands.back()) result = &x.strides;
        }
    }
    int8_t before = -1;  // the axis that was added last
    for (const int8_t axis : OrderOf(chain, *result)) {
        const int64_t length = chain.frame[axis];
        bool merges = before >= 0 && (before < chain.row_ndim) == (axis < chain.row_ndim);
        for (size_t k = 0; merges && k < strides.size(); ++k) {
            merges = strides[k].back() == (*given[k])[axis] * length;
        }
        if (merges) {
            dims.back() *= length;
        } else {
            dims.push_back(length);
            if (axis >= chain.row_ndim) ++n_inner;
        }
        for (size_t k = 0; k < strides.size(); ++k) {
            if (merges) strides[k].pop_back();
            strides[k].push_back((*given[k])[axis]);
        }
        before = axis;
    }
    if (dims.empty()) {  // a single number
        dims.push_back(1);
        for (size_t k = 0; k < strides.size(); ++k) strides[k].push_back(item_sizes[k]);
    }
    if (!has_rows) n_inner = dims.size();
    std::ranges::reverse(dims);
    for (std::vector<int64_t>& s : strides) std::ranges::reverse(s);
    for (size_t d = 0; d < n_inner; ++d) row_size *= dims[d];
    for (size_t k = 0; k < strides.size(); ++k) {
        const auto inner_end = strides[k].begin() + static_cast<ptrdiff_t>(n_inner);
        const bool is_uniform =
            std::all_of(strides[k].begin(), inner_end, [](int64_t s) { return s == 0; });
        const bool is_adjacent = n_inner == 1 && strides[k][0] == item_sizes[k];
        layouts.push_back(is_uniform    ? FusedLayoutOf::kUniform
                          : is_adjacent ? FusedLayoutOf::kAdjacent
                                        : FusedLayoutOf::kStrided);
    }
}

}  // namespace chainerx::cuda
