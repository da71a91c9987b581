// softmax, log_softmax and their cross entropies.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/norm/softmax.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/norm/row_order.h"
#include "chainerx/native/norm/softmax_loops.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {

CX_DISPATCH(softmax, SoftmaxUnit)

namespace {

// Calls f(first row, number of rows) for chunks of about eight thousand elements.
void ForRows(const Array& x, const auto& f) {
    const int64_t rows = x.shape()[0];
    const int64_t step = std::max<int64_t>(1, 8192 / std::max<int64_t>(x.shape()[1], 1));
    ParallelFor(CeilDiv(rows, step),
                [&](int64_t block) { f(block * step, std::min(step, rows - block * step)); });
}

void Softmax(const Array& x, const Array& out) {
    if (RunUpcast(out, [&](const Array& wide) { Softmax(ToFloat32(x), wide); })) return;
    VisitUpcast(softmax_loops(), x.dtype(), [&]<typename T>(const SoftmaxLoops<T>& loops) {
        const int64_t cols = x.shape()[1];
        ForRows(x, [&](int64_t first, int64_t count) {
            loops.softmax(Data<T>(x) + first * cols, count, cols, Data<T>(out) + first * cols);
        });
    });
}
CX_NATIVE_KERNEL(Softmax)

void LogSoftmax(const Array& x, const Array& out) {
    if (RunUpcast(out, [&](const Array& wide) { LogSoftmax(ToFloat32(x), wide); })) return;
    VisitUpcast(softmax_loops(), x.dtype(), [&]<typename T>(const SoftmaxLoops<T>& loops) {
        const int64_t cols = x.shape()[1];
        ForRows(x, [&](int64_t first, int64_t count) {
            loops.log_softmax(Data<T>(x) + first * cols, count, cols, Data<T>(out) + first * cols);
        });
    });
}
CX_NATIVE_KERNEL(LogSoftmax)

// Adds up kRowLanes lanes.
double FoldLanes(double* lanes) {
    for (int64_t w = kRowLanes / 2; w > 0; w /= 2) {
        for (int64_t k = 0; k < w; ++k) lanes[k] += lanes[k + w];
    }
    return lanes[0];
}

// The sum of f(0), ..., f(n - 1) in the order of row_order.h.
double SumOfTerms(int64_t n, const auto& f) {
    double total[kRowLanes] = {};
    for (int64_t begin = 0; begin < n; begin += kRowBlock) {
        double sum[kRowLanes] = {};
        const int64_t end = std::min(n, begin + kRowBlock);
        for (int64_t i = begin; i < end; i += kRowLanes) {
            const int64_t count = std::min(kRowLanes, end - i);
            if (count == kRowLanes) {
                for (int64_t k = 0; k < kRowLanes; ++k) sum[k] += f(i + k);
            } else {
                for (int64_t k = 0; k < count; ++k) sum[k] += f(i + k);
            }
        }
        for (int64_t k = 0; k < kRowLanes; ++k) total[k] += sum[k];
    }
    return FoldLanes(total);
}

// The mean of max - x over a row.
template <typename T>
T MeanBelow(const T* x, int64_t n, T max) {
    const double sum = SumOfTerms(n, [&](int64_t j) { return static_cast<double>(max - x[j]); });
    return static_cast<T>(sum / static_cast<double>(n));
}

// Labels of any integer dtype.
class LabelReader {
 public:
    explicit LabelReader(const Array& t) : data_{t.raw_data()}, dtype_{t.dtype()} {}
    int64_t operator[](int64_t i) const {
        if (dtype_ == Dtype::kInt64) return reinterpret_cast<const int64_t*>(data_)[i];
        if (dtype_ == Dtype::kInt32) return reinterpret_cast<const int32_t*>(data_)[i];
        return VisitInt(dtype_, [&]<typename T>() {
            return static_cast<int64_t>(reinterpret_cast<const T*>(data_)[i]);
        });
    }

 private:
    const char* data_;
    Dtype dtype_;
};

void SoftmaxCrossEntropy(const Array& x, const Array& t, int64_t ignore, double smoothing,
                         const Array& loss, const Array& stats) {
    if (IsHalf(x)) {
        const Array wide_loss = EmptyUnchecked(loss.shape(), Dtype::kFloat32, loss.device());
        SoftmaxCrossEntropy(ToFloat32(x), t, ignore, smoothing, wide_loss, stats);
        CallOn<kernels::AsType>(loss.device(), wide_loss, loss);
        return;
    }
    VisitUpcast(softmax_loops(), x.dtype(), [&]<typename T>(const SoftmaxLoops<T>& loops) {
        const int64_t cols = x.shape()[1];
        const LabelReader labels{t};
        ForRows(x, [&](int64_t first, int64_t count) {
            loops.stats(Data<T>(x) + first * cols, count, cols, Data<T>(stats) + 2 * first);
            for (int64_t i = first; i < first + count; ++i) {
                const int64_t label = labels[i];
                if (label == ignore) {
                    Data<T>(loss)[i] = T{0};
                    continue;
                }
                if (label < 0 || label >= cols) {
                    Fail(
                        KernelError::Label("softmax_cross_entropy", "x2", i, label, cols, &ignore));
                }
                const T* row = Data<T>(stats) + 2 * i;
                const T* scores = Data<T>(x) + i * cols;
                const T hard = row[1] - (scores[label] - row[0]);
                if (smoothing == 0) {
                    Data<T>(loss)[i] = hard;
                } else {
                    const T even = row[1] + MeanBelow(scores, cols, row[0]);
                    Data<T>(loss)[i] =
                        static_cast<T>(1 - smoothing) * hard + static_cast<T>(smoothing) * even;
                }
            }
        });
    });
}
CX_NATIVE_KERNEL(SoftmaxCrossEntropy)

// The sum of f(begin), ..., f(end - 1) in kLanes.
template <int64_t kLanes>
double SumInLanes(int64_t begin, int64_t end, const auto& f) {
    double lanes[kLanes] = {};
    for (int64_t i = begin; i < end; ++i) lanes[(i - begin) % kLanes] += f(i);
    double all = FoldLanes(lanes);
    for (int64_t k = kRowLanes; k < kLanes; k += kRowLanes) all += FoldLanes(lanes + k);
    return all;
}

// The sum of f(0), ..., f(n - 1): pieces of kLabelledPiece, then their sums, in kLabelledLanes.
double SumOfLabelled(int64_t n, const auto& f) {
    if (n <= kRowLanes) return SumInLanes<kRowLanes>(0, n, f);  // the other lanes would be 0
    if (n <= kLabelledPiece) return SumInLanes<kLabelledLanes>(0, n, f);
    std::vector<double> pieces;
    for (int64_t begin = 0; begin < n; begin += kLabelledPiece) {
        const int64_t end = std::min(n, begin + kLabelledPiece);
        pieces.push_back(SumInLanes<kLabelledLanes>(begin, end, f));
    }
    return SumInLanes<kLabelledLanes>(0, static_cast<int64_t>(pieces.size()),
                                      [&](int64_t i) { return pieces[static_cast<size_t>(i)]; });
}

void MeanOfLabelled(const Array& loss, const Array& t, int64_t ignore, const Array& mean,
                    const Array& scale) {
    const int64_t n = t.GetTotalSize();
    const int64_t ignored = VisitInt(t.dtype(), [&]<typename T>() {
        const T* labels = Data<const T>(t);
        return static_cast<int64_t>(std::count_if(
            labels, labels + n, [&](T label) { return static_cast<int64_t>(label) == ignore; }));
    });
    const int64_t counted = std::max<int64_t>(1, n - ignored);
    VisitFloat(loss.dtype(), [&]<typename T>() {
        const double sum =
            SumOfLabelled(n, [&](int64_t i) { return Cast<double>(Data<T>(loss)[i]); });
        *Data<T>(mean) = Cast<T>(sum / static_cast<double>(counted));
    });
    VisitFloat(scale.dtype(),
               [&]<typename T>() { *Data<T>(scale) = Cast<T>(1 / static_cast<double>(counted)); });
}
CX_NATIVE_KERNEL(MeanOfLabelled)

// The only element of gy times the scale.
template <typename T>
T Scaled(const Array& gy, const Array& scale) {
    return Cast<T>(Cast<ComputeType<T>>(*Data<T>(gy)) * *Data<ComputeType<T>>(scale));
}

void SoftmaxCrossEntropyGrad(const Array& x, const Array& t, int64_t ignore, double smoothing,
                             const Array& stats, const Array& gy, const Array& scale,
                             const Array& gx) {
    if (IsHalf(x)) {
        const Array wide_gx = EmptyUnchecked(gx.shape(), Dtype::kFloat32, gx.device());
        const Array wide_gy = ToFloat32(gy);
        if (scale.GetTotalSize() != 0) {
            VisitFloat(gy.dtype(), [&]<typename T>() {
                std::fill_n(Data<float>(wide_gy), wide_gy.GetTotalSize(),
                            Cast<float>(Scaled<T>(gy, scale)));
            });
        }
        const Array none = EmptyUnchecked(Shape{0}, Dtype::kFloat32, gx.device());
        SoftmaxCrossEntropyGrad(ToFloat32(x), t, ignore, smoothing, stats, wide_gy, none, wide_gx);
        CallOn<kernels::AsType>(gx.device(), wide_gx, gx);
        return;
    }
    VisitUpcast(softmax_loops(), x.dtype(), [&]<typename T>(const SoftmaxLoops<T>& loops) {
        const int64_t cols = x.shape()[1];
        const int64_t step = gy.strides()[0] / gy.GetItemSize();
        const T scaled = scale.GetTotalSize() != 0 ? Scaled<T>(gy, scale) : T{0};
        const T* gys = scale.GetTotalSize() != 0 ? &scaled : Data<T>(gy);
        const LabelReader labels{t};
        ForRows(x, [&](int64_t first, int64_t count) {
            const T* g = gys + step * first;
            T* to = Data<T>(gx) + first * cols;
            loops.scaled(Data<T>(x) + first * cols, Data<T>(stats) + 2 * first, g, step, count,
                         cols, to);
            for (int64_t i = 0; i < count; ++i, to += cols) {
                const int64_t label = labels[first + i];
                // Forward has checked labels, but other threads may have written to the memory
                // since.
                if (label != ignore && (label < 0 || label >= cols)) [[unlikely]] {
                    Fail(KernelError::Label("softmax_cross_entropy", "x2", first + i, label, cols,
                                            &ignore));
                }
                if (label == ignore) {
                    std::fill_n(to, cols, T{0});
                    continue;
                }
                to[label] -= static_cast<T>(1 - smoothing) * g[step * i];
                if (smoothing != 0) {
                    const T even = static_cast<T>(smoothing / static_cast<double>(cols));
                    for (int64_t j = 0; j < cols; ++j) to[j] -= even * g[step * i];
                }
            }
        });
    });
}
CX_NATIVE_KERNEL(SoftmaxCrossEntropyGrad)

void OneHot(const char* op, const Array& t, const std::optional<int64_t>& ignore,
            const Array& out) {
    CallOn<kernels::Fill>(out.device(), out, Scalar{0});
    const int64_t cols = out.shape()[1];
    const LabelReader labels{t};
    VisitFloat(out.dtype(), [&]<typename T>() {
        for (int64_t i = 0; i < t.GetTotalSize(); ++i) {
            const int64_t label = labels[i];
            if (label == ignore) continue;
            if (label < 0 || label >= cols) {
                Fail(KernelError::Label(op, "x2", i, label, cols, ignore ? &*ignore : nullptr));
            }
            Data<T>(out)[i * cols + label] = Cast<T>(1);
        }
    });
}
CX_NATIVE_KERNEL(OneHot)

template <typename T>
ComputeType<T> At(const char* x, int64_t offset) {
    return Cast<ComputeType<T>>(*reinterpret_cast<const T*>(x + offset));
}

// Returns whether no element of [begin, end) beats `best`: is larger, equal (if kEqualBeats), or
// NaN. It works in branch-free blocks, which compilers vectorize.
template <bool kEqualBeats, typename T>
bool IsUnbeaten(ComputeType<T> best, const char* x, int64_t stride, int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 64;
    constexpr int64_t kSize = sizeof(T);
    for (; begin < end; begin += kBlock) {
        const int64_t n = std::min(kBlock, end - begin);
        const auto is_beaten = [&](const char* from, int64_t step) {
            int any = 0;
            for (int64_t j = 0; j < n; ++j) {
                const auto v = At<T>(from, j * step);
                any |= kEqualBeats ? !(v < best) : !(v <= best);
            }
            return any != 0;
        };
        const char* from = x + begin * stride;
        if (stride == kSize ? is_beaten(from, kSize) : is_beaten(from, stride)) return false;
    }
    return true;
}

// Returns whether argmax is `label`: the first of the largest, where NaN counts as largest.
template <typename T>
bool IsArgMax(const char* x, int64_t stride, int64_t n, int64_t label) {
    if (label < 0 || label >= n) return false;
    const auto best = At<T>(x, label * stride);
    if (std::isnan(best)) {
        for (int64_t j = 0; j < label; ++j) {
            if (std::isnan(At<T>(x, j * stride))) return false;
        }
        return true;
    }
    return IsUnbeaten<true, T>(best, x, stride, 0, label) &&
           IsUnbeaten<false, T>(best, x, stride, label + 1, n);
}

void CountHits(const Array& y, const Array& t, const std::optional<int64_t>& ignore,
               const Array& hits, const Array& counted) {
    const Strides& strides = y.strides();
    const int64_t n = y.shape()[2];
    int64_t n_hits = 0;
    int64_t n_counted = 0;
    VisitFloat(y.dtype(), [&]<typename T>() {
        for (int64_t i = 0; i < t.GetTotalSize(); ++i) {
            const int64_t label = Data<const int64_t>(t)[i];
            if (label == ignore) continue;
            const char* from = y.raw_data() + i / n * strides[0] + i % n * strides[2];
            ++n_counted;
            n_hits += IsArgMax<T>(from, strides[1], y.shape()[1], label);
        }
    });
    *Data<int64_t>(hits) = n_hits;
    *Data<int64_t>(counted) = n_counted;
}
CX_NATIVE_KERNEL(CountHits)

}  // namespace
}  // namespace chainerx::native
