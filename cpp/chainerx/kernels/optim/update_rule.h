// Update rules of the optimizer kernels.
#pragma once

#include <algorithm>
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

// Whether a rule has numbers that change from step to step; else they are the settings.
constexpr bool HasStepNumbers(UpdateRule rule) {
    switch (rule) {
#define CX_UPDATE(...)
#define CX_UPDATE_NUMBERS(Name, ...) case UpdateRule::k##Name:
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
        return true;
        default:
            return false;
    }
}

// Computes the numbers of a rule in step t = 1, 2, ... from the user's settings, in the same order;
// for a number that changes from step to step, settings hold its inputs.
inline void FillUpdateNumbers(UpdateRule rule, const double* h, double t, double* n,
                              int64_t count) {
    std::copy_n(h, count, n);
    switch (rule) {
#define CX_UPDATE(...)
#define CX_UPDATE_NUMBERS(Name, ...) \
    case UpdateRule::k##Name: {      \
        __VA_ARGS__                  \
        break;                       \
    }
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
        default:
            break;
    }
}

}  // namespace chainerx
