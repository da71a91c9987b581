#include "chainerx/native/conv/conv_direct.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "chainerx/native/conv/depthwise_loops.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

CX_DISPATCH(depthwise, DepthwiseUnit)

namespace {

// Loops for integers.
template <typename T>
void PlainCopy(DepthwiseRows<const T> x, DepthwiseRows<T> y, int64_t n_rows, int64_t n) {
    for (int64_t r = 0; r < n_rows; ++r) std::copy_n(x.data + r * x.step, n, y.data + r * y.step);
}
template <typename T>
void PlainSplit(const T* x, int64_t n, T* first, T* second) {
    for (int64_t i = 0; i < n; ++i) {
        first[i] = x[2 * i];
        second[i] = x[2 * i + 1];
    }
}
template <typename T>
void PlainSum(DepthwiseRows<const T> x, const int64_t* offsets, const T* w, int64_t n_taps, T bias,
              const T*, DepthwiseRows<T> y, int64_t n_rows, int64_t n) {
    for (int64_t r = 0; r < n_rows; ++r) {
        T* to = y.data + r * y.step;
        std::fill_n(to, n, bias);
        for (int64_t t = 0; t < n_taps; ++t) {
            const T* from = x.data + r * x.step + offsets[t];
            for (int64_t i = 0; i < n; ++i) to[i] += w[t] * from[i];
        }
    }
}
template <typename T>
void PlainProducts(DepthwiseRows<const T> x, const int64_t* offsets, int64_t n_taps,
                   DepthwiseRows<const T> y, int64_t n_rows, int64_t n, T* sums) {
    for (int64_t t = 0; t < n_taps; ++t) {
        for (int64_t r = 0; r < n_rows; ++r) {
            const T* from = x.data + r * x.step + offsets[t];
            for (int64_t i = 0; i < n; ++i) sums[t] += y.data[r * y.step + i] * from[i];
        }
    }
}
template <typename T>
constexpr DepthwiseLoops<T> kPlainLoops{&PlainCopy<T>, &PlainSplit<T>, &PlainSum<T>,
                                        &PlainProducts<T>, 1};

template <typename T>
const DepthwiseLoops<T>& LoopsOf() {
    if constexpr (std::is_same_v<T, float>) {
        return depthwise_loops().f32;
    } else if constexpr (std::is_same_v<T, double>) {
        return depthwise_loops().f64;
    } else {
        return kPlainLoops<T>;
    }
}

// One zero-padded channel of the input, also zero-stuffed where the input is spread. Elements of
// the last axis that are `step` apart are adjacent (one phase after the other).
template <typename T>
class PaddedPlane {
 public:
    explicit PaddedPlane(const ConvOperands<T>& conv) : conv_{conv}, last_{conv.ndim - 1} {
        size_ = 1;
        for (int a = last_; a >= 0; --a) {
            const ConvAxis& axis = conv.axes[a];
            const int64_t span = (axis.taps - 1) * axis.dilate;
            begin_[a] = axis.offset + std::min<int64_t>(span, 0);
            const int64_t end =
                (axis.out - 1) * axis.step + axis.offset + std::max<int64_t>(span, 0) + 1;
            length_[a] = end - begin_[a];
            stride_[a] = size_;
            if (a == last_) {
                phase_ = CeilDiv(length_[a], axis.step);
                size_ = phase_ * axis.step;
            } else {
                size_ *= length_[a];
            }
        }
    }

    // Elements to allocate, including a margin since loops read whole vectors.
    int64_t size() const { return size_ + 64 / sizeof(T); }

    // Returns the offset of the element that `tap` of output position 0 reads.
    int64_t OffsetOf(const int64_t* tap) const {
        int64_t offset = 0;
        for (int a = 0; a < last_; ++a) offset += IndexOf(a, tap[a]) * stride_[a];
        const int64_t index = IndexOf(last_, tap[last_]);
        const int64_t step = conv_.axes[last_].step;
        return offset + index % step * phase_ + index / step;
    }
    // Distance from one position to the next along an axis that is not the last.
    int64_t StepOf(int a) const { return conv_.axes[a].step * stride_[a]; }

    // Copies a channel into `plane`, whose padding is zeroed already.
    void Copy(const T* x, T* plane) const { CopyAxis(0, x, plane); }

 private:
    int64_t IndexOf(int a, int64_t tap) const {
        return conv_.axes[a].offset + tap * conv_.axes[a].dilate - begin_[a];
    }

    // The range of axis a of x that the plane holds.
    Range RangeOf(int a) const {
        const ConvAxis& axis = conv_.axes[a];
        const auto least = [&](int64_t i) { return CeilDiv(std::max<int64_t>(i, 0), axis.spread); };
        return {least(begin_[a]), std::min(axis.in, least(begin_[a] + length_[a]))};
    }
    // Index of element i of axis a of x in the plane, before phases are separated.
    int64_t PlaceOf(int a, int64_t i) const { return i * conv_.axes[a].spread - begin_[a]; }

    void CopyAxis(int a, const T* x, T* plane) const {
        const ConvAxis& axis = conv_.axes[a];
        const Range part = RangeOf(a);
        const bool is_plain = conv_.axes[last_].spread == 1 && conv_.axes[last_].step == 1;
        if (a == last_ - 1 && is_plain) {
            const Range row = RangeOf(last_);
            LoopsOf<T>().copy(
                {x + part.begin * axis.x_stride + row.begin, axis.x_stride},
                {plane + PlaceOf(a, part.begin) * stride_[a] + PlaceOf(last_, row.begin),
                 axis.spread * stride_[a]},
                part.size(), row.size());
        } else if (a < last_) {
            for (int64_t i = part.begin; i < part.end; ++i) {
                CopyAxis(a + 1, x + i * axis.x_stride, plane + PlaceOf(a, i) * stride_[a]);
            }
        } else if (is_plain) {
            std::copy(x + part.begin, x + part.end, plane + PlaceOf(a, part.begin));
        } else if (axis.spread != 1) {
            for (int64_t i = part.begin; i < part.end; ++i) plane[PlaceOf(a, i)] = x[i];
        } else {
            CopyByPhase(x, part.begin, part.end, plane);
        }
    }

    // Copies elements [begin, end) of the last axis, separated by phase.
    void CopyByPhase(const T* x, int64_t begin, int64_t end, T* plane) const {
        const int64_t step = conv_.axes[last_].step;
        const int64_t from = begin_[last_];
        int64_t i = begin;
        const auto copy = [&] {
            const int64_t at = i - from;
            plane[at % step * phase_ + at / step] = x[i];
            ++i;
        };
        while (i < end && (i - from) % step != 0) copy();
        const int64_t first = (i - from) / step;
        const int64_t n = std::max<int64_t>(end - i, 0) / step;
        const T* x0 = x + i;
        if (step == 2) {
            LoopsOf<T>().split(x0, n, plane + first, plane + first + phase_);
        } else {
            for (int64_t phase = 0; phase < step; ++phase) {
                T* to = plane + phase * phase_ + first;
                for (int64_t k = 0; k < n; ++k) to[k] = x0[k * step + phase];
            }
        }
        i += n * step;
        while (i < end) copy();
    }

    const ConvOperands<T>& conv_;
    const int last_;
    int64_t size_;
    int64_t phase_;
    int64_t begin_[kMaxSpatial]{};
    int64_t length_[kMaxSpatial]{};
    int64_t stride_[kMaxSpatial]{};
};

// Rows of the last two axes, which a loop handles together, and their strides.
template <typename T>
struct Rows {
    int64_t n{1};
    int64_t x_step{0};
    int64_t y_step{0};

    Rows(const ConvOperands<T>& conv, const PaddedPlane<T>& padded) {
        if (conv.ndim == 1) return;
        n = conv.axes[conv.ndim - 2].out;
        x_step = padded.StepOf(conv.ndim - 2);
        y_step = conv.axes[conv.ndim - 2].y_stride;
    }
};

// Calls f(x, y) with offsets in the plane and in y, for each position of all axes but the last two.
template <typename T, typename F>
void ForSheets(const ConvOperands<T>& conv, const PaddedPlane<T>& padded, const F& f) {
    int64_t n = 1;
    for (int a = 0; a < conv.ndim - 2; ++a) n *= conv.axes[a].out;
    int64_t at[kMaxSpatial] = {};
    for (int64_t i = 0; i < n; ++i) {
        int64_t x = 0;
        int64_t y = 0;
        for (int a = 0; a < conv.ndim - 2; ++a) {
            x += at[a] * padded.StepOf(a);
            y += at[a] * conv.axes[a].y_stride;
        }
        f(x, y);
        for (int a = conv.ndim - 3; a >= 0 && ++at[a] == conv.axes[a].out; --a) at[a] = 0;
    }
}

// Calls f(begin, end) for chunks of [0, n), multiples of `unit`, of about ten milliseconds each
// (`each` multiply-adds an element), so that Ctrl-C is answered between them.
void InSlices(int64_t n, int64_t unit, double each, const auto& f) {
    constexpr double kMax = 0x1p26;
    const auto units =
        static_cast<int64_t>(std::clamp(kMax / (each * static_cast<double>(unit)), 1.0, 0x1p30));
    for (int64_t begin = 0; begin < n; begin += units * unit) {
        if (begin != 0) internal::CheckInterrupt();
        f(begin, std::min(n, begin + units * unit));
    }
}

// Calls f(t, tap, w) for each tap; w is its index in the weights.
template <typename T, typename F>
void ForTaps(const ConvOperands<T>& conv, const F& f) {
    const int64_t n_taps = conv.CountTaps();
    int64_t tap[kMaxSpatial] = {};
    for (int64_t t = 0; t < n_taps; ++t) {
        int64_t w = 0;
        for (int a = 0; a < conv.ndim; ++a) w += tap[a] * conv.axes[a].w_stride;
        f(t, tap, w);
        for (int a = conv.ndim - 1; a >= 0 && ++tap[a] == conv.axes[a].taps; --a) tap[a] = 0;
    }
}

// Splits items into chunks of at least ten microseconds, on one thread or all.
void ForItems(int64_t n, double work_each, const auto& f) {
    constexpr double kMin = 0x1p16;
    const auto each = static_cast<int64_t>(std::clamp(
        kMin / std::max(work_each, 1.0), 1.0, static_cast<double>(std::max<int64_t>(n, 1))));
    ParallelFor(CeilDiv(n, each), [&](int64_t i) { f(i * each, std::min(n, (i + 1) * each)); });
}

// Whether the loop for windows of 3 x 3 computes it.
bool IsWindow(const ConvOperands<float>& conv) {
    if (depthwise_loops().window == nullptr || conv.ndim != 2 || conv.ins != 1) return false;
    const ConvAxis& a = conv.axes[0];
    const ConvAxis& b = conv.axes[1];
    const auto fits = [](const ConvAxis& axis) {
        return axis.taps == 3 && axis.dilate == 1 && axis.spread == 1 && axis.in > 0;
    };
    return fits(a) && fits(b) && a.step == b.step && (a.step == 1 || a.step == 2) &&
           a.w_stride == 3 && b.w_stride == 1 && b.x_stride == 1 && b.y_stride == 1;
}

void RunWindows(const ConvOperands<float>& conv) {
    const ConvAxis& a = conv.axes[0];
    const ConvAxis& b = conv.axes[1];
    const float limits[] = {static_cast<float>(conv.limits.low),
                            static_cast<float>(conv.limits.high)};
    const double work = static_cast<double>(conv.CountPositions() * conv.outs) * 9;
    ForItems(conv.batch * conv.groups, work / 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            internal::CheckInterrupt();
            const int64_t image = i / conv.groups;
            const int64_t group = i % conv.groups;
            for (int64_t o = 0; o < conv.outs; ++o) {
                const int64_t channel = group * conv.outs + o;
                depthwise_loops().window({a.step, -a.offset, -b.offset,
                                          conv.x + image * conv.x_image + group * conv.x_channel,
                                          a.x_stride, a.in, b.in,
                                          conv.w + group * conv.w_group + o * conv.w_out,
                                          conv.bias != nullptr ? conv.bias[channel] : 0.0F,
                                          conv.has_end ? limits : nullptr,
                                          conv.y + image * conv.y_image + channel * conv.y_channel,
                                          a.y_stride, a.out, b.out});
            }
        }
    });
}

}  // namespace

template <typename T>
void RunDirectConv(const ConvOperands<T>& conv) {
    if constexpr (std::is_same_v<T, float>) {
        if (IsWindow(conv)) {
            RunWindows(conv);
            return;
        }
    }
    const DepthwiseLoops<T>& loops = LoopsOf<T>();
    const int64_t n_taps = conv.CountTaps();
    const int64_t positions = conv.CountPositions();
    const int64_t n_planes = conv.batch * conv.groups;
    if (positions == 0 || n_planes == 0 || conv.outs == 0) return;
    const PaddedPlane<T> padded{conv};
    const Rows<T> rows{conv, padded};
    const ConvAxis& last = conv.axes[conv.ndim - 1];
    const int64_t n_all = conv.ins * n_taps;
    T limits[2] = {};  // of floats only
    if (conv.has_end) {
        limits[0] = static_cast<T>(conv.limits.low);
        limits[1] = static_cast<T>(conv.limits.high);
    }
    const double work =
        static_cast<double>(positions) * static_cast<double>(conv.outs * (n_all + 4));
    ForItems(n_planes, work / 4, [&](int64_t begin, int64_t end) {
        // Several at a time: a loop would wait for what was just stored.
        constexpr int64_t kMaxTogether = 1 << 13;  // elements
        const int64_t item_size = conv.ins * padded.size();
        const int64_t n_together = std::clamp<int64_t>(kMaxTogether / item_size, 1, end - begin);
        const Scratch<T> planes{n_together * item_size};
        const Scratch<int64_t> offsets{n_all};
        const Scratch<T> w{n_all};
        std::fill_n(planes.data(), n_together * item_size, T{0});
        bool adjacent = true;  // taps and channels are contiguous
        for (int64_t c = 0; c < conv.ins; ++c) {
            ForTaps(conv, [&](int64_t t, const int64_t* tap, int64_t at) {
                offsets.data()[c * n_taps + t] = c * padded.size() + padded.OffsetOf(tap);
                adjacent = adjacent && c * conv.w_in + at == c * n_taps + t;
            });
        }
        const auto copy = [&](int64_t first, int64_t last) {
            internal::CheckInterrupt();
            for (int64_t i = first; i < last; ++i) {
                const T* x = conv.x + i / conv.groups * conv.x_image +
                             i % conv.groups * conv.ins * conv.x_channel;
                T* to = planes.data() + (i - first) * item_size;
                for (int64_t c = 0; c < conv.ins; ++c) {
                    padded.Copy(x + c * conv.x_channel, to + c * padded.size());
                }
            }
        };
        for (int64_t i = begin; i < end; ++i) {
            const int64_t image = i / conv.groups;
            const int64_t group = i % conv.groups;
            if ((i - begin) % n_together == 0) copy(i, std::min(end, i + n_together));
            const T* const held = planes.data() + (i - begin) % n_together * item_size;
            for (int64_t o = 0; o < conv.outs; ++o) {
                const int64_t channel = group * conv.outs + o;
                const T* factors = conv.w + group * conv.w_group + o * conv.w_out;
                if (!adjacent) {
                    for (int64_t c = 0; c < conv.ins; ++c) {
                        ForTaps(conv, [&](int64_t t, const int64_t*, int64_t at) {
                            w.data()[c * n_taps + t] = factors[c * conv.w_in + at];
                        });
                    }
                    factors = w.data();
                }
                const T bias = conv.bias != nullptr ? conv.bias[channel] : T{0};
                T* y = conv.y + image * conv.y_image + channel * conv.y_channel;
                ForSheets(conv, padded, [&](int64_t x_at, int64_t y_at) {
                    constexpr int64_t kRows = 4;  // that one call of the loop handles
                    constexpr int64_t kColumns = 64;
                    const auto n = static_cast<double>(n_all);
                    InSlices(rows.n, kRows, n * kColumns, [&](int64_t r, int64_t r_end) {
                        const T* from = held + x_at + r * rows.x_step;
                        T* to = y + y_at + r * rows.y_step;
                        const int64_t n_rows = r_end - r;
                        InSlices(last.out, kColumns, n * static_cast<double>(n_rows),
                                 [&](int64_t i, int64_t end) {
                                     loops.sum({from + i, rows.x_step}, offsets.data(), factors,
                                               n_all, bias, conv.has_end ? limits : nullptr,
                                               {to + i, rows.y_step}, n_rows, end - i);
                                 });
                    });
                });
            }
        }
    });
}

template <typename T>
void RunDirectWeightGrad(const ConvOperands<T>& conv, T* gw, bool accumulate) {
    const DepthwiseLoops<T>& loops = LoopsOf<T>();
    const int64_t n_taps = conv.CountTaps();
    const PaddedPlane<T> padded{conv};
    const Rows<T> rows{conv, padded};
    const ConvAxis& last = conv.axes[conv.ndim - 1];
    const double work = static_cast<double>(conv.CountPositions()) *
                        static_cast<double>(conv.batch * conv.ins * conv.outs * (n_taps + 4));
    ForItems(conv.groups, work / 4, [&](int64_t begin, int64_t end) {
        const int64_t n_sums = conv.outs * n_taps * loops.width;
        const Scratch<T> plane{padded.size()};
        const Scratch<int64_t> offsets{n_taps};
        const Scratch<T> sums{n_sums};
        std::fill_n(plane.data(), padded.size(), T{0});
        ForTaps(conv, [&](int64_t t, const int64_t* tap, int64_t) {
            offsets.data()[t] = padded.OffsetOf(tap);
        });
        for (int64_t i = begin; i < end; ++i) {
            for (int64_t c = 0; c < conv.ins; ++c) {
                std::fill_n(sums.data(), n_sums, T{0});
                for (int64_t image = 0; image < conv.batch; ++image) {
                    internal::CheckInterrupt();
                    padded.Copy(conv.x + image * conv.x_image + (i * conv.ins + c) * conv.x_channel,
                                plane.data());
                    for (int64_t o = 0; o < conv.outs; ++o) {
                        const T* gy =
                            conv.y + image * conv.y_image + (i * conv.outs + o) * conv.y_channel;
                        ForSheets(conv, padded, [&](int64_t x_at, int64_t y_at) {
                            constexpr int64_t kTaps = 9;  // that one call of the loop handles
                            InSlices(n_taps, kTaps, static_cast<double>(rows.n * last.out),
                                     [&](int64_t t, int64_t end) {
                                         loops.products(
                                             {plane.data() + x_at, rows.x_step}, offsets.data() + t,
                                             end - t, {gy + y_at, rows.y_step}, rows.n, last.out,
                                             sums.data() + (o * n_taps + t) * loops.width);
                                     });
                        });
                    }
                }
                for (int64_t o = 0; o < conv.outs; ++o) {
                    T* to = gw + i * conv.w_group + o * conv.w_out + c * conv.w_in;
                    ForTaps(conv, [&](int64_t t, const int64_t*, int64_t at) {
                        const T* from = sums.data() + (o * n_taps + t) * loops.width;
                        T sum = accumulate ? to[at] : T{0};
                        for (int k = 0; k < loops.width; ++k) sum += from[k];
                        to[at] = sum;
                    });
                }
            }
        }
    });
}

#define CX_DIRECT(T)                                     \
    template void RunDirectConv(const ConvOperands<T>&); \
    template void RunDirectWeightGrad(const ConvOperands<T>&, T*, bool);
CX_DIRECT(float)
CX_DIRECT(double)
CX_DIRECT(uint32_t)
CX_DIRECT(uint64_t)
#undef CX_DIRECT

}  // namespace chainerx::native
