// What is known of recordings, for Python: see chainerx.Variant.
#pragma once

#include <string>
#include <vector>

#include "chainerx/capture/capture.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// A list of tuples, whose items are the fields of Variant.
inline Ref RowsOf(const std::vector<CaptureVariant>& variants) {
    const auto number = [](int64_t n) { return static_cast<long long>(n); };
    const auto text = [](const std::string& s) {  // it may hold names of any file
        return Check(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"));
    };
    Ref list = Check(PyList_New(0));
    for (const CaptureVariant& v : variants) {
        const Ref row = Check(Py_BuildValue("(OLLLLOO)", text(v.arguments).get(), number(v.calls),
                                            number(v.fused), number(v.nbytes), number(v.replays),
                                            text(v.reason).get(), v.graph ? Py_True : Py_False));
        if (PyList_Append(list.get(), row.get()) < 0) throw PythonError{};
    }
    return list;
}

}  // namespace chainerx::python
