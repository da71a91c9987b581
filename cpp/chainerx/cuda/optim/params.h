// Parameters of optimizer kernels, for the host and the device (cuda/optim/device).
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/language.h"

namespace chainerx::cuda {

inline constexpr int kUpdateBytes = 16;  // of a parameter that a thread updates
inline constexpr int kCastItems = 4;     // that a thread casts

struct NumbersParams {
    Ptr<const double> settings;
    Ptr<double> step;
    Ptr<double> numbers;
    int count;
};

// A parameter of the optimizer, or a part of one.
template <int kStates>
struct UpdatedArray {
    Ptr<char> param;
    Ptr<const char> grad;
    Ptr<char> states[kStates];
    int64_t size;
    int64_t first_block;
};
template <>
struct UpdatedArray<0> {
    Ptr<char> param;
    Ptr<const char> grad;
    int64_t size;
    int64_t first_block;
};

// As many as the parameters of a kernel can hold.
template <int kStates>
struct UpdateParams {
    static constexpr int kMax = 3900 / sizeof(UpdatedArray<kStates>);

    Ptr<const double> numbers;
    int count;
    UpdatedArray<kStates> arrays[kMax];
};

struct CastArray {
    Ptr<const char> x;
    Ptr<char> out;
    int64_t size;
    int64_t first_block;
};
struct CastParams {
    static constexpr int kMax = 3900 / sizeof(CastArray);

    int count;
    bool keeps;
    CastArray arrays[kMax];
};

}  // namespace chainerx::cuda
