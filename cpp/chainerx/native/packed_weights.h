// The weights of a convolution as the tiles of its product read them.
#pragma once

#include <cstdint>

#include "chainerx/native/conv_gather.h"
#include "chainerx/native/gemm_loops.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

// Panels of rows, which are channels of the output, for each group and each cut of the depth, which
// is (channel of the input, tap).
template <typename T>
class PackedWeights {
 public:
    PackedWeights(const GatherConv<T>& conv, int64_t n_taps);

    int64_t n_depths() const { return n_depths_; }
    int64_t n_panels() const { return n_panels_; }
    Part depth(int64_t i) const { return {depth_, n_depths_, i}; }
    Part rows(int64_t panel) const { return {conv_.outs, n_panels_, panel}; }
    T* panel(int64_t group, int64_t i_depth, int64_t i) const {
        const Part q = depth(i_depth);
        return data_.data() + rows_ * ((group * depth_ + q.begin) * n_panels_ + i * q.size());
    }

 private:
    // What is adjacent in w as it is in a panel.
    enum class Order { kNothing, kTaps, kAll };

    Order FindOffsets(int64_t n_taps, int64_t* offsets) const;
    void Pack(int64_t group, int64_t i_depth, const Part& panels, const int64_t* offsets,
              int64_t n_taps, Order order) const;

    const GatherConv<T>& conv_;
    const int64_t rows_;
    const int64_t depth_;
    const int64_t n_depths_;
    const int64_t n_panels_;
    const Scratch<T> data_;
};

// How many elements TurnWeights writes.
template <typename T>
int64_t CountTurned(const GatherConv<T>& conv);

// Makes conv read its weights from `turned`, where the channels of the output are adjacent, panel
// by panel: for several convolutions that have some of the taps each. In `conv` it has all taps,
// and they are adjacent.
template <typename T>
void TurnWeights(GatherConv<T>* conv, T* turned);

}  // namespace chainerx::native
