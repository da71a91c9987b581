// Stages the input that a block of a convolution reads in a compact copy. It pays where taps read
// each element several times and channels are a large power of two apart, so that they conflict in
// the cache sets; and where the input comes from main memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "chainerx/native/conv/im2col.h"
#include "chainerx/native/gemm/cache_conflict.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

template <typename T>
class StagedInput {
 public:
    // Stages the input of `columns`, whose panels are `places`, for cuts of at most `channels`
    // channels. If staging pays, the runs in `places` point into the copy afterwards.
    StagedInput(const ConvOperands<T>& conv, const Im2col<T>& im2col, const Range& columns,
                int64_t channels, PositionPanel<T>* places, int64_t n_places)
        : conv_{conv},
          positions_{conv.CountPositions()},
          first_image_{columns.begin / positions_},
          n_slabs_{(columns.end - 1) / positions_ - first_image_ + 1},
          slabs_{n_slabs_} {
        int64_t length = 0;
        for (int64_t i = 0; i < n_slabs_; ++i) {
            const int64_t image = (first_image_ + i) * positions_;
            Slab& slab = slabs_.data()[i];
            slab = Find(std::max(columns.begin - image, int64_t{0}),
                        std::min(columns.end - image, positions_) - 1);
            slab.from += (first_image_ + i) * conv.x_image;
            slab.to = length;
            length += slab.length;
        }
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        step_ = ConflictFreeStride(length * kSize) / kSize;
        const bool is_reread =
            HasCacheConflict<T>(conv.x_channel) && 2 * length <= im2col.n_taps() * columns.size();
        const bool is_far = IsFromMemory(im2col, channels) && length <= columns.size();
        const int64_t most = (is_far ? 320 << 10 : 192 << 10) / kSize;
        is_used_ = length != 0 && (is_reread || is_far) && step_ * channels <= most;
        if (!is_used_) return;
        copy_.emplace(step_ * channels);
        for (int64_t p = 0; p < n_places; ++p) {
            for (int64_t r = 0; r < places[p].n_runs; ++r) {
                PositionRun& run = places[p].runs[r];
                const int64_t column = columns.begin + p * GemmLoopsOf<T>().columns + run.column;
                const Slab& slab = slabs_.data()[column / positions_ - first_image_];
                run.x += slab.to - slab.from;
            }
        }
    }

    // Returns the source that a cut of the depth is gathered from, and its channel stride.
    ChannelView<T> Give(int64_t group, const Range& channels) const {
        const T* x = conv_.x + (group * conv_.ins + channels.begin) * conv_.x_channel;
        if (!is_used_) return {x, conv_.x_channel};
        for (int64_t c = 0; c < channels.size(); ++c) {
            for (int64_t i = 0; i < n_slabs_; ++i) {
                const Slab& slab = slabs_.data()[i];
                std::copy_n(x + c * conv_.x_channel + slab.from, slab.length,
                            copy_->data() + c * step_ + slab.to);
            }
        }
        return {copy_->data(), step_};
    }

 private:
    // A range of elements of one channel of one image, in the input and in the copy.
    struct Slab {
        int64_t from;
        int64_t length;
        int64_t to;
    };

    // Whether a single tap reads from main memory with channels a page or more apart: hardware
    // prefetchers do not follow that many streams of two lines each, but do follow the rows of a
    // block.
    bool IsFromMemory(const Im2col<T>& im2col, int64_t channels) const {
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        constexpr int64_t kPage = 4096;
        constexpr int64_t kCaches = 8 << 20;
        constexpr int64_t kMinChannels = 16;
        return im2col.n_taps() == 1 && channels >= kMinChannels &&
               conv_.x_channel * kSize >= kPage &&
               conv_.batch * conv_.ins * conv_.groups * conv_.x_channel * kSize >= kCaches;
    }

    // Returns the range that the positions [begin, end] (end included) read; empty for an empty
    // input.
    Slab Find(int64_t begin, int64_t end) const {
        for (int a = 0; a < conv_.ndim; ++a) {
            if (conv_.axes[a].in == 0) return {0, 0, 0};
        }
        int64_t low = 0;
        int64_t high = 0;
        int64_t after = positions_;
        bool is_one = true;  // Axes before this one have one index only.
        for (int a = 0; a < conv_.ndim; ++a) {
            const ConvAxis& axis = conv_.axes[a];
            after /= axis.out;
            const int64_t at = is_one ? begin / after % axis.out : 0;
            const int64_t at_end = is_one ? end / after % axis.out : axis.out - 1;
            is_one = is_one && at == at_end;
            const int64_t span = (axis.taps - 1) * axis.dilate;
            const auto clip = [&](int64_t i) { return std::clamp<int64_t>(i, 0, axis.in - 1); };
            int64_t first = clip(at * axis.step + axis.offset + std::min<int64_t>(span, 0));
            int64_t last = clip(at_end * axis.step + axis.offset + std::max<int64_t>(span, 0));
            if (a == conv_.ndim - 1 && axis.step != 1) {
                first = 0;
                last = conv_.phase * axis.step - 1;
            }
            low += std::min(first * axis.x_stride, last * axis.x_stride);
            high += std::max(first * axis.x_stride, last * axis.x_stride);
        }
        return {low, high - low + 1, 0};
    }

    const ConvOperands<T>& conv_;
    const int64_t positions_;
    const int64_t first_image_;
    const int64_t n_slabs_;
    const Scratch<Slab> slabs_;
    int64_t step_;
    bool is_used_;
    std::optional<Scratch<T>> copy_;
};

}  // namespace chainerx::native
