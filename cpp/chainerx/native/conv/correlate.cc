// 1-D cross-correlation (correlate, convolve) by the loops of direct convolutions.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/native/conv/depthwise_loops.h"
#include "chainerx/native/gemm/matrices.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {
namespace {

// y[k] is the sum of x[k - before + j] w[j] over the j that are inside x. x is not zero-padded,
// which would turn an infinity in w into NaN: border outputs have fewer products.
template <typename T>
struct Sliding {
    const T* x;
    int64_t n;
    const T* w;
    int64_t m;
    int64_t before;
    T* y;
    const DepthwiseLoops<T>& loops;
    const int64_t* steps;  // 0, 1, ...

    static constexpr int64_t kGroup = 9;  // outputs that share their reads of w
    static constexpr int64_t kMaxWidth = 16;

    // The range of products of output k.
    Range Of(int64_t k) const {
        return {std::max<int64_t>(0, before - k), std::min(m, n + before - k)};
    }

    // Computes border outputs: neighbors share nearly all products; the others are added one by
    // one.
    void Border(int64_t begin, int64_t end) const {
        for (int64_t k = begin; k < end; k += kGroup) {
            const int64_t size = std::min(kGroup, end - k);
            const Range shared{Of(k).begin, Of(k + size - 1).end};
            T sums[kGroup * kMaxWidth]{};
            if (shared.size() > 0) {
                loops.products({x + k - before + shared.begin, 0}, steps, size,
                               {w + shared.begin, 0}, 1, shared.size(), sums);
            }
            for (int64_t i = 0; i < size; ++i) {
                T* lanes = sums + i * loops.width;
                for (int64_t half = loops.width / 2; half > 0; half /= 2) {
                    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
                }
                T sum = lanes[0];
                const Range own = Of(k + i);
                const T* from = x + k + i - before;
                for (int64_t j = own.begin; j < own.end; ++j) {
                    if (j == shared.begin && shared.size() > 0) j = shared.end;
                    if (j < own.end) sum += from[j] * w[j];
                }
                y[k + i] = sum;
            }
        }
    }

    // Computes interior outputs, which meet all of w, in whole vectors.
    void Interior(int64_t begin, int64_t end) const {
        constexpr int64_t kRows = 4;
        const T* from = x + begin - before;
        const int64_t step = (end - begin) / kRows / loops.width * loops.width;
        if (step != 0)
            loops.sum({from, step}, steps, w, m, T(0), nullptr, {y + begin, step}, kRows, step);
        const int64_t rest = begin + kRows * step;
        if (rest != end) {
            loops.sum({x + rest - before, 0}, steps, w, m, T(0), nullptr, {y + rest, 0}, 1,
                      end - rest);
        }
    }
};

// Splits [begin, end) among threads, each with about as many products.
void InBlocks(int64_t begin, int64_t end, int64_t multiple, int64_t m, const auto& f) {
    constexpr int64_t kProducts = 1 << 18;
    const int64_t block = CeilDiv(CeilDiv(kProducts, m), multiple) * multiple;
    ParallelFor(CeilDiv(end - begin, block), [&](int64_t i) {
        internal::CheckInterrupt();
        f(begin + i * block, std::min(end, begin + (i + 1) * block));
    });
}

template <typename T>
void Slide(const DepthwiseLoops<T>& loops, const Array& x, const Array& w, int64_t before,
           const Array& out) {
    const int64_t count = out.shape()[0];
    const int64_t m = w.shape()[0];
    const Scratch<int64_t> steps{std::max(m, Sliding<T>::kGroup)};
    std::iota(steps.data(), steps.data() + std::max(m, Sliding<T>::kGroup), int64_t{0});
    const Sliding<T> s{Data<T>(x), x.shape()[0], Data<T>(w), m,
                       before,     Data<T>(out), loops,      steps.data()};
    // Interior outputs lie between the border ones.
    const int64_t begin = std::min(std::max<int64_t>(before, 0), count);
    const int64_t whole = std::clamp<int64_t>(s.n + before - m + 1 - begin, 0, count - begin);
    const int64_t many = whole < 4 * loops.width ? 0 : whole / loops.width * loops.width;
    const auto border = [&](int64_t from, int64_t to) {
        InBlocks(from, to, s.kGroup, m, [&](int64_t i, int64_t k) { s.Border(i, k); });
    };
    border(0, begin);
    InBlocks(begin, begin + many, 8 * loops.width, m,
             [&](int64_t i, int64_t k) { s.Interior(i, k); });
    border(begin + many, count);
}

void SlidingProduct(const Array& x, const Array& w, int64_t before, const Array& out) {
    if (out.dtype() == Dtype::kFloat32) {
        Slide<float>(depthwise_loops().f32, x, w, before, out);
    } else {
        Slide<double>(depthwise_loops().f64, x, w, before, out);
    }
}
CX_NATIVE_KERNEL(SlidingProduct)

}  // namespace
}  // namespace chainerx::native
