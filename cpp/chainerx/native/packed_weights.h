// The weights of a convolution as the tiles of its product read them.
#pragma once

#include <cstdint>

#include "chainerx/native/conv_gather.h"
#include "chainerx/native/gemm_loops.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

// Some channels of the input and some taps: as many of the products that make an element as are
// summed at a time. In a panel they are in the order of the taps, each with its channels.
struct DepthCut {
    Part channels;
    Part taps;

    int64_t size() const { return channels.size() * taps.size(); }
};

// Panels of channels of the output, which are rows (Side::kA) or columns of the product, for each
// group and cut of the depth.
template <typename T>
class PackedWeights {
 public:
    PackedWeights(const GatherConv<T>& conv, int64_t n_taps, Side side);

    int64_t n_depths() const { return n_channel_cuts_ * n_tap_cuts_; }
    int64_t n_panels() const { return n_panels_; }
    // Of no cut there are more.
    int64_t most_channels() const { return CeilDiv(conv_.ins, n_channel_cuts_); }
    int64_t largest_depth() const { return most_channels() * CeilDiv(n_taps_, n_tap_cuts_); }
    DepthCut depth(int64_t i) const {
        return {Part{conv_.ins, n_channel_cuts_, i / n_tap_cuts_},
                Part{n_taps_, n_tap_cuts_, i % n_tap_cuts_}};
    }
    Part channels(int64_t panel) const;
    T* panel(int64_t group, int64_t i_depth, int64_t i) const {
        const DepthCut cut = depth(i_depth);
        const int64_t before = cut.channels.begin * n_taps_ + cut.channels.size() * cut.taps.begin;
        return data_.data() +
               width_ * ((group * conv_.ins * n_taps_ + before) * n_panels_ + i * cut.size());
    }

 private:
    void Pack(int64_t group, int64_t i_depth, const Part& panels, const int64_t* offsets,
              bool adjacent) const;

    const GatherConv<T>& conv_;
    const Side side_;
    const int64_t width_;  // of a panel
    const int64_t n_taps_;
    const int64_t n_tap_cuts_;
    const int64_t n_channel_cuts_;
    const int64_t n_panels_;
    const Scratch<T> data_;
};

// How many elements TurnWeights writes.
template <typename T>
int64_t CountTurned(const GatherConv<T>& conv, Side side);

// Makes conv read its weights from `turned`, where the channels of the output are adjacent, panel
// by panel: for several convolutions that have some of the taps each. In `conv` it has all taps,
// and they are adjacent.
template <typename T>
void TurnWeights(GatherConv<T>* conv, Side side, T* turned);

}  // namespace chainerx::native
