#include "chainerx/native/signal/fourier.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>

#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/native/isa.h"

namespace chainerx::native {

CX_DISPATCH(fourier, FourierUnit)

namespace {

// An LRU cache of plans, except for large lengths, whose plans cost less than their transforms and
// take much memory.
template <typename Plan>
class PlanCache {
 public:
    using Pointer = std::shared_ptr<const Plan>;

    Pointer Get(int64_t n, const auto& matches, const auto& make) {
        if (Pointer found = Find(matches)) return found;
        Pointer made = make();
        if (n > kLargest) return made;
        Pointer dropped = made;  // destroyed after the lock is released
        const std::lock_guard lock{mutex_};
        std::swap(plans_.back(), dropped);
        std::rotate(plans_.begin(), plans_.end() - 1, plans_.end());
        return made;
    }

 private:
    static constexpr int64_t kLargest = 1 << 17;

    Pointer Find(const auto& matches) {
        const std::lock_guard lock{mutex_};
        for (auto it = plans_.begin(); it != plans_.end() && *it != nullptr; ++it) {
            if (!matches(**it)) continue;
            std::rotate(plans_.begin(), it, it + 1);
            return plans_.front();
        }
        return nullptr;
    }

    internal::ForkMutex mutex_;
    std::array<Pointer, 16> plans_;  // most recently used first
};

// exp(-2 pi i k / n) for 0 <= k < n, by reduction to an angle of at most pi / 4, where sine and
// cosine are accurate.
std::pair<double, double> Root(int64_t k, int64_t n) {
    const int64_t octant = 8 * k / n;  // n is below 2^60
    // k / n = quarter / 4 + rest / n / 4, with the rest between -n / 2 and n / 2
    const int64_t quarter = (octant + 1) / 2;
    const int64_t rest = 4 * k - quarter * n;
    const double angle =
        std::numbers::pi / 2 * (static_cast<double>(rest) / static_cast<double>(n));
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    switch (quarter % 4) {
        case 0:
            return {c, -s};
        case 1:
            return {-s, -c};
        case 2:
            return {-c, s};
        default:
            return {s, c};
    }
}

// The largest divisor that does not exceed the square root; 0 if it is too small for many rows.
int64_t SplitLength(int64_t n) {
    constexpr int64_t kMin = 8;
    const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    for (int64_t d = root; d >= std::max(kMin, root / 16); --d) {
        if (n % d == 0) return d;
    }
    return 0;
}

}  // namespace

template <typename T>
FourierPlan<T>::FourierPlan(FourierPlanKind kind, int64_t n)
    : kind_{kind}, n_{n}, plan_{fourier_loops().Of<T>().make[kind](n)} {}

template <typename T>
FourierPlan<T>::~FourierPlan() {
    fourier_loops().Of<T>().release[kind_](plan_);
}

template <typename T>
FourierSplit<T>::FourierSplit(int64_t n, int64_t n1)
    : n{n},
      first{GetFourierPlan<T>(kFourierComplex, n1)},
      second{GetFourierPlan<T>(kFourierComplex, n / n1)},
      twiddles(static_cast<size_t>(2 * n)) {
    T* to = twiddles.data();
    for (int64_t j = 0; j < n1; ++j) {
        if (n >= 1 << 14) internal::CheckInterrupt();
        for (int64_t k = 0; k < n / n1; ++k) {
            const auto [real, imag] = Root(j * k, n);
            *to++ = static_cast<T>(real);
            *to++ = static_cast<T>(imag);
        }
    }
}

template <typename T>
std::shared_ptr<const FourierPlan<T>> GetFourierPlan(FourierPlanKind kind, int64_t n) {
    using Plan = FourierPlan<T>;
    static constinit internal::Lazy<PlanCache<Plan>> cache;
    return cache.Get().Get(
        n, [=](const Plan& plan) { return plan.n() == n && plan.kind() == kind; },
        [=] { return std::make_shared<const Plan>(kind, n); });
}

template <typename T>
std::shared_ptr<const FourierSplit<T>> GetFourierSplit(int64_t n) {
    using Split = FourierSplit<T>;
    static constinit internal::Lazy<PlanCache<Split>> cache;
    return cache.Get().Get(
        n, [=](const Split& split) { return split.n == n; },
        [=]() -> std::shared_ptr<const Split> {
            const int64_t n1 = SplitLength(n);
            return n1 == 0 ? nullptr : std::make_shared<const Split>(n, n1);
        });
}

template class FourierPlan<float>;
template class FourierPlan<double>;
template struct FourierSplit<float>;
template struct FourierSplit<double>;
template std::shared_ptr<const FourierPlan<float>> GetFourierPlan<float>(FourierPlanKind, int64_t);
template std::shared_ptr<const FourierPlan<double>> GetFourierPlan<double>(FourierPlanKind,
                                                                           int64_t);
template std::shared_ptr<const FourierSplit<float>> GetFourierSplit<float>(int64_t);
template std::shared_ptr<const FourierSplit<double>> GetFourierSplit<double>(int64_t);

}  // namespace chainerx::native
