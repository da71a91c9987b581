#include "chainerx/native/packed_weights.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/core/thread_pool.h"

namespace chainerx::native {
namespace {

// A panel this deep, and one of the input, stay in the first-level cache or close to it.
constexpr int64_t kDepth = 320;
// Panels that are packed together, since their parts of a line of weights are side by side.
constexpr int64_t kPanels = 8;

}  // namespace

template <typename T>
PackedWeights<T>::PackedWeights(const GatherConv<T>& conv, int64_t n_taps)
    : conv_{conv},
      rows_{GemmLoopsOf<T>().rows},
      depth_{conv.ins * n_taps},
      n_depths_{CeilDiv(depth_, kDepth)},
      n_panels_{CeilDiv(conv.outs, rows_)},
      data_{conv.groups * n_panels_ * rows_ * depth_} {
    const Scratch<int64_t> offsets{depth_};
    const Order order = FindOffsets(n_taps, offsets.data());
    const int64_t n_parts = CeilDiv(n_panels_, kPanels);
    ParallelFor(conv.groups * n_depths_ * n_parts, [&](int64_t i) {
        Pack(i / n_parts / n_depths_, i / n_parts % n_depths_,
             Part{n_panels_, n_parts, i % n_parts}, offsets.data(), n_taps, order);
    });
}

// Finds where in w each row of a panel of input has its weights.
template <typename T>
auto PackedWeights<T>::FindOffsets(int64_t n_taps, int64_t* offsets) const -> Order {
    bool taps = true;
    for (int64_t q = 0; q < depth_; ++q) {
        int64_t rest = q % n_taps;
        offsets[q] = q / n_taps * conv_.w_in;
        for (int a = conv_.ndim - 1; a >= 0; --a) {
            offsets[q] += rest % conv_.axes[a].taps * conv_.axes[a].w_stride;
            rest /= conv_.axes[a].taps;
        }
        taps = taps && offsets[q] == q / n_taps * conv_.w_in + q % n_taps;
    }
    if (!taps) return Order::kNothing;
    return conv_.w_in == n_taps || n_taps == 1 ? Order::kAll : Order::kTaps;
}

template <typename T>
void PackedWeights<T>::Pack(int64_t group, int64_t i_depth, const Part& panels,
                            const int64_t* offsets, int64_t n_taps, Order order) const {
    const GemmLoops<T>& loops = GemmLoopsOf<T>();
    const Part q = depth(i_depth);
    const T* w = conv_.w + group * conv_.w_group;
    const auto pack = [&](int64_t begin, int64_t end, int64_t column) {
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Part i = rows(p);
            loops.pack_a(w + offsets[begin] + i.begin * conv_.w_out, conv_.w_out, column, i.size(),
                         end - begin, panel(group, i_depth, p) + (begin - q.begin) * rows_);
        }
    };
    if (conv_.w_panel != 0) {
        for (int64_t p = panels.begin; p < panels.end; ++p) {
            T* to = panel(group, i_depth, p);
            for (int64_t i = q.begin; i < q.end; ++i) {
                to = std::copy_n(w + p * conv_.w_panel + offsets[i], rows_, to);
            }
        }
    } else if (order == Order::kAll) {
        pack(q.begin, q.end, n_taps == 1 ? conv_.w_in : 1);
    } else if (order == Order::kTaps) {
        for (int64_t begin = q.begin; begin < q.end;) {
            const int64_t end = std::min(q.end, (begin / n_taps + 1) * n_taps);
            pack(begin, end, 1);
            begin = end;
        }
    } else {
        for (int64_t i = q.begin; i < q.end; ++i) pack(i, i + 1, 1);
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
