#include "chainerx/python/capture/arguments.h"

#include "chainerx/autograd/hooks.h"
#include "chainerx/core/context.h"
#include "chainerx/core/stream.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/python/capture/dataclass.h"
#include "chainerx/python/capture/part.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python {
std::string Path::ToString() const {
    if (name != nullptr) return outer == nullptr ? name : StrCat(outer->ToString(), "[", name, "]");
    return outer == nullptr ? StrCat(index) : StrCat(outer->ToString(), "[", index, "]");
}

void Arguments::AddPointer(char kind, const void* p) {
    key_ += kind;
    AddBytes(&p, sizeof(p));
}

void Arguments::AddBytes(const void* data, size_t n) {
    key_.append(static_cast<const char*>(data), n);
}

void Arguments::AddNumber(uint64_t n) { AddBytes(&n, sizeof(n)); }

namespace {

// A value that is equal only for values whose items are of the same types, too, at any depth.
Ref TypedOf(PyObject* o, int depth) {
    PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(o));
    if (depth > kMaxNesting) throw ValueError{"capture: a frozenset is nested too deeply"};
    if (PyFloat_CheckExact(o) || PyComplex_CheckExact(o)) {  // 0.0 and -0.0 are equal
        const Ref repr = Check(PyObject_Repr(o));
        return Check(PyTuple_Pack(2, type, repr.get()));
    }
    const bool is_set = PyFrozenSet_CheckExact(o) != 0;
    if (!is_set && !PyTuple_CheckExact(o)) return Check(PyTuple_Pack(2, type, o));
    const Ref items = Check(PySequence_List(o));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
        PyObject* typed = TypedOf(PyList_GET_ITEM(items.get(), i), depth + 1).Release();
        if (PyList_SetItem(items.get(), i, typed) < 0) throw PythonError{};
    }
    const Ref all = Check(is_set ? PyFrozenSet_New(items.get()) : PyList_AsTuple(items.get()));
    return Check(PyTuple_Pack(2, type, all.get()));
}

}  // namespace

void Arguments::AddValue(PyObject* o, const Path& path) {
    if (o == Py_None || PyBool_Check(o)) return AddPointer('c', o);
    // By bits: 0.0 and -0.0 differ, and NaN is like itself.
    if (PyFloat_CheckExact(o)) {
        const double value = PyFloat_AS_DOUBLE(o);
        key_ += 'f';
        return AddBytes(&value, sizeof(value));
    }
    if (PyComplex_CheckExact(o)) {
        const Py_complex value = PyComplex_AsCComplex(o);
        key_ += 'z';
        return AddBytes(&value, sizeof(value));
    }
    if (PyObject_TypeCheck(o, Numpy().generic)) return AddScalar(o, path);
    if (is_state_ && !PyLong_CheckExact(o) && !PyUnicode_CheckExact(o)) return AddIdentity(o);
    // 1, True and 1.0 are equal, so the type is part of it.
    const Ref pair = TypedOf(o, 0);
    PyObject* first = PyDict_SetDefault(interned_, pair.get(), pair.get());
    if (first == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError{};
        PyErr_Clear();
        throw TypeError{"capture: argument ", path.ToString(), " is a ", Py_TYPE(o)->tp_name,
                        ", which is neither an array nor hashable, so two of them can't be told "
                        "apart"};
    }
    AddPointer('v', first);
}

void Arguments::AddScalar(PyObject* o, const Path& path) {
    key_ += 'g';
    AddValue(Check(PyObject_GetAttrString(o, "dtype")).get(), path);  // with units of times
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_SIMPLE) < 0) throw PythonError{};
    AddNumber(static_cast<uint64_t>(view.len));
    AddBytes(view.buf, static_cast<size_t>(view.len));
    PyBuffer_Release(&view);
}

void Arguments::AddNumpy(PyObject* o, const Path& path) {
    Device& device = GetDefaultContext().GetNativeBackend().GetDevice(0);
    Array x;
    try {
        x = FromNumpy(o, std::nullopt, Sharing::kWherePossible, device);
    } catch (const OutOfMemoryError&) {
        throw;
    } catch (const ChainerxError&) {
        x = Array{};
    }
    Py_buffer view;
    const bool is_here = !x.is_null() && PyObject_GetBuffer(o, &view, PyBUF_STRIDED_RO) == 0;
    bool is_shared = false;
    if (is_here) {
        is_shared = view.buf == x.raw_data() || x.GetTotalSize() == 0;
        PyBuffer_Release(&view);
    }
    if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_MemoryError) != 0) {
        throw PythonError{};
    }
    PyErr_Clear();
    if (!is_shared && is_state_) return AddIdentity(o);
    if (!is_shared) {
        throw TypeError{"capture: argument ", path.ToString(),
                        " is a NumPy array that chainerx can't share "
                        "memory with; pass chainerx.array(",
                        path.ToString(), ")"};
    }
    key_ += 'n';
    arrays_.push_back(std::move(x));
}

void Arguments::Add(PyObject* o, const Path& path) {
    if (IsNdArray(o)) {
        key_ += 'a';
        arrays_.push_back(Self(o));
    } else if (engine::IsVariable(o)) {
        engine::VariableObject* v = engine::AsVariable(o);
        AddPointer('V', Py_TYPE(o));
        key_ += static_cast<char>(v->storage->kind);
        key_ += static_cast<char>(v->requires_grad);
        if (v->storage->object == Py_None) {
            AddPointer('o', o);  // a parameter without an array
        } else {
            arrays_.push_back(engine::RecordOf("capture", v));
        }
    } else if (PyTuple_Check(o) || PyList_CheckExact(o)) {
        if (path.depth > kMaxNesting)
            throw ValueError{"capture: argument ", path.ToString(), " is nested too deeply"};
        const Items items{o};
        AddPointer('(', Py_TYPE(o));
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            Add(items[i], {&path, nullptr, i, path.depth + 1});
        }
        key_ += ')';
    } else if (PyDict_CheckExact(o) || PyODict_CheckExact(o)) {
        if (path.depth > kMaxNesting)
            throw ValueError{"capture: argument ", path.ToString(), " is nested too deeply"};
        AddPointer('{', Py_TYPE(o));
        const Ref pairs = Check(PyMapping_Items(o));  // in the order of an OrderedDict, too
        const Items items{pairs.get()};
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            AddValue(PyTuple_GET_ITEM(items[i], 0), path);
            Add(PyTuple_GET_ITEM(items[i], 1), {&path, "...", 0, path.depth + 1});
        }
        key_ += '}';
    } else if (PyObject_TypeCheck(o, Numpy().ndarray)) {
        AddPointer('t', Py_TYPE(o));
        AddNumpy(o, path);
    } else if (const std::optional<Attributes> attributes = AttributesOf(o)) {
        if (path.depth > kMaxNesting)
            throw ValueError{"capture: argument ", path.ToString(), " is nested too deeply"};
        AddPointer('D', Py_TYPE(o));
        for (const auto& [name, value] : *attributes) {
            const char* text = PyUnicode_AsUTF8(name.get());
            if (text == nullptr) throw PythonError{};
            AddValue(name.get(), path);
            Add(value.get(), {&path, text, 0, path.depth + 1});
        }
        key_ += ')';
    } else {
        AddValue(o, path);
    }
}

// Keeps it alive, so that no other object has its address.
void Arguments::AddIdentity(PyObject* o) {
    const Ref address = Check(PyLong_FromVoidPtr(o));
    if (PyDict_SetItem(interned_, address.get(), o) < 0) throw PythonError{};
    AddPointer('i', o);
}

void Arguments::AddState(PyObject* o, const char* name) {
    if (o == nullptr) {
        key_ += 'm';
        return;
    }
    is_state_ = true;
    Add(o, {nullptr, name, 0, 0});
    is_state_ = false;
}

void Arguments::AddSettings() {
    Device& device = GetDefaultDevice();
    AddPointer('d', &device);
    AddPointer('s', GetCurrentStream(device));
    AddNumber(internal::RecordMask(device.context()));
    AddNumber(engine::GetConfigNumber());
    AddNumber(CountHookChanges());
    AddNumber(internal::CountLeafHookChanges());
}

}  // namespace chainerx::python
