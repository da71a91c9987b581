#include "chainerx/python/engine/variable.h"

#include <structmember.h>

#include "chainerx/autograd/region.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/core/pool.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/node.h"
#include "chainerx/python/engine/traverse.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

PyTypeObject* g_variable_type = nullptr;

using internal::ArrayBody;
using internal::Slot;

namespace {

Storage* NewStorage(Kind kind, Ref object) {
    void* p = internal::PoolAlloc(sizeof(Storage));
    return new (p) Storage{1, 0, kind, object.Release()};
}

void UnrefStorage(Storage* storage) {
    if (storage == nullptr || --storage->refs != 0) return;
    Py_XDECREF(storage->object);
    internal::PoolFree(storage, sizeof(Storage));
}

void MakeLeaf(ArrayBody& body, bool requires_grad) {
    Slot* slot = body.slot != nullptr ? body.slot : internal::MakeLeafSlot(body);
    if (requires_grad) {
        slot->live |= GraphBit();
        slot->required |= GraphBit();
    }
}

// Whether its slot names it as the variable.
bool IsAtItsPlace(const VariableObject* v) {
    const Slot* slot = CurrentSlot(v);
    return slot != nullptr && slot->variable == v;
}

// Unlinks the variable from its slot.
void Forget(VariableObject* v) {
    if (IsAtItsPlace(v)) CurrentSlot(v)->variable = nullptr;
}

Array TakeRecord(VariableObject* v) {
    ArrayBody* body = std::exchange(v->body, nullptr);
    return body != nullptr ? Array{body} : Array{};
}

void SetRecord(VariableObject* v, Array record) {
    v->body = record.Release();
    v->version = v->storage->version;
    Slot* slot = v->body->slot;
    if (slot != nullptr && slot->variable == nullptr) slot->variable = v;
}

// Whether the variable holds the array, or another one with the same slot.
bool IsRecord(PyObject* variable, const Array& x) {
    if (variable == nullptr) return false;
    const ArrayBody* body = AsVariable(variable)->body;
    return body == x.body() ||
           (body != nullptr && body->slot != nullptr && body->slot == x.body()->slot);
}

// The storage got another array: makes a new chainerx array with the old slot of the graph.
void Rebind(VariableObject* v, Array fresh) {
    ArrayBody* old = v->body;
    if (Slot* slot = old->slot) {
        old->slot = nullptr;
        slot->lock.lock();
        if (slot->body == old || slot->body == nullptr) slot->body = fresh.body();
        slot->shape = fresh.shape();
        slot->dtype = fresh.dtype();
        slot->device = &fresh.device();
        slot->lock.unlock();
        fresh.body()->slot = slot;
    }
    v->body = fresh.Release();
    v->version = v->storage->version;
    old->Unref();
}

CX_COLD void ThrowUninitialized(const char* op) {
    throw TypeError{op,
                    ": the variable is uninitialized (its array is None); assign its array, or "
                    "call initialize() of a Parameter"};
}

void MakeRecord(const char* op, VariableObject* v) {
    while (v->body == nullptr || v->version != v->storage->version) {
        if (v->storage->object == Py_None) ThrowUninitialized(op);
        const Ref object{Py_NewRef(v->storage->object)};
        Array fresh = ChainerxArrayOf(op, object.get());
        if (v->storage->object != object.get()) continue;  // code of the user's has run meanwhile
        if (v->body != nullptr) {
            Rebind(v, std::move(fresh));
        } else {
            SetRecord(v, std::move(fresh));
        }
    }
}

// ---- the type -----------------------------------------------------------------------------------

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
    Ref o{type->tp_alloc(type, 0)};
    if (!o) return nullptr;
    try {
        VariableObject* v = AsVariable(o.get());
        v->storage = NewStorage(Kind::kNumpy, Ref{Py_NewRef(Py_None)});
        v->requires_grad = true;
        return o.Release();
    } catch (...) {
        return Failed();
    }
}

[[noreturn]] CX_COLD void ThrowNotSupported(PyObject* data) {
    PyErr_Format(PyExc_TypeError,
                 "Variable: data is %.200s, expected numpy.ndarray, cupy.ndarray, "
                 "chainerx.ndarray or None",
                 Py_TYPE(data)->tp_name);
    throw PythonError{};
}

void Initialize(VariableObject* v, PyObject* data, PyObject* name, PyObject* grad,
                bool requires_grad) {
    // A second call replaces its contents. Deallocations may run code of the user, so the variable
    // is valid at any time.
    if (v->body != nullptr || v->storage->object != Py_None) {
        ResetCell(v, Kind::kNumpy, Ref{Py_NewRef(Py_None)});
    }
    Py_XSETREF(v->name, Given(name) ? Py_NewRef(name) : nullptr);
    v->requires_grad = requires_grad;
    if (Given(data)) {
        const Kind kind = KindOf(data);
        if (kind == Kind::kNone) ThrowNotSupported(data);
        if (kind == Kind::kChainerx && Self(data).body()->slot != nullptr &&
            Self(data).IsBackpropRequired(AnyGraph{})) {
            if (!requires_grad) {
                throw ValueError{
                    "Variable: requires_grad is False, but the array is part of a "
                    "graph; use data.as_grad_stopped()"};
            }
            v->storage->kind = kind;
            v->storage->object = nullptr;
            Py_DECREF(Py_None);
            SetRecord(v, Self(data));
        } else {
            v->storage->kind = kind;
            v->storage->object = Py_NewRef(data);
            Py_DECREF(Py_None);
            ++v->storage->version;
        }
    }
    if (Given(grad)) {
        if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(v), "grad", grad) < 0) {
            throw PythonError{};
        }
    }
}

int Init(PyObject* self, PyObject* args, PyObject* keywords) try {
    static const char* names[] = {"data", "name", "grad", "requires_grad", "layout", nullptr};
    PyObject* data = nullptr;
    PyObject* name = nullptr;
    PyObject* grad = nullptr;
    PyObject* layout = nullptr;
    int requires_grad = 1;
    if (keywords != nullptr && PyDict_GetItemString(keywords, "volatile") != nullptr) {
        PyErr_SetString(PyExc_ValueError,
                        "Variable: volatile is not supported anymore; use "
                        "chainer.using_config('enable_backprop', False)");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$OOpO:Variable", const_cast<char**>(names),
                                     &data, &name, &grad, &requires_grad, &layout)) {
        return -1;
    }
    if (Given(layout)) {
        throw ValueError{
            "Variable: layout is not None; memory layouts other than C order are "
            "not supported"};
    }
    Initialize(AsVariable(self), data, name, grad, requires_grad != 0);
    return 0;
} catch (...) {
    TranslateException();
    return -1;
}

int Clear(PyObject* self) {
    VariableObject* v = AsVariable(self);
    Py_CLEAR(v->dict);
    Py_CLEAR(v->grad_var);
    Py_CLEAR(v->node);
    Py_CLEAR(v->loss_scale);
    Py_CLEAR(v->name);
    if (v->storage != nullptr && v->storage->refs == 1) {
        const Ref object{std::exchange(v->storage->object, Py_NewRef(Py_None))};
    }
    Forget(v);
    const Array record = TakeRecord(v);
    return 0;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
    VariableObject* v = AsVariable(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(v->dict);
    Py_VISIT(v->grad_var);
    Py_VISIT(v->node);
    Py_VISIT(v->loss_scale);
    Py_VISIT(v->name);
    if (v->storage != nullptr && v->storage->refs == 1) Py_VISIT(v->storage->object);
    return VisitGraph(self, v->body, visit, arg);
}

void Dealloc(PyObject* self) {
    VariableObject* v = AsVariable(self);
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, Dealloc);
    if (v->name != nullptr && IsAtItsPlace(v)) KeepName(CurrentSlot(v), v->name);
    Forget(v);  // first, so that no one finds it there any more
    if (v->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
    Py_CLEAR(v->dict);
    Py_CLEAR(v->grad_var);
    Py_CLEAR(v->node);
    Py_CLEAR(v->loss_scale);
    Py_CLEAR(v->name);
    TakeRecord(v);
    UnrefStorage(v->storage);
    FreeInstance(self);
    Py_TRASHCAN_END
}

Ref Alloc() {
    auto* type = reinterpret_cast<PyTypeObject*>(g_callbacks.variable_class);
    if (type == nullptr) throw ChainerxError{"Variable: chainer was not imported"};
    return Check(type->tp_alloc(type, 0));
}

// NumPy's own arithmetic skips masked elements; ours would not.
void CheckUnmasked(const char* op, PyObject* array) {
    if (Py_TYPE(array) == Numpy().ndarray || !PyObject_HasAttrString(array, "mask")) return;
    throw TypeError{op, ": the array is a ", Py_TYPE(array)->tp_name,
                    ", whose mask chainerx does not know; only a FunctionNode of your own can "
                    "take it, or use its filled()"};
}

[[noreturn]] CX_COLD void ThrowCannotHold(const char* op, PyObject* array) {
    const Ref dtype{PyObject_GetAttrString(array, "dtype")};
    const Ref text{dtype ? PyObject_Str(dtype.get()) : nullptr};
    const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    PyErr_Clear();
    throw TypeError{op, ": chainerx can't hold an array of dtype ", utf8 != nullptr ? utf8 : "?",
                    " (or of so many dimensions); only a FunctionNode of your own can take it"};
}

// kind(array): the name of its kind, or None.
PyObject* KindFunction(PyObject*, PyObject* array) {
    const Kind kind = KindOf(array);
    if (kind == Kind::kNone) Py_RETURN_NONE;
    return PyUnicode_FromString(NameOf(kind));
}

PyObject* SideFunction(PyObject*, PyObject* array) try {
    if (KindOf(array) == Kind::kNone) {
        throw TypeError{"side: got a ", Py_TYPE(array)->tp_name, ", expected an array"};
    }
    return Wrap(ChainerxArrayOf("side", array, CupyUse::kAnywhere));
} catch (...) {
    return Failed("side");
}

// to_kind(array, kind)
PyObject* ToKindFunction(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 2) throw TypeError{"to_kind: expected an array and the name of a kind"};
    const std::string_view name = ToString("to_kind", "kind", args[1]);
    for (const Kind kind : {Kind::kNumpy, Kind::kChainerx, Kind::kCupy}) {
        if (name == NameOf(kind)) return ToKind(ToArray("to_kind", "array", args[0]), kind);
    }
    throw ValueError{"to_kind: got ", name, ", expected numpy, chainerx or cupy"};
} catch (...) {
    return Failed("to_kind");
}

PyMethodDef g_functions[] = {
    {"kind", &KindFunction, METH_O,
     "'numpy', 'cupy' or 'chainerx'; None for objects that are not arrays."},
    {"side", &SideFunction, METH_O,
     "Views an array of any kind as a chainerx array, outside all graphs."},
    {"to_kind", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ToKindFunction)),
     METH_FASTCALL, "Views a chainerx array as an array of that kind."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef g_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(VariableObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(VariableObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

Kind KindOf(PyObject* o) {
    if (PyObject_TypeCheck(o, Numpy().ndarray)) return Kind::kNumpy;
    if (IsNdArray(o)) return Kind::kChainerx;
    if (IsCupy(o)) return Kind::kCupy;
    return Kind::kNone;
}

const char* NameOf(Kind kind) {
    static constexpr const char* kNames[] = {"no array", "numpy", "chainerx", "cupy"};
    return kNames[static_cast<int>(kind)];
}

Array ChainerxArrayOf(const char* op, PyObject* array, CupyUse use) {
    if (IsNdArray(array)) return internal::Detached(Self(array));
    const bool cupy = IsCupy(array);
    if (!cupy) CheckUnmasked(op, array);
    try {
        return cupy ? FromCupy(op, array, use)
                    : FromNumpy(array, std::nullopt, Sharing::kWherePossible,
                                GetDefaultContext().GetNativeBackend().GetDevice(0));
    } catch (const PythonError&) {
        // Running out of memory, or an interrupt by the user, does not depend on the array.
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0 ||
            PyErr_ExceptionMatches(PyExc_MemoryError) != 0) {
            throw;
        }
        PyErr_Clear();
    } catch (const ValueError& e) {
        throw ValueError{op, ": ", e.what()};
    } catch (const DtypeError&) {
    } catch (const DimensionError&) {
    } catch (const TypeError&) {
    }
    ThrowCannotHold(op, array);
}

void PrepareRecord(const char* op, VariableObject* v) {
    MakeRecord(op, v);
    if (v->body->slot == nullptr && v->requires_grad) {
        MakeLeaf(*v->body, true);
        v->body->slot->variable = v;
    }
}

Slot* SlotOf(const char* op, VariableObject* v) {
    Slot* slot = SlotOf(RecordOf(op, v));
    if (slot->variable == nullptr) slot->variable = v;
    return slot;
}

Slot* SlotOf(const Array& x) {
    if (x.body()->slot == nullptr) MakeLeaf(*x.body(), false);
    if (x.body()->slot->body == nullptr) internal::TakePlace(*x.body());
    return x.body()->slot;
}

Slot* CurrentSlot(const VariableObject* v) { return v->body != nullptr ? v->body->slot : nullptr; }

PyObject* ArrayOf(VariableObject* v) {
    while (v->storage->object == nullptr) {
        // A separate object, so that the chainerx array may get a slot later.
        const Storage* storage = v->storage;
        const Array record = *reinterpret_cast<const Array*>(&v->body);
        Ref array{ToKind(record, storage->kind)};
        if (!array) throw PythonError{};
        // Its construction may have run code of the user.
        if (v->storage->object == nullptr && v->body == record.body()) {
            v->storage->object = array.Release();
        }
    }
    return Py_NewRef(v->storage->object);
}

PyObject* ToKind(const Array& x, Kind kind) {
    if (kind == Kind::kNumpy) return ToNumpy(x, false);
    return kind == Kind::kCupy ? ToCupy(x) : Wrap(internal::Detached(x));
}

PyObject* NewVariable(Array record, Kind kind, bool requires_grad, PyObject* object) {
    Ref o = Alloc();
    VariableObject* v = AsVariable(o.get());
    v->storage = NewStorage(kind, Ref{Py_XNewRef(object)});
    v->requires_grad = requires_grad;
    SetRecord(v, std::move(record));
    return o.Release();
}

PyObject* NewUnrecordedVariable(PyObject* object, Kind kind, bool requires_grad) {
    Ref o = Alloc();
    VariableObject* v = AsVariable(o.get());
    v->storage = NewStorage(kind, Ref{Py_NewRef(object)});
    v->requires_grad = requires_grad;
    return o.Release();
}

PyObject* VariableAt(Slot* slot, Kind kind, PyObject* array) {
    VariableObject* v = LivingVariable(slot);
    if (v != nullptr) {
        const bool same = array == nullptr || v->storage->object == array;
        if (same && v->version == v->storage->version)
            return Py_NewRef(reinterpret_cast<PyObject*>(v));
    }
    Array record;
    if (array != nullptr) {
        record = ChainerxArrayOf("variable", array);
    } else {
        slot->lock.lock();
        const bool alive = slot->body != nullptr && slot->body->TryRef();
        if (alive) record = Array{slot->body};
        slot->lock.unlock();
        if (!alive) record = internal::SavedData(*slot);
        if (record.is_null()) return nullptr;
    }
    if (record.body()->slot == nullptr) {
        slot->Ref();
        record.body()->slot = slot;
        internal::TakePlace(*record.body());
    }
    return NewVariable(std::move(record), kind, (slot->live.load() & GraphBit()) != 0, array);
}

void ResetCell(VariableObject* v, Kind kind, Ref object) {
    // Makes the variable valid before any deallocation, which may run code of the user.
    Storage* storage = std::exchange(v->storage, NewStorage(kind, std::move(object)));
    Forget(v);
    const Ref grad{std::exchange(v->grad_var, nullptr)};
    const Ref node{std::exchange(v->node, nullptr)};
    const Array record = TakeRecord(v);
    UnrefStorage(storage);
}

PyObject* GradVariable(VariableObject* v) {
    Slot* slot = CurrentSlot(v);
    Array g = slot != nullptr ? slot->GetGrad(GraphBit()) : Array{};
    if (slot != nullptr && g.is_null()) {
        Py_CLEAR(v->grad_var);
    } else if (!g.is_null() && !IsRecord(v->grad_var, g)) {
        PyObject* fresh = NewVariable(std::move(g), v->storage->kind, true);
        Py_XSETREF(v->grad_var, fresh);
    }
    if (v->grad_var != nullptr && internal::CurrentCapture() != nullptr) {
        return std::exchange(v->grad_var, nullptr);  // see SetGradVariable
    }
    return Py_NewRef(v->grad_var != nullptr ? v->grad_var : Py_None);
}

std::string NameOfLeaf(internal::Slot& slot) {
    const VariableObject* v = LivingVariable(&slot);
    if (v == nullptr || v->name == nullptr || PyUnicode_Check(v->name) == 0) return {};
    const char* text = PyUnicode_AsUTF8(v->name);
    if (text == nullptr) throw PythonError{};
    return text;
}

void InitVariable(PyObject* module) {
    internal::SetVariableCheck([](internal::Slot* slot) {
        const VariableObject* v = LivingVariable(slot);
        return v != nullptr && v->version == v->storage->version && v->body != nullptr &&
               v->body->slot == slot;
    });
    static PyType_Slot slots[64] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_init, reinterpret_cast<void*>(&Init)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
        {Py_tp_members, g_members},
        {Py_tp_getset, VariableAttributes()},
        {Py_tp_methods, VariableMethods()},
        {Py_tp_hash, reinterpret_cast<void*>(&PyObject_HashNotImplemented)},
        {Py_tp_doc,
         const_cast<char*>(
             "Variable(data=None, *, name=None, grad=None, requires_grad=True, "
             "layout=None)\n--\n\nThe part of chainer.Variable that is written in C++.")},
    };
    PyType_Slot* next = slots + 10;
    AddOperatorSlots(next);
    *next = {0, nullptr};
    static PyType_Spec spec = {"chainerx._core.engine.Variable", sizeof(VariableObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                               slots};
    g_variable_type = AddType(module, spec, g_functions);
    AddOperatorFunctions(module);
    AddFunctionMethods(module);
}

}  // namespace chainerx::python::engine
