// JVP of the CTC gradient: the forward-backward algorithm of ctc.cc in dual numbers. Rarely used,
// hence plain code.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "chainerx/kernels/loss/ctc.h"
#include "chainerx/native/loss/ctc.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// A dual number: a value and its tangent. The tangent of log(0) is 0.
struct Dual {
    double value{kNone};
    double change{0};
};

Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.change + b.change}; }
Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.change - b.change}; }

// logsumexp of numbers that are added one by one.
class LogSum {
 public:
    void Add(const Dual& x) {
        if (x.value == kNone) return;
        if (x.value > max_) {
            const double scale = std::exp(max_ - x.value);
            sum_ *= scale;
            weighted_ *= scale;
            max_ = x.value;
        }
        const double e = std::exp(x.value - max_);
        sum_ += e;
        weighted_ += e * x.change;
    }
    Dual Get() const {
        if (sum_ == 0) return {};
        return {max_ + std::log(sum_), weighted_ / sum_};
    }

 private:
    double max_{kNone};
    double sum_{0};
    double weighted_{0};
};

// The tangent of exp(x).
double ChangeOfExp(const Dual& x) { return std::exp(x.value) * x.change; }

// The rows of one example: (steps, width) each.
struct Table {
    int64_t width;
    std::vector<Dual> values;

    Table(int64_t steps, int64_t width)
        : width{width}, values(static_cast<size_t>(steps * width)) {}
    Dual& At(int64_t t, int64_t s) { return values[static_cast<size_t>(t * width + s)]; }
};

// Computes log alpha, or log beta unless `is_forward`. Both include a step's emission in its row.
void Run(const CtcPath& path, Table& emissions, bool is_forward, Table& weights) {
    const int64_t last = path.size() - 1;
    for (int64_t i = 0; i < path.steps; ++i) {
        internal::CheckInterrupt();
        const int64_t t = is_forward ? i : path.steps - 1 - i;
        for (int64_t j = 0; j <= last; ++j) {
            const int64_t s = is_forward ? j : last - j;
            if (i == 0) {
                if (j < 2) weights.At(t, s) = emissions.At(t, s);
                continue;
            }
            const int64_t back = is_forward ? -1 : 1;
            LogSum sum;
            sum.Add(weights.At(t + back, s));
            if (j >= 1) sum.Add(weights.At(t + back, s + back));
            if (j >= 2 && path.MaySkip(is_forward ? s : s + 2)) {
                sum.Add(weights.At(t + back, s + 2 * back));
            }
            weights.At(t, s) = sum.Get() + emissions.At(t, s);
        }
    }
}

template <typename T>
void Along(const CtcPath& path, const Array& x, const Array& v, double gy, int64_t row,
           const Array& out) {
    const int64_t rows = x.shape()[1];
    const int64_t classes = x.shape()[2];
    Table log_p{path.steps, classes};
    for (int64_t t = 0; t < path.steps; ++t) {
        const int64_t first = (t * rows + row) * classes;
        LogSum sum;
        for (int64_t k = 0; k < classes; ++k) {
            log_p.At(t, k) = {static_cast<double>(Data<T>(x)[first + k]),
                              static_cast<double>(Data<T>(v)[first + k])};
            sum.Add(log_p.At(t, k));
        }
        for (int64_t k = 0; k < classes; ++k) log_p.At(t, k) = log_p.At(t, k) - sum.Get();
    }
    Table emissions{path.steps, path.size()};
    for (int64_t t = 0; t < path.steps; ++t) {
        for (int64_t s = 0; s < path.size(); ++s) {
            emissions.At(t, s) = log_p.At(t, path.classes[static_cast<size_t>(s)]);
        }
    }
    Table before{path.steps, path.size()};
    Table after{path.steps, path.size()};
    Run(path, emissions, true, before);
    Run(path, emissions, false, after);
    std::vector<double> change(static_cast<size_t>(classes));
    for (int64_t t = 0; t < path.steps; ++t) {
        for (int64_t k = 0; k < classes; ++k) {
            change[static_cast<size_t>(k)] = ChangeOfExp(log_p.At(t, k));
        }
        LogSum sum;
        for (int64_t s = 0; s < path.size(); ++s) {
            Dual& joined = before.At(t, s);
            joined = emissions.At(t, s).value == kNone
                         ? Dual{}
                         : joined + (after.At(t, s) - emissions.At(t, s));
            sum.Add(joined);
        }
        for (int64_t s = 0; s < path.size(); ++s) {
            if (before.At(t, s).value == kNone) continue;
            change[static_cast<size_t>(path.classes[static_cast<size_t>(s)])] -=
                ChangeOfExp(before.At(t, s) - sum.Get());
        }
        T* to = Data<T>(out) + (t * rows + row) * classes;
        for (int64_t k = 0; k < classes; ++k) {
            to[k] = static_cast<T>(gy * change[static_cast<size_t>(k)]);
        }
    }
}

void CtcGradAlong(const Array& x, const Array& t, const Array& input_length,
                  const Array& label_length, int64_t blank, const Array& gy, const Array& v,
                  const Array& out) {
    if (IsHalf(x)) {
        RunUpcast(out, [&](const Array& wide) {
            CtcGradAlong(ToFloat32(x), t, input_length, label_length, blank, ToFloat32(gy),
                         ToFloat32(v), wide);
        });
        return;
    }
    const CtcTargets targets{x, t, input_length, label_length};
    std::fill_n(out.raw_data(), out.GetTotalSize() * out.GetItemSize(), char{0});
    ParallelFor(x.shape()[1], [&](int64_t row) {
        const CtcPath path = targets.PathOf(row, blank);
        if (x.dtype() == Dtype::kFloat64) {
            Along<double>(path, x, v, Data<double>(gy)[row], row, out);
        } else {
            Along<float>(path, x, v, static_cast<double>(Data<float>(gy)[row]), row, out);
        }
    });
}
CX_NATIVE_KERNEL(CtcGradAlong)

}  // namespace
}  // namespace chainerx::native
