// What the kernels of optimizers work with.
#pragma once

#include <cmath>
#include <cstdint>

namespace chainerx {

enum class UpdateRule : int {
#define CX_UPDATE(Name, ...) k##Name,
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
    kCount
};

inline constexpr int kMaxUpdateStates = 3;

// The numbers of a rule in step t = 1, 2, ... from what its user set. They lie in the same order;
// where a number changes from step to step, settings have what it is made of.
inline void FillUpdateNumbers(UpdateRule rule, const double* settings, double t, double* numbers,
                              int64_t n) {
    for (int64_t i = 0; i < n; ++i) numbers[i] = settings[i];
    switch (rule) {
        case UpdateRule::kAdaBound:
        case UpdateRule::kAmsBound: {
            // The bounds that learning rates are kept within draw together.
            const double final_rate = settings[6];
            const double span = settings[7] * t;
            numbers[6] = final_rate * (1 - 1 / (span + 1));
            numbers[7] = final_rate * (1 + 1 / span);
            [[fallthrough]];
        }
        case UpdateRule::kAdam:
        case UpdateRule::kAmsGrad:
            // Corrected for averages that started from 0.
            numbers[0] = settings[0] * std::sqrt(1 - std::pow(settings[2], t)) /
                         (1 - std::pow(settings[1], t));
            break;
        case UpdateRule::kMsvag: {
            const double beta = settings[1];
            const double power = std::pow(beta, t);
            const double rho = (1 - beta) * (1 + power) / ((1 + beta) * (1 - power));
            numbers[4] = 1 - power;
            // In the first step the variance is unknown, and rho is 1.
            numbers[5] = rho < 0.9999 ? rho : 0.9999;
            break;
        }
        default:
            break;
    }
}

}  // namespace chainerx
