#include "chainerx/native/packed_weights.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"

namespace chainerx::native {
namespace {

// A panel this deep, and one of the input, stay in the first-level cache or close to it. What each
// element is summed in follows from it: a function of the shape alone.
constexpr int64_t kDepth = 320;
// Panels that are packed together, since their parts of a line of weights are side by side.
constexpr int64_t kPanels = 8;

}  // namespace

template <typename T>
PackedWeights<T>::PackedWeights(const GatherConv<T>& conv, int64_t n_taps)
    : conv_{conv},
      rows_{GemmLoopsOf<T>().rows},
      n_taps_{n_taps},
      n_tap_cuts_{CeilDiv(n_taps, kDepth)},
      n_channel_cuts_{CeilDiv(conv.ins, std::max<int64_t>(1, kDepth / n_taps))},
      n_panels_{CeilDiv(conv.outs, rows_)},
      data_{conv.groups * n_panels_ * rows_ * conv.ins * n_taps} {
    // Of each tap, in w, and whether they are 0, 1, 2, ...
    const Scratch<int64_t> offsets{n_taps};
    bool adjacent = true;
    for (int64_t t = 0; t < n_taps; ++t) {
        int64_t rest = t;
        int64_t offset = 0;
        for (int a = conv.ndim - 1; a >= 0; --a) {
            offset += rest % conv.axes[a].taps * conv.axes[a].w_stride;
            rest /= conv.axes[a].taps;
        }
        offsets.data()[t] = offset;
        adjacent = adjacent && offset == t;
    }
    const int64_t n_parts = CeilDiv(n_panels_, kPanels);
    ParallelFor(conv.groups * n_depths() * n_parts, [&](int64_t i) {
        Pack(i / n_parts / n_depths(), i / n_parts % n_depths(),
             Part{n_panels_, n_parts, i % n_parts}, offsets.data(), adjacent);
    });
}

template <typename T>
void PackedWeights<T>::Pack(int64_t group, int64_t i_depth, const Part& panels,
                            const int64_t* offsets, bool adjacent) const {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    internal::CheckInterrupt();
    const DepthCut cut = depth(i_depth);
    const T* w = conv_.w + group * conv_.w_group;
    if (conv_.w_panel != 0) {
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            T* to = panel(group, i_depth, p);
            for (int64_t t = cut.taps.begin; t < cut.taps.end; ++t) {
                loops.copy_a(w + p * conv_.w_panel + cut.channels.begin * conv_.w_in + offsets[t],
                             conv_.w_in, cut.channels.size(), to);
                to += cut.channels.size() * rows_;
            }
        }
        return;
    }
    if (!adjacent || n_taps_ == 1) {
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Part i = rows(p);
            T* to = panel(group, i_depth, p);
            for (int64_t t = cut.taps.begin; t < cut.taps.end; ++t) {
                loops.pack_a(
                    w + i.begin * conv_.w_out + cut.channels.begin * conv_.w_in + offsets[t],
                    conv_.w_out, conv_.w_in, i.size(), cut.channels.size(), to);
                to += cut.channels.size() * rows_;
            }
        }
        return;
    }
    // Taps are adjacent, so they are packed first, and then sorted. Where the weights of a channel
    // for some rows are close together, those of the next panel are next to them.
    const int64_t n = cut.taps.size();
    const bool all = conv_.w_in == n;
    const Scratch<T> turned{panels.size() * cut.size() * rows_};
    for (int64_t c = cut.channels.begin; c < cut.channels.end;) {
        const int64_t end = all ? cut.channels.end : c + 1;
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Part i = rows(p);
            loops.pack_a(w + i.begin * conv_.w_out + c * conv_.w_in + cut.taps.begin, conv_.w_out,
                         1, i.size(), (end - c) * n,
                         turned.data() +
                             ((p - panels.begin) * cut.channels.size() + c - cut.channels.begin) *
                                 n * rows_);
        }
        c = end;
    }
    for (int64_t p = panels.begin; p < panels.end; ++p) {
        const T* from = turned.data() + (p - panels.begin) * cut.size() * rows_;
        T* to = panel(group, i_depth, p);
        for (int64_t t = 0; t < n; ++t) {
            loops.copy_a(from + t * rows_, n * rows_, cut.channels.size(), to);
            to += cut.channels.size() * rows_;
        }
    }
}

template <typename T>
int64_t CountTurned(const GatherConv<T>& conv) {
    const int64_t rows = GemmLoopsOf<T>().rows;
    return conv.groups * CeilDiv(conv.outs, rows) * conv.ins * conv.CountTaps() * rows;
}

template <typename T>
void TurnWeights(GatherConv<T>* conv, T* turned) {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const int64_t n_panels = CeilDiv(conv->outs, loops.rows);
    const int64_t n_taps = conv->CountTaps();
    const int64_t panel_size = conv->ins * n_taps * loops.rows;
    const int64_t n_parts = CeilDiv(n_panels, kPanels);
    ParallelFor(conv->groups * n_parts, [&](int64_t item) {
        const int64_t group = item / n_parts;
        const Part panels{n_panels, n_parts, item % n_parts};
        for (int64_t c = 0; c < conv->ins; ++c) {
            internal::CheckInterrupt();
            for (int64_t p = panels.begin; p < panels.end; ++p) {
                const Part i{conv->outs, n_panels, p};
                loops.pack_a(
                    conv->w + group * conv->w_group + i.begin * conv->w_out + c * conv->w_in,
                    conv->w_out, 1, i.size(), n_taps,
                    turned + (group * n_panels + p) * panel_size + c * n_taps * loops.rows);
            }
        }
    });
    conv->w = turned;
    conv->w_out = 1;
    conv->w_in = n_taps * loops.rows;
    conv->w_group = n_panels * panel_size;
    conv->w_panel = panel_size;
    for (int a = 0; a < conv->ndim; ++a) conv->axes[a].w_stride *= loops.rows;
}

#define CX_WEIGHTS(T)                                   \
    template class PackedWeights<T>;                    \
    template int64_t CountTurned(const GatherConv<T>&); \
    template void TurnWeights(GatherConv<T>*, T*);
CX_WEIGHTS(float)
CX_WEIGHTS(double)
CX_WEIGHTS(uint32_t)
CX_WEIGHTS(uint64_t)
#undef CX_WEIGHTS

}  // namespace chainerx::native
