// The treatment of an index out of range, given as a string.
#pragma once

#include "chainerx/core/array_index.h"
#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

inline IndexBoundsMode ToBoundsMode(const char* op, PyObject* o) {
    if (!Given(o)) return IndexBoundsMode::kDefault;
    const std::string_view mode = ToString(op, "mode", o);
    if (mode == "raise") return IndexBoundsMode::kRaise;
    if (mode == "wrap") return IndexBoundsMode::kWrap;
    if (mode == "clip") return IndexBoundsMode::kClip;
    throw ValueError{op, ": mode must be 'raise', 'wrap' or 'clip', got '", mode, "'"};
}

}  // namespace chainerx::python
