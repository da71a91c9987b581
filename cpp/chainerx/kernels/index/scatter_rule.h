// How values meet the elements that they are scattered to.
#pragma once

#include <cstdint>

namespace chainerx {

enum class ScatterRule : int8_t { kSet, kAdd, kMultiply, kMinimum, kMaximum };

}  // namespace chainerx
