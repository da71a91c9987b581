// Attributes and methods of Variable that are in C++.
#include "chainerx/autograd/engine_ops.h"
#include "chainerx/autograd/graph_view.h"
#include "chainerx/autograd/region.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/pool.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {

using internal::Slot;

namespace {

template <PyObject* (*kGet)(VariableObject*)>
PyObject* Get(PyObject* self, void*) try {
    return kGet(AsVariable(self));
} catch (...) {
    return Failed();
}

template <void (*kSet)(VariableObject*, PyObject*)>
int Set(PyObject* self, PyObject* value, void*) try {
    if (value == nullptr) {
        PyErr_SetString(PyExc_AttributeError, "Variable: the attribute can't be deleted");
        return -1;
    }
    kSet(AsVariable(self), value);
    return 0;
} catch (...) {
    TranslateException();
    return -1;
}

bool HasRecord(const VariableObject* v) {
    return v->body != nullptr && v->version == v->storage->version;
}

// From the chainerx array if there is one, else from the user's array.
template <typename F>
PyObject* Property(VariableObject* v, const char* name, F f) {
    if (HasRecord(v)) return f(*reinterpret_cast<const Array*>(&v->body));
    if (v->storage->object == Py_None) {
        PyErr_Format(PyExc_AttributeError, "Variable.%s: the variable is uninitialized", name);
        return nullptr;
    }
    return PyObject_GetAttrString(v->storage->object, name);
}

PyObject* GetShape(VariableObject* v) {
    return Property(v, "shape", [](const Array& x) { return FromShape(x.shape()); });
}
PyObject* GetNdim(VariableObject* v) {
    return Property(v, "ndim", [](const Array& x) { return PyLong_FromLong(x.ndim()); });
}
PyObject* GetSize(VariableObject* v) {
    return Property(v, "size",
                    [](const Array& x) { return PyLong_FromLongLong(x.GetTotalSize()); });
}
PyObject* GetDtype(VariableObject* v) {
    return Property(v, "dtype", [](const Array& x) { return FromDtype(x.dtype()); });
}

PyObject* GetRequiresGrad(VariableObject* v) { return PyBool_FromLong(v->requires_grad); }

// The array may have another kind, shape and dtype. Arrays saved for backward stay unchanged.
void SetArray(VariableObject* v, PyObject* value) {
    Storage* storage = v->storage;
    const Kind old_kind = storage->kind;
    if (value == storage->object) return;  // the last step of `x.array -= y`
    if (value != Py_None) {
        const Kind kind = KindOf(value);
        if (kind == Kind::kNone) {
            throw TypeError{"Variable.array: got a ", Py_TYPE(value)->tp_name,
                            ", expected numpy.ndarray, cupy.ndarray, chainerx.ndarray or None"};
        }
        const bool chainerx = kind == Kind::kChainerx ||
                              (storage->kind == Kind::kChainerx && storage->object != Py_None);
        const bool connected =
            kind == Kind::kChainerx && Self(value).IsBackpropRequired(AnyGraph{});
        if (chainerx && (v->requires_grad || connected) && storage->object != Py_None) {
            throw ValueError{
                "Variable.array: a chainerx array that requires a gradient can't be replaced; "
                "write "
                "into it (x.array[...] = values), or make a new Variable"};
        }
        storage->kind = kind;
    }
    Ref old{storage->object};
    storage->object = Py_NewRef(value);
    ++storage->version;
    internal::ArrayBody* const record = v->body;
    const bool current = v->version + 1 == storage->version;
    if (record == nullptr) return;
    if (value == Py_None) {
        Slot* slot = v->body->slot;
        if (slot != nullptr && slot->variable == v) slot->variable = nullptr;
        v->body = nullptr;
        record->Unref();
        return;
    }
    try {
        RecordOf("Variable.array", v);
    } catch (...) {  // chainerx can't hold it, and the variable is part of a graph
        if (v->storage == storage && storage->object == value) {
            storage->object = old.Release();
            storage->kind = old_kind;
            ++storage->version;
            if (current && v->body == record) v->version = storage->version;
            Py_DECREF(value);
        }
        throw;
    }
}

PyObject* GetName(VariableObject* v) { return Py_NewRef(v->name != nullptr ? v->name : Py_None); }

void SetName(VariableObject* v, PyObject* value) {
    Py_XSETREF(v->name, Given(value) ? Py_NewRef(value) : nullptr);
}

PyObject* GetGrad(VariableObject* v) {
    const Ref g{GradVariable(v)};
    if (g.get() == Py_None) Py_RETURN_NONE;
    return ArrayOf(AsVariable(g.get()));
}

void CheckGrad(VariableObject* v, const Array& g, Kind kind) {
    if (v->storage->kind != kind) {
        throw TypeError{"Variable.grad: the gradient is a ", NameOf(kind), " array, the data a ",
                        NameOf(v->storage->kind), " array"};
    }
    const Array& x = RecordOf("Variable.grad", v);
    if (g.shape() != x.shape()) {
        throw ValueError{"Variable.grad: shape of data and grad mismatch: grad: ", g.shape(),
                         " != data: ", x.shape()};
    }
    if (g.dtype() != x.dtype()) {
        throw TypeError{"Variable.grad: dtype of data and grad mismatch: grad: ", g.dtype(),
                        " != data: ", x.dtype()};
    }
    CheckSameDevice("Variable.grad", x.device(), g.device());
}

void SetGradVariable(VariableObject* v, PyObject* value) {
    if (value == Py_None) {
        if (Slot* slot = CurrentSlot(v)) slot->SetGrad(GraphBit(), Array{});
        Py_CLEAR(v->grad_var);
        return;
    }
    if (!IsVariable(value)) {
        throw TypeError{"Variable.grad_var: got a ", Py_TYPE(value)->tp_name,
                        ", expected a Variable or None"};
    }
    VariableObject* g = AsVariable(value);
    if (v->storage->object == Py_None) {  // kept until there is an array
        Py_XSETREF(v->grad_var, Py_NewRef(value));
        return;
    }
    const Array record = RecordOf("Variable.grad_var", g);
    CheckGrad(v, record, g->storage->kind);
    SlotOf("Variable.grad_var", v)->SetGrad(GraphBit(), record);
    // Backward may set another one later in the step, and this one would seem to stay in use.
    const bool is_kept = internal::CurrentCapture() == nullptr;
    Py_XSETREF(v->grad_var, is_kept ? Py_NewRef(value) : nullptr);
}

void SetGrad(VariableObject* v, PyObject* value) {
    if (value == Py_None) {
        SetGradVariable(v, value);
        return;
    }
    const Kind kind = KindOf(value);
    if (kind == Kind::kNone) {
        throw TypeError{"Variable.grad: type of grad is invalid: got ", Py_TYPE(value)->tp_name,
                        ", expected an array of the kind of the data, or None"};
    }
    if (v->grad_var != nullptr && AsVariable(v->grad_var)->storage->object == value) {
        SetGradVariable(v, Ref{Py_NewRef(v->grad_var)}.get());
        return;
    }
    const Ref g{NewVariable(ChainerxArrayOf("Variable.grad", value), kind, true, value)};
    SetGradVariable(v, g.get());
}

PyObject* GetLossScale(VariableObject* v) {
    return Py_NewRef(v->loss_scale != nullptr ? v->loss_scale : Py_None);
}

void SetLossScale(VariableObject* v, PyObject* value) {
    Py_XSETREF(v->loss_scale, Given(value) ? Py_NewRef(value) : nullptr);
}

// The slot of a variable that VariableNode.get_variable() has made without data; null for others.
Slot* PlaceWithoutData(const VariableObject* v) {
    const bool is_one = v->storage->object == Py_None && v->body == nullptr && v->node != nullptr;
    return is_one ? SlotOfNode(v->node) : nullptr;
}

Slot* PlaceOf(const VariableObject* v) {
    Slot* slot = CurrentSlot(v);
    return slot != nullptr ? slot : PlaceWithoutData(v);
}

// The variable keeps it, so that the node's id and weak references to it stay valid.
PyObject* GetNode(VariableObject* v) {
    Slot* slot = PlaceWithoutData(v);
    if (slot == nullptr) slot = SlotOf("Variable.node", v);
    Ref node{NodeOf(slot, v->storage->kind)};
    if (v->node != node.get()) Py_XSETREF(v->node, Py_NewRef(node.get()));
    return node.Release();
}

PyObject* GetCreator(VariableObject* v) {
    Slot* slot = PlaceOf(v);
    return slot != nullptr ? CreatorOf(slot) : Py_NewRef(Py_None);
}

PyObject* GetRank(VariableObject* v) {
    const Slot* slot = PlaceOf(v);
    return PyLong_FromLongLong(slot != nullptr ? internal::VisibleRank(slot) : 0);
}

PyObject* GetKind(VariableObject* v) {
    if (v->storage->object == Py_None) Py_RETURN_NONE;
    return PyUnicode_FromString(NameOf(v->storage->kind));
}

PyObject* GetRecord(VariableObject* v) {
    PyObject* array = Wrap(RecordOf("Variable", v));
    Track(array);  // its gradient, too, may depend on functions of the user later
    return array;
}

PyGetSetDef g_getset[] = {
    {"array", &Get<&ArrayOf>, &Set<&SetArray>,
     "The array: the object that was given, or the one that a function computed.", nullptr},
    {"data", &Get<&ArrayOf>, &Set<&SetArray>, "The same as ``array``.", nullptr},
    {"shape", &Get<&GetShape>, nullptr, "Dimensions.", nullptr},
    {"ndim", &Get<&GetNdim>, nullptr, "Number of dimensions.", nullptr},
    {"size", &Get<&GetSize>, nullptr, "Number of elements.", nullptr},
    {"dtype", &Get<&GetDtype>, nullptr, "Element type.", nullptr},
    {"requires_grad", &Get<&GetRequiresGrad>, nullptr, "Whether gradients flow to this variable.",
     nullptr},
    {"name", &Get<&GetName>, &Set<&SetName>, "A name for printing, or None.", nullptr},
    {"grad", &Get<&GetGrad>, &Set<&SetGrad>, "The gradient array, or None.", nullptr},
    {"grad_var", &Get<&GradVariable>, &Set<&SetGradVariable>,
     "The gradient as a variable, or None.", nullptr},
    {"_loss_scale", &Get<&GetLossScale>, &Set<&SetLossScale>,
     "The factor that the gradient has been multiplied by, or None.", nullptr},
    {"node", &Get<&GetNode>, nullptr, "The VariableNode: the node in the graph.", nullptr},
    {"_creator_node", &Get<&GetCreator>, nullptr, "The FunctionNode that computed it, or None.",
     nullptr},
    {"rank", &Get<&GetRank>, nullptr, "The number of functions on the longest path to a leaf.",
     nullptr},
    {"_kind", &Get<&GetKind>, nullptr, "'numpy', 'cupy', 'chainerx', or None if uninitialized.",
     nullptr},
    {"_record", &Get<&GetRecord>, nullptr, "The chainerx array that is in the graph.", nullptr},
    {"__dict__", &PyObject_GenericGetDict, &PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* ClearGrad(PyObject* self, PyObject*) try {
    ClearGradient(AsVariable(self));
    Py_RETURN_NONE;
} catch (...) {
    return Failed("cleargrad");
}

PyObject* Unchain(PyObject* self, PyObject*) {
    if (Slot* slot = PlaceOf(AsVariable(self))) Cut(slot);
    Py_RETURN_NONE;
}

// Another variable over the same storage, with its own chainerx array, gradient and attributes.
PyObject* Share(PyObject* self, PyObject* other) try {
    if (!IsVariable(other)) throw TypeError{"_share: expected a Variable"};
    VariableObject* v = AsVariable(self);
    VariableObject* copy = AsVariable(other);
    if (v->storage->object == nullptr) Ref{ArrayOf(v)};
    Storage* old = copy->storage;
    copy->storage = v->storage;
    ++v->storage->refs;
    if (--old->refs == 0) {
        Py_XDECREF(old->object);
        internal::PoolFree(old, sizeof(Storage));
    }
    copy->requires_grad = v->requires_grad;
    SetName(copy, v->name != nullptr ? v->name : Py_None);
    const Ref g{GradVariable(v)};
    SetGradVariable(copy, g.get());
    SetLossScale(copy, v->loss_scale);
    Py_RETURN_NONE;
} catch (...) {
    return Failed("copy");
}

// Assigns another array in a new storage, outside the graph and without a gradient: for moves
// between devices.
PyObject* Replace(PyObject* self, PyObject* array) try {
    const Kind kind = KindOf(array);
    if (kind == Kind::kNone && array != Py_None) {
        throw TypeError{"got a ", Py_TYPE(array)->tp_name, ", expected an array or None"};
    }
    ResetCell(AsVariable(self), kind == Kind::kNone ? Kind::kNumpy : kind, Ref{Py_NewRef(array)});
    Py_RETURN_NONE;
} catch (...) {
    return Failed("_replace");
}

// Takes over the slot of another variable over the same array.
PyObject* Adopt(PyObject* self, PyObject* other) {
    if (!IsVariable(other) || AsVariable(other)->body == nullptr) {
        PyErr_SetString(PyExc_TypeError, "_adopt: expected a Variable in the graph");
        return nullptr;
    }
    try {
        for (PyObject* o : {self, other}) {
            if (AsVariable(o)->storage->object == nullptr) Ref{ArrayOf(AsVariable(o))};
        }
    } catch (...) {
        return Failed("_adopt");
    }
    VariableObject* v = AsVariable(self);
    VariableObject* o = AsVariable(other);
    std::swap(v->body, o->body);
    std::swap(v->version, o->version);
    for (VariableObject* x : {v, o}) {
        if (x->body != nullptr && x->body->slot != nullptr) x->body->slot->variable = x;
    }
    v->version = v->storage->version;
    Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {
    {"_replace", &Replace, METH_O, "Sets another array, outside the graph."},
    {"_adopt", &Adopt, METH_O, "Takes over another variable's node in the graph."},
    {"cleargrad", &ClearGrad, METH_NOARGS, "cleargrad($self)\n--\n\nDrops the gradient."},
    {"unchain", &Unchain, METH_NOARGS,
     "unchain($self)\n"
     "--\n\n"
     "Drops the creator, so that backward ends here."},
    {"_share", &Share, METH_O, "Makes another variable share the storage of this one."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void ClearGradient(VariableObject* v) {
    SetGradVariable(v, Py_None);
    Py_CLEAR(v->loss_scale);
}

PyGetSetDef* VariableAttributes() { return g_getset; }
PyMethodDef* VariableMethods() { return g_methods; }

}  // namespace chainerx::python::engine
