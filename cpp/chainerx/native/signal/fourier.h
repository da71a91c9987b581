// FFT plans of a length: a plan of the library, or two plans of its factors. Plans are cached.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "chainerx/native/signal/fourier_loops.h"

namespace chainerx::native {

template <typename T>
class FourierPlan {
 public:
    FourierPlan(FourierPlanKind kind, int64_t n);
    ~FourierPlan();
    FourierPlan(const FourierPlan&) = delete;
    FourierPlan& operator=(const FourierPlan&) = delete;

    FourierPlanKind kind() const { return kind_; }
    int64_t n() const { return n_; }
    void* get() const { return plan_; }

 private:
    FourierPlanKind kind_;
    int64_t n_;
    void* plan_;
};

// The four-step algorithm: a transform of n1 x n2 numbers is n2 transforms of n1 numbers with
// stride n2, twiddle factors, and n1 transforms of n2 numbers (Cooley and Tukey, 1965; Bailey,
// 1990), each as a batch of rows.
template <typename T>
struct FourierSplit {
    FourierSplit(int64_t n, int64_t n1);

    int64_t n;
    std::shared_ptr<const FourierPlan<T>> first;   // of length n1
    std::shared_ptr<const FourierPlan<T>> second;  // of length n2
    std::vector<T> twiddles;  // exp(-2 pi i j k / n) for j < n1, k < n2: real, imaginary
};

template <typename T>
std::shared_ptr<const FourierPlan<T>> GetFourierPlan(FourierPlanKind kind, int64_t n);

// Returns null if n has no two divisors of similar size.
template <typename T>
std::shared_ptr<const FourierSplit<T>> GetFourierSplit(int64_t n);

}  // namespace chainerx::native
