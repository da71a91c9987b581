#include "chainerx/python/named_tuple.h"

#include <vector>

#include "chainerx/python/ndarray.h"

namespace chainerx::python {

PyObject* NamedTuple::Make(std::initializer_list<PyObject*> items) {
    if (type_ == nullptr) {
        std::vector<PyStructSequence_Field> fields;
        for (const char* const* name = names_; *name != nullptr; ++name) {
            fields.push_back({*name, nullptr});
        }
        const auto n = static_cast<int>(fields.size());
        fields.push_back({nullptr, nullptr});
        PyStructSequence_Desc description{name_, doc_, fields.data(), n};
        type_ = PyStructSequence_NewType(&description);
        if (type_ == nullptr) throw PythonError{};
    }
    const Ref tuple = Check(PyStructSequence_New(type_));
    Py_ssize_t i = 0;
    for (PyObject* item : items) PyStructSequence_SetItem(tuple.get(), i++, Py_NewRef(item));
    return Py_NewRef(tuple.get());
}

PyObject* NamedTuple::Make(std::initializer_list<Array> arrays) {
    std::vector<Ref> refs;
    for (const Array& x : arrays) refs.push_back(Check(Wrap(x)));
    if (refs.size() == 2) return Make({refs[0].get(), refs[1].get()});
    return Make({refs[0].get(), refs[1].get(), refs[2].get()});
}

}  // namespace chainerx::python
