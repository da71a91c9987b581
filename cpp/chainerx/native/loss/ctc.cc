// Connectionist temporal classification by the forward-backward algorithm (Graves et al., ICML
// 2006), in log space.
#include "chainerx/native/loss/ctc.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/loss/ctc.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/loss/lattice_loops.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/norm/softmax_loops.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {

CX_DISPATCH(lattice, LatticeUnit)

CtcTargets::CtcTargets(const Array& x, const Array& t, const Array& input_length,
                       const Array& label_length) {
    const int64_t most = t.shape()[1];
    for (int64_t b = 0; b < t.shape()[0]; ++b) {
        const int64_t steps = Data<const int64_t>(input_length)[b];
        const int64_t n = Data<const int64_t>(label_length)[b];
        if (steps < 0 || steps > x.shape()[0]) {
            Fail(KernelError::Length(kCtcName, "input_length", b, steps, x.shape()[0]));
        }
        if (n < 0 || n > most) {
            Fail(KernelError::Length(kCtcName, "label_length", b, n, most));
        }
        const int64_t* const first = Data<const int64_t>(t) + b * most;
        const std::vector<int64_t> row(first, first + n);
        int64_t needed = n;  // equal adjacent labels need a blank between them
        for (int64_t i = 0; i < n; ++i) {
            const int64_t label = row[static_cast<size_t>(i)];
            if (label < 0 || label >= x.shape()[2]) {
                Fail(
                    KernelError::Label(kCtcName, "x2", b * most + i, label, x.shape()[2], nullptr));
            }
            if (i > 0 && label == row[static_cast<size_t>(i - 1)]) ++needed;
        }
        if (needed > steps) Fail(KernelError::FewSteps(kCtcName, "t", b, needed, steps));
        labels_.push_back(row);
        steps_.push_back(steps);
    }
}

CtcPath CtcTargets::PathOf(int64_t row, int64_t blank) const {
    const std::vector<int64_t>& labels = labels_[static_cast<size_t>(row)];
    CtcPath path{std::vector<int64_t>(2 * labels.size() + 1, blank), steps(row)};
    for (size_t i = 0; i < labels.size(); ++i) path.classes[2 * i + 1] = labels[i];
    return path;
}

namespace {

// Number of steps that take about a tenth of a millisecond.
int64_t StepsBetweenInterrupts(int64_t stride) { return CeilDiv(1 << 16, stride); }

template <typename T>
class Lattice {
 public:
    Lattice(const LatticeLoops<T>& loops, const CtcPath& path)
        : loops_{loops},
          path_{path},
          stride_{kLatticeLead + CeilDiv(path.size(), kLatticeLanes) * kLatticeLanes},
          emissions_(path.steps * stride_),
          weights_(path.steps * stride_),
          skip_(stride_) {}

    // Loads log probabilities from scores (steps, rows, classes) and their statistics.
    void Load(const T* x, const T* stats, int64_t row, int64_t rows, int64_t classes) {
        Clear();
        for (int64_t t = 0; t < path_.steps; ++t) {
            const T* scores = x + (t * rows + row) * classes;
            const T* stat = stats + 2 * (t * rows + row);
            T* to = At(emissions_, t);
            for (int64_t s = 0; s < path_.size(); ++s) {
                to[s] = (scores[path_.classes[static_cast<size_t>(s)]] - stat[0]) - stat[1];
            }
        }
        for (int64_t s = 2; s < path_.size(); ++s) {
            if (path_.MaySkip(s)) skip_.data()[kLatticeLead + s] = T{0};
        }
    }

    // Loads the reversed lattice, for the backward recursion.
    void LoadReversed(const Lattice& other) {
        Clear();
        const int64_t last = path_.size() - 1;
        for (int64_t t = 0; t < path_.steps; ++t) {
            const T* from = other.At(other.emissions_, path_.steps - 1 - t);
            T* to = At(emissions_, t);
            for (int64_t s = 0; s <= last; ++s) to[s] = from[last - s];
        }
        for (int64_t s = 2; s <= last; ++s) {
            skip_.data()[kLatticeLead + s] = other.skip_.data()[kLatticeLead + last - s + 2];
        }
    }

    void Run() {
        const int64_t step = StepsBetweenInterrupts(stride_);
        taken_off_ = 0;
        for (int64_t begin = 0; begin < path_.steps; begin += step) {
            if (begin != 0) internal::CheckInterrupt();
            taken_off_ +=
                loops_.weights(emissions_.data(), skip_.data(), begin,
                               std::min(path_.steps, begin + step), stride_, weights_.data());
        }
    }

    // The log probability of all paths, which end in one of the last two states.
    double LogProbability() const {
        if (path_.steps == 0) return 0;
        const T* row = At(weights_, path_.steps - 1);
        const double end = static_cast<double>(row[path_.size() - 1]);
        const double before = static_cast<double>(row[path_.size() - 2]);  // -inf if there is none
        const double max = std::max(end, before);
        if (std::isinf(max)) return max;
        return taken_off_ + max + std::log(std::exp(end - max) + std::exp(before - max));
    }

    // to (steps, states) = log(alpha beta): the log weight of all paths through a state, minus one
    // offset per step.
    void Join(const Lattice& reversed, T* to) const {
        constexpr T kNone = -std::numeric_limits<T>::infinity();
        const int64_t last = path_.size() - 1;
        for (int64_t t = 0; t < path_.steps; ++t, to += last + 1) {
            const T* before = At(weights_, t);
            const T* after = reversed.At(reversed.weights_, path_.steps - 1 - t);
            const T* emission = At(emissions_, t);
            for (int64_t s = 0; s <= last; ++s) {
                // Both alpha and beta include the emission.
                to[s] = emission[s] == kNone ? kNone : before[s] + (after[last - s] - emission[s]);
            }
        }
    }

 private:
    void Clear() {
        constexpr T kNone = -std::numeric_limits<T>::infinity();
        std::fill_n(emissions_.data(), path_.steps * stride_, kNone);
        std::fill_n(skip_.data(), stride_, kNone);
    }
    T* At(const Scratch<T>& rows, int64_t t) const {
        return rows.data() + t * stride_ + kLatticeLead;
    }

    const LatticeLoops<T>& loops_;
    const CtcPath& path_;
    int64_t stride_;
    Scratch<T> emissions_;
    Scratch<T> weights_;
    Scratch<T> skip_;
    double taken_off_{0};
};

void Ctc(const Array& x, const Array& t, const Array& input_length, const Array& label_length,
         int64_t blank, const Array& loss, const Array& stats) {
    if (IsHalf(x)) {
        RunUpcast(loss, [&](const Array& wide) {
            Ctc(ToFloat32(x), t, input_length, label_length, blank, wide, stats);
        });
        return;
    }
    const CtcTargets targets{x, t, input_length, label_length};
    const int64_t rows = x.shape()[1];
    const int64_t classes = x.shape()[2];
    VisitUpcast(lattice_loops(), x.dtype(), [&]<typename T>(const LatticeLoops<T>& loops) {
        ParallelFor(x.shape()[0], [&](int64_t step) {
            softmax_loops().Of<T>().stats(Data<T>(x) + step * rows * classes, rows, classes,
                                          Data<T>(stats) + 2 * step * rows);
        });
        ParallelFor(rows, [&](int64_t row) {
            const CtcPath path = targets.PathOf(row, blank);
            Lattice<T> lattice{loops, path};
            lattice.Load(Data<T>(x), Data<T>(stats), row, rows, classes);
            lattice.Run();
            Data<T>(loss)[row] = static_cast<T>(0 - lattice.LogProbability());
        });
    });
}
CX_NATIVE_KERNEL(Ctc)

// gx -= gy times the posterior probability of each class in each step.
template <typename T>
void SubtractPosteriors(const LatticeLoops<T>& loops, const CtcPath& path, const Array& x,
                        const Array& stats, T gy, int64_t row, const Array& gx) {
    const int64_t rows = x.shape()[1];
    const int64_t classes = x.shape()[2];
    const int64_t states = path.size();
    Lattice<T> lattice{loops, path};
    lattice.Load(Data<T>(x), Data<T>(stats), row, rows, classes);
    lattice.Run();
    Lattice<T> reversed{loops, path};
    reversed.LoadReversed(lattice);
    reversed.Run();
    const Scratch<T> joined{path.steps * states};
    lattice.Join(reversed, joined.data());
    softmax_loops().Of<T>().softmax(joined.data(), path.steps, states, joined.data());
    for (int64_t t = 0; t < path.steps; ++t) {
        const T* from = joined.data() + t * states;
        T* to = Data<T>(gx) + (t * rows + row) * classes;
        for (int64_t s = 0; s < states; ++s) {
            to[path.classes[static_cast<size_t>(s)]] -= gy * from[s];
        }
    }
}

void CtcGrad(const Array& x, const Array& t, const Array& input_length, const Array& label_length,
             int64_t blank, const Array& stats, const Array& gy, const Array& gx) {
    if (IsHalf(x)) {
        RunUpcast(gx, [&](const Array& wide) {
            CtcGrad(ToFloat32(x), t, input_length, label_length, blank, stats, ToFloat32(gy), wide);
        });
        return;
    }
    const CtcTargets targets{x, t, input_length, label_length};
    const int64_t rows = x.shape()[1];
    const int64_t classes = x.shape()[2];
    VisitUpcast(lattice_loops(), x.dtype(), [&]<typename T>(const LatticeLoops<T>& loops) {
        ParallelFor(x.shape()[0], [&](int64_t step) {
            const int64_t first = step * rows;
            T* to = Data<T>(gx) + first * classes;
            softmax_loops().Of<T>().scaled(Data<T>(x) + first * classes, Data<T>(stats) + 2 * first,
                                           Data<T>(gy), 1, rows, classes, to);
            for (int64_t row = 0; row < rows; ++row) {
                if (step < targets.steps(row)) continue;
                std::fill_n(to + row * classes, classes, T{0});
            }
        });
        ParallelFor(rows, [&](int64_t row) {
            const CtcPath path = targets.PathOf(row, blank);
            SubtractPosteriors<T>(loops, path, x, stats, Data<T>(gy)[row], row, gx);
        });
    });
}
CX_NATIVE_KERNEL(CtcGrad)

}  // namespace
}  // namespace chainerx::native
