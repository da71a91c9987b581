// A nanobind type caster for chainerx::Array.
#pragma once

#include <nanobind/nanobind.h>

#include "chainerx/python/ndarray/ndarray.h"

namespace nanobind::detail {

template <>
struct type_caster<chainerx::Array> {
    NB_TYPE_CASTER(chainerx::Array, const_name("chainerx.ndarray"))

    bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
        if (!chainerx::python::IsNdArray(src.ptr())) return false;
        value = chainerx::python::Self(src.ptr());
        return true;
    }
    static handle from_cpp(const chainerx::Array& array, rv_policy, cleanup_list*) {
        return chainerx::python::Wrap(array);
    }
};

}  // namespace nanobind::detail
