// How scattered values are combined with existing elements.
#pragma once

#include <cstdint>

namespace chainerx {

enum class ScatterRule : int8_t { kSet, kAdd, kMultiply, kMinimum, kMaximum };

}  // namespace chainerx
