#include "chainerx/native/conv/packed_weights.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

template <typename T>
int64_t WidthOf(WeightOperand weights_as) {
    return weights_as == WeightOperand::kA ? GemmLoopsOf<T>().rows : GemmLoopsOf<T>().columns;
}

// Rows are distributed evenly, since a tile can have any number of rows; columns fill vectors.
Range PanelOf(int64_t outs, int64_t n_panels, int64_t width, WeightOperand weights_as, int64_t i) {
    if (weights_as == WeightOperand::kA) return {outs, n_panels, i};
    return {i * width, std::min(outs, (i + 1) * width)};
}

// Prefetches memory that comes in pieces too short for hardware prefetchers.
template <typename T>
void PrefetchRange(const T* x, int64_t n) {
    constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
    constexpr int64_t kMax = 32;
    for (int64_t i = 0; i < std::min(n, kMax * kLine); i += kLine) __builtin_prefetch(x + i);
}

// Returns the share of (position, tap) pairs in which the tap reads an element of the input.
template <typename T>
double FindShareInBounds(const ConvOperands<T>& conv) {
    double share = 1;
    for (int a = 0; a < conv.ndim; ++a) {
        const ConvAxis& axis = conv.axes[a];
        int64_t n = 0;
        for (int64_t t = 0; t < axis.taps; ++t) {
            // Positions [begin, end) read elements [0, in).
            const int64_t shift = axis.offset + t * axis.dilate;
            const int64_t begin = CeilDiv(std::max<int64_t>(-shift, 0), axis.step);
            const int64_t end = CeilDiv(std::max<int64_t>(axis.in - shift, 0), axis.step);
            n += std::max<int64_t>(std::min(end, axis.out) - begin, 0);
        }
        share *= static_cast<double>(n) / static_cast<double>(axis.out * axis.taps);
    }
    return share;
}

// Packs n output channels, `out` apart, of k elements each, `along` apart.
template <typename T>
void PackAs(WeightOperand weights_as, const T* w, int64_t out, int64_t along, int64_t n, int64_t k,
            T* panel) {
    if (weights_as == WeightOperand::kA) {
        GemmLoopsOf<T>().pack_a(w, out, along, n, k, panel);
    } else {
        GemmLoopsOf<T>().pack_b(w, along, out, n, k, panel);
    }
}

}  // namespace

template <typename T>
WeightPanels<T>::WeightPanels(const ConvOperands<T>& conv, int64_t n_taps, WeightOperand weights_as)
    : conv_{conv},
      weights_as_{weights_as},
      width_{WidthOf<T>(weights_as)},
      n_taps_{n_taps},
      n_tap_cuts_{CeilDiv(n_taps, kPanelDepth)},
      n_channel_cuts_{CeilDiv(conv.ins, std::max<int64_t>(1, kPanelDepth / n_taps))},
      n_panels_{CeilDiv(conv.outs, width_)},
      offsets_{n_taps},
      adjacent_{true} {
    for (int64_t t = 0; t < n_taps; ++t) {
        int64_t rest = t;
        int64_t offset = 0;
        for (int a = conv.ndim - 1; a >= 0; --a) {
            offset += rest % conv.axes[a].taps * conv.axes[a].w_stride;
            rest /= conv.axes[a].taps;
        }
        offsets_.data()[t] = offset;
        adjacent_ = adjacent_ && offset == t;
    }
    // Above this share, channel order is used: adjacent taps need no reordering. In tap order, taps
    // that see only padding are skipped, and columns of positions are packed faster or not at all.
    constexpr double kMinShare = 0.6;
    by_channels_ = weights_as == WeightOperand::kB && adjacent_ && conv.w_panel == 0 &&
                   n_taps > 1 && n_tap_cuts_ == 1 && FindShareInBounds(conv) >= kMinShare;
}

template <typename T>
Range WeightPanels<T>::channels(int64_t panel) const {
    return PanelOf(conv_.outs, n_panels_, width_, weights_as_, panel);
}

template <typename T>
void WeightPanels<T>::Pack(int64_t group, int64_t i_depth, const Range& panels, T* to) const {
    internal::CheckInterrupt();
    const DepthCut cut = depth(i_depth);
    const T* w = conv_.w + group * conv_.w_group;
    if (by_channels_) {
        PackAdjacent(cut, panels, w, to);
        return;
    }
    if (conv_.w_panel == 0 && adjacent_ && n_taps_ != 1) {
        const Scratch<T> transposed{panels.size() * cut.size() * width_};
        PackAdjacent(cut, panels, w, transposed.data());
        SortByTaps(cut, panels, transposed.data(), to);
        return;
    }
    const auto copy =
        weights_as_ == WeightOperand::kA ? GemmLoopsOf<T>().copy_a : GemmLoopsOf<T>().copy_b;
    for (int64_t p = panels.begin; p < panels.end; ++p) {
        const Range i = channels(p);
        for (int64_t t = cut.taps.begin; t < cut.taps.end; ++t) {
            const T* from = w + cut.channels.begin * conv_.w_in + offsets_.data()[t];
            if (conv_.w_panel != 0) {
                copy(from + p * conv_.w_panel, conv_.w_in, cut.channels.size(), to);
            } else {
                PackAs(weights_as_, from + i.begin * conv_.w_out, conv_.w_out, conv_.w_in, i.size(),
                       cut.channels.size(), to);
            }
            to += cut.channels.size() * width_;
        }
    }
}

// Packs in channel order, since taps are adjacent. Where the weights of a channel for some rows are
// close together, those of the next panel are next to them.
template <typename T>
void WeightPanels<T>::PackAdjacent(const DepthCut& cut, const Range& panels, const T* w,
                                   T* to) const {
    const int64_t n = cut.taps.size();
    const bool all = conv_.w_in == n;
    for (int64_t c = cut.channels.begin; c < cut.channels.end;) {
        const int64_t end = all ? cut.channels.end : c + 1;
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Range i = channels(p);
            if (!all) {
                PrefetchRange(w + i.begin * conv_.w_out + (c + 2) * conv_.w_in,
                              i.size() * conv_.w_out);
            }
            PackAs(weights_as_, w + i.begin * conv_.w_out + c * conv_.w_in + cut.taps.begin,
                   conv_.w_out, 1, i.size(), (end - c) * n,
                   to + ((p - panels.begin) * cut.channels.size() + c - cut.channels.begin) * n *
                            width_);
        }
        c = end;
    }
}

template <typename T>
void WeightPanels<T>::SortByTaps(const DepthCut& cut, const Range& panels, const T* from,
                                 T* to) const {
    const auto copy =
        weights_as_ == WeightOperand::kA ? GemmLoopsOf<T>().copy_a : GemmLoopsOf<T>().copy_b;
    const int64_t n = cut.taps.size();
    for (int64_t p = panels.begin; p < panels.end; ++p) {
        for (int64_t t = 0; t < n; ++t) {
            copy(from + t * width_, n * width_, cut.channels.size(), to);
            to += cut.channels.size() * width_;
        }
        from += cut.size() * width_;
    }
}

template <typename T>
PackedWeights<T>::PackedWeights(const ConvOperands<T>& conv, int64_t n_taps,
                                WeightOperand weights_as)
    : WeightPanels<T>{conv, n_taps, weights_as}, n_taps_{n_taps}, size_{conv.ins * n_taps} {
    if (conv.kept == nullptr) {
        data_ = PackAll(conv);
        return;
    }
    // The rest of the layout follows from the weights and the instruction set.
    const int64_t layout = 2 * (weights_as == WeightOperand::kA) + this->by_channels();
    data_ = std::static_pointer_cast<const Scratch<T>>(
        conv.kept->Get(layout, [&] { return PackAll(conv); }));
}

template <typename T>
std::shared_ptr<const Scratch<T>> PackedWeights<T>::PackAll(const ConvOperands<T>& conv) const {
    const auto packed =
        std::make_shared<Scratch<T>>(conv.groups * this->n_panels() * this->width() * size_);
    const int64_t n_parts = CeilDiv(this->n_panels(), this->n_together());
    const int64_t n_depths = this->n_depths();
    ParallelFor(conv.groups * n_depths * n_parts, [&](int64_t i) {
        const int64_t group = i / n_parts / n_depths;
        const int64_t i_depth = i / n_parts % n_depths;
        const Range panels{this->n_panels(), n_parts, i % n_parts};
        const int64_t before = panels.begin * this->depth(i_depth).size() * this->width();
        this->Pack(group, i_depth, panels, packed->data() + PlaceOf(group, i_depth) + before);
    });
    return packed;
}

template <typename T>
int64_t CountTransposed(const ConvOperands<T>& conv, WeightOperand weights_as) {
    const int64_t width = WidthOf<T>(weights_as);
    return conv.groups * CeilDiv(conv.outs, width) * conv.ins * conv.CountTaps() * width;
}

template <typename T>
void TransposeWeights(ConvOperands<T>* conv, WeightOperand weights_as, T* transposed) {
    const int64_t width = WidthOf<T>(weights_as);
    const int64_t n_panels = CeilDiv(conv->outs, width);
    const int64_t n_taps = conv->CountTaps();
    const int64_t panel_size = conv->ins * n_taps * width;
    const int64_t n_parts = CeilDiv(n_panels, CountPackedTogether(width));
    ParallelFor(conv->groups * n_parts, [&](int64_t item) {
        const int64_t group = item / n_parts;
        const Range panels{n_panels, n_parts, item % n_parts};
        for (int64_t c = 0; c < conv->ins; ++c) {
            internal::CheckInterrupt();
            for (int64_t p = panels.begin; p < panels.end; ++p) {
                const Range i = PanelOf(conv->outs, n_panels, width, weights_as, p);
                PrefetchRange(
                    conv->w + group * conv->w_group + i.begin * conv->w_out + (c + 2) * conv->w_in,
                    i.size() * conv->w_out);
                PackAs(weights_as,
                       conv->w + group * conv->w_group + i.begin * conv->w_out + c * conv->w_in,
                       conv->w_out, 1, i.size(), n_taps,
                       transposed + (group * n_panels + p) * panel_size + c * n_taps * width);
            }
        }
    });
    conv->w = transposed;
    conv->w_out = 1;
    conv->w_in = n_taps * width;
    conv->w_group = n_panels * panel_size;
    conv->w_panel = panel_size;
    conv->w_side = weights_as;
    for (int a = 0; a < conv->ndim; ++a) conv->axes[a].w_stride *= width;
}

#define CX_WEIGHTS(T)                                                        \
    template class WeightPanels<T>;                                          \
    template class PackedWeights<T>;                                         \
    template int64_t CountTransposed(const ConvOperands<T>&, WeightOperand); \
    template void TransposeWeights(ConvOperands<T>*, WeightOperand, T*);
CX_WEIGHTS(float)
CX_WEIGHTS(double)
CX_WEIGHTS(uint32_t)
CX_WEIGHTS(uint64_t)
#undef CX_WEIGHTS

}  // namespace chainerx::native
