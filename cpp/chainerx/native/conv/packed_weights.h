// The weights of a convolution, packed into panels for the micro-kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "chainerx/native/conv/implicit_gemm.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

// A cut of the depth (K): some input channels and taps, whose products are summed in one pass. A
// panel orders them by tap (channels innermost) or by channel (taps innermost).
struct DepthCut {
    Range channels;
    Range taps;
    bool by_channels;

    int64_t size() const { return channels.size() * taps.size(); }
};

// Number of panels of a width to pack together: their parts of a line of weights are adjacent, and
// they stay in L2.
constexpr int64_t CountPackedTogether(int64_t width) { return std::max<int64_t>(1, 128 / width); }

// Partitions the weights of each group into panels of output channels, which are rows
// (WeightOperand::kA) or columns of the product, and cuts along the depth.
template <typename T>
class WeightPanels {
 public:
    WeightPanels(const ConvOperands<T>& conv, int64_t n_taps, WeightOperand weights_as);

    int64_t width() const { return width_; }  // of a panel
    bool by_channels() const { return by_channels_; }
    int64_t n_depths() const { return n_channel_cuts_ * n_tap_cuts_; }
    int64_t n_panels() const { return n_panels_; }
    // No cut has more input channels.
    int64_t most_channels() const { return CeilDiv(conv_.ins, n_channel_cuts_); }
    int64_t largest_depth() const { return most_channels() * CeilDiv(n_taps_, n_tap_cuts_); }
    DepthCut depth(int64_t i) const {
        return {Range{conv_.ins, n_channel_cuts_, i / n_tap_cuts_},
                Range{n_taps_, n_tap_cuts_, i % n_tap_cuts_}, by_channels_};
    }
    Range channels(int64_t panel) const;
    // Packs some panels of one cut, one behind the other.
    void Pack(int64_t group, int64_t i_depth, const Range& panels, T* to) const;
    int64_t n_together() const { return CountPackedTogether(width_); }

 private:
    void PackAdjacent(const DepthCut& cut, const Range& panels, const T* w, T* to) const;
    void SortByTaps(const DepthCut& cut, const Range& panels, const T* from, T* to) const;

    const ConvOperands<T>& conv_;
    const WeightOperand weights_as_;
    const int64_t width_;
    const int64_t n_taps_;
    const int64_t n_tap_cuts_;
    const int64_t n_channel_cuts_;
    const int64_t n_panels_;
    const Scratch<int64_t> offsets_;  // of each tap, in w
    bool adjacent_;                   // whether offsets_ is 0, 1, 2, ...
    bool by_channels_;
};

// Packs all panels, unless the operands of the convolution have them from an earlier call.
template <typename T>
class PackedWeights : public WeightPanels<T> {
 public:
    PackedWeights(const ConvOperands<T>& conv, int64_t n_taps, WeightOperand weights_as);

    const T* panel(int64_t group, int64_t i_depth, int64_t i) const {
        return At(group, i_depth) + i * this->depth(i_depth).size() * this->width();
    }

 private:
    const T* At(int64_t group, int64_t i_depth) const {
        return data_->data() + PlaceOf(group, i_depth);
    }
    int64_t PlaceOf(int64_t group, int64_t i_depth) const {
        const DepthCut cut = this->depth(i_depth);
        const int64_t before = cut.channels.begin * n_taps_ + cut.channels.size() * cut.taps.begin;
        return this->width() * this->n_panels() * (group * size_ + before);
    }
    std::shared_ptr<const Scratch<T>> PackAll(const ConvOperands<T>& conv) const;

    const int64_t n_taps_;
    const int64_t size_;  // of the weights of one channel
    std::shared_ptr<const Scratch<T>> data_;
};

// Number of elements that TransposeWeights writes.
template <typename T>
int64_t CountTransposed(const ConvOperands<T>& conv, WeightOperand weights_as);

// Makes conv read its weights from `turned`, where output channels are innermost, panel by panel:
// for several convolutions that share the weights, each with some of the taps. `conv` describes all
// taps, and they are adjacent.
template <typename T>
void TransposeWeights(ConvOperands<T>* conv, WeightOperand weights_as, T* transposed);

}  // namespace chainerx::native
