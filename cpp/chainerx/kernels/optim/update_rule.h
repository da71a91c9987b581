// What the kernels of optimizers work with.
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

// The numbers of a rule in step t = 1, 2, ... from what its user set. They lie in the same order;
// where a number changes from step to step, settings have what it is made of.
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
