// Implements len(), iteration, x[...] and x[...] = v.
#include "chainerx/python/ndarray/ndarray_index.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/python/batching.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray_slots.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

// A basic index on the stack: the fast path of x[i] allocates nothing.
class Key {
 public:
    static constexpr int kMax = 2 * kMaxNdim + 4;

    Key() = default;
    Key(const Key&) = delete;
    Key& operator=(const Key&) = delete;

    void Add(const ArrayIndex& item) {
        if (n_ == kMax) throw IndexError{"getitem: more than ", kMax, " items in an index"};
        new (items() + n_++) ArrayIndex{item};
    }
    std::span<const ArrayIndex> span() { return {items(), static_cast<size_t>(n_)}; }

 private:
    ArrayIndex* items() { return reinterpret_cast<ArrayIndex*>(raw_); }

    int n_{0};
    alignas(ArrayIndex) char raw_[kMax * sizeof(ArrayIndex)];
};
static_assert(std::is_trivially_destructible_v<ArrayIndex>);

int64_t FromPyLong(PyObject* o) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow != 0) throw IndexError{"getitem: an index does not fit in 64 bits"};
    return v;
}

std::optional<int64_t> SliceBound(PyObject* o) {
    if (o == Py_None) return std::nullopt;
    if (!PyIndex_Check(o)) {
        throw TypeError{"getitem: slice bounds must be integers or None, got ",
                        Py_TYPE(o)->tp_name};
    }
    const Py_ssize_t v = PyNumber_AsSsize_t(o, nullptr);  // saturates beyond 64 bits
    if (v == -1 && PyErr_Occurred()) throw PythonError{};
    return v;
}

// False if the item is an array or must be converted to one.
bool AddBasic(PyObject* o, Key& key) {
    if (PyLong_CheckExact(o)) {
        key.Add(FromPyLong(o));
    } else if (PySlice_Check(o)) {
        const auto* s = reinterpret_cast<PySliceObject*>(o);
        key.Add(Slice{SliceBound(s->start), SliceBound(s->stop), SliceBound(s->step).value_or(1)});
    } else if (o == Py_None) {
        key.Add(NewAxis{});
    } else if (o == Py_Ellipsis) {
        key.Add(Ellipsis{});
    } else if (IsNdArray(o) || PyList_Check(o) || PyTuple_Check(o) ||
               PyObject_TypeCheck(o, Numpy().ndarray) || PyBool_Check(o) ||
               PyObject_TypeCheck(o, Numpy().bool_)) {
        return false;
    } else if (PyIndex_Check(o)) {
        PyObject* index = PyNumber_Index(o);
        if (index == nullptr) throw PythonError{};
        struct Release {
            PyObject* o;
            ~Release() { Py_DECREF(o); }
        } release{index};
        key.Add(FromPyLong(index));
    } else {
        throw IndexError{
            "getitem: an index is an integer, slice, None, '...', or an array of "
            "integers or bool; got ",
            Py_TYPE(o)->tp_name};
    }
    return true;
}

// False if it contains arrays.
bool AddAllBasic(PyObject* o, Key& key) {
    if (!PyTuple_Check(o)) return AddBasic(o, key);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) {
        if (!AddBasic(PyTuple_GET_ITEM(o, i), key)) return false;
    }
    return true;
}

}  // namespace

std::vector<IndexItem> ToItems(PyObject* o, Device& device) {
    std::vector<IndexItem> items;
    const auto add = [&](PyObject* item) {
        Key key;
        if (AddBasic(item, key)) {
            items.push_back({key.span()[0], {}});
        } else {
            items.push_back({NewAxis{}, ToIndices("getitem", "index", item, device)});
        }
    };
    if (PyTuple_Check(o)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i) add(PyTuple_GET_ITEM(o, i));
    } else {
        add(o);
    }
    return items;
}

Array Subscript(const Array& x, PyObject* key) {
    Key basic;
    if (AddAllBasic(key, basic)) return At(x, basic.span());
    return At(x, ToItems(key, x.device()));
}

namespace {

PyObject* GetSubscript(PyObject* o, PyObject* index) {
    try {
        const Array& x = Self(o);
        if (PyLong_CheckExact(index)) [[likely]]
            return Wrap(At(x, FromPyLong(index)));
        return Wrap(Subscript(x, index));
    } catch (...) {
        return FailOrBatchItem(o, index);
    }
}

int SetSubscript(PyObject* o, PyObject* index, PyObject* value) {
    try {
        if (value == nullptr) throw TypeError{"elements of a chainerx.ndarray cannot be deleted"};
        const Array& x = Self(o);
        Key key;
        if (AddAllBasic(index, key)) {
            const Array view = WritableAt(x, key.span());
            if (IsNdArray(value)) {
                Assign(view, Self(value));
            } else if (const std::optional<Scalar> s = TryScalar(value)) {
                Assign(view, *s);
            } else {
                Assign(view, ToValues("setitem", "the value", x, value));
            }
            return 0;
        }
        const std::vector<IndexItem> items = ToItems(index, x.device());
        if (const std::optional<Scalar> s = TryScalar(value)) {
            const Array number = Empty({}, x.dtype(), x.device());
            Assign(number, *s);
            Assign(x, items, number);
        } else {
            Assign(x, items, ToValues("setitem", "the value", x, value));
        }
        return 0;
    } catch (...) {
        FailOrBatchWrite("setitem", index, value);
        return -1;
    }
}

Py_ssize_t Length(PyObject* o) {
    const Array& x = Self(o);
    if (x.ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of a 0-dimensional chainerx.ndarray");
        return -1;
    }
    return x.shape()[0];
}

PyObject* Item(PyObject* o, Py_ssize_t i) try {
    const Array& x = Self(o);
    // Every iteration ends here, so it avoids the cost of a C++ exception.
    if (x.ndim() == 0 || i < 0 || i >= x.shape()[0]) {
        PyErr_Format(PyExc_IndexError, "getitem: index %zd is out of range", i);
        return nullptr;
    }
    // list(x) is one loop in C, with as many iterations as x has rows, and a broadcast view may
    // have any number of them.
    if (i % 1024 == 1023 && PyErr_CheckSignals() < 0) return nullptr;
    return Wrap(At(x, i));
} catch (...) {
    return Failed("getitem");
}

PyObject* Iterate(PyObject* o) {
    if (Self(o).ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "iteration over a 0-dimensional chainerx.ndarray");
        return nullptr;
    }
    return PySeqIter_New(o);
}

int ContainsValue(PyObject* o, PyObject* value) try {
    if (IsNdArray(value)) return Contains(Self(o), Self(value)) ? 1 : 0;
    return Contains(Self(o), ToOperand("contains", "value", value)) ? 1 : 0;
} catch (...) {
    TranslateException("contains");
    return -1;
}

}  // namespace

void AddSequenceSlots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_mp_length, reinterpret_cast<void*>(&Length)});
    slots.push_back({Py_mp_subscript, reinterpret_cast<void*>(&GetSubscript)});
    slots.push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(&SetSubscript)});
    slots.push_back({Py_sq_length, reinterpret_cast<void*>(&Length)});
    slots.push_back({Py_sq_item, reinterpret_cast<void*>(&Item)});
    slots.push_back({Py_sq_contains, reinterpret_cast<void*>(&ContainsValue)});
    slots.push_back({Py_tp_iter, reinterpret_cast<void*>(&Iterate)});
}

}  // namespace chainerx::python
