#include "chainerx/python/named_tuple.h"

#include <string>
#include <utility>
#include <vector>

#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python {
namespace {

NamedTuple* g_first = nullptr;

}  // namespace

NamedTuple::NamedTuple(const char* name, const char* doc, PyStructSequence_Field* fields)
    : name_{name}, doc_{doc}, fields_{fields}, next_{std::exchange(g_first, this)} {}

void NamedTuple::Init(PyObject* module) {
    int n = 0;
    while (fields_[n].name != nullptr) ++n;
    PyStructSequence_Desc description{name_, doc_, fields_, n};
    type_ = PyStructSequence_NewType(&description);
    if (type_ == nullptr) throw PythonError{};
    // chainerx.linalg.QRResult is QRResult in the submodule linalg.
    const std::string path = std::string{name_}.substr(std::string{"chainerx."}.size());
    const size_t dot = path.find('.');
    const Ref place = dot == std::string::npos
                          ? Ref{Py_NewRef(module)}
                          : Check(PyObject_GetAttrString(module, path.substr(0, dot).c_str()));
    const char* own_name = path.c_str() + (dot == std::string::npos ? 0 : dot + 1);
    if (PyModule_AddObjectRef(place.get(), own_name, reinterpret_cast<PyObject*>(type_)) < 0) {
        throw PythonError{};
    }
}

void InitNamedTuples(PyObject* module) {
    for (NamedTuple* t = g_first; t != nullptr; t = t->next_) t->Init(module);
}

PyObject* NamedTuple::Make(std::initializer_list<PyObject*> items) {
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
