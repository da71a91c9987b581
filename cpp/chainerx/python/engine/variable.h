// The type of variables, and the functions by which other files of the engine access them.
#pragma once

#include <cstdint>
#include <utility>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/cupy.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

enum class Kind : uint8_t { kNone, kNumpy, kChainerx, kCupy };

// The storage of a variable, shared by its copies.
struct Storage {
    uint32_t refs;
    uint32_t version;  // grows with each assignment
    Kind kind;
    PyObject* object;  // the array that the user sees; None: uninitialized; null: made on demand
};

struct VariableObject {
    PyObject_HEAD PyObject* dict;
    PyObject* weakrefs;
    Storage* storage;
    // A chainerx array over the storage's memory, whose slot is the variable's slot in the graph.
    // Null until needed, and if chainerx can't hold the array. Owned.
    internal::ArrayBody* body;
    uint32_t version;  // of the storage, when the chainerx array was made
    bool requires_grad;
    PyObject* name;      // null: None
    PyObject* grad_var;  // the last that was returned or set; null: none
    PyObject* node;      // the last that was returned; null: none
    // The factor by which the gradient of a parameter has been multiplied; null: none.
    PyObject* loss_scale;
};

extern PyTypeObject* g_variable_type;  // the C base

inline bool IsVariable(PyObject* o) {
    // Compares with the classes of most variables first, without a walk up the bases.
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
    return type == g_callbacks.variable_class || type == g_callbacks.parameter_class ||
           PyObject_TypeCheck(o, g_variable_type);
}
inline VariableObject* AsVariable(PyObject* o) { return reinterpret_cast<VariableObject*>(o); }

// The id of the graph of all variables.
inline uint64_t GraphBit() { return 1; }

// What kind of array the object is; kNone if none.
Kind KindOf(PyObject* o);
const char* NameOf(Kind kind);

// The chainerx array, made if there is none. `op` is for error messages. It is the variable's own
// handle, so copy it if Python code may run before its last use.
inline const Array& RecordOf(const char* op, VariableObject* v);
// Makes it, and its slot in the graph if a gradient is needed.
CX_COLD void PrepareRecord(const char* op, VariableObject* v);
// The same with a slot in the graph, even if no gradient is needed.
[[gnu::returns_nonnull]] internal::Slot* SlotOf(const char* op, VariableObject* v);
// The slot of an array that belongs to no variable; a leaf if it had none.
[[gnu::returns_nonnull]] internal::Slot* SlotOf(const Array& x);
// Makes the slot a leaf: backward ends there, and stores its gradient.
inline void Cut(internal::Slot* slot) {
    slot->cut.store(true);
    if ((slot->live.load() & GraphBit()) != 0) slot->required |= GraphBit();
}
// Holds a slot or a region while code of the user may run: in calls into Python, and in allocations
// of Python objects, during which the collector may run.
template <typename T>
class Hold {
 public:
    explicit Hold(T* object) : object_{object} {
        if (object != nullptr) object->Ref();
    }
    ~Hold() {
        if (object_ != nullptr) object_->Unref();
    }
    Hold(Hold&& o) noexcept : object_{std::exchange(o.object_, nullptr)} {}
    Hold& operator=(Hold&&) = delete;
    T* get() const { return object_; }

 private:
    T* object_;
};

// The variable of a slot; null if there is none, or if it is being deallocated.
inline VariableObject* LivingVariable(const internal::Slot* slot) {
    auto* v = static_cast<VariableObject*>(slot->variable);
    return v != nullptr && Py_REFCNT(v) > 0 ? v : nullptr;
}
// The slot if there is one.
internal::Slot* CurrentSlot(const VariableObject* v);

// A chainerx array over the memory of an array of any kind, outside all graphs. TypeError if
// chainerx can't hold it; BackendError for a CuPy array without the backend cuda.
Array ChainerxArrayOf(const char* op, PyObject* array, CupyUse use = CupyUse::kInScopes);
// The array that the user sees. New reference; None if uninitialized.
PyObject* ArrayOf(VariableObject* v);
// As an array of that kind, sharing memory. New reference.
PyObject* ToKind(const Array& x, Kind kind);

// A new variable of chainer's class over the chainerx array `record`. `object` is the user's array
// if there is one.
PyObject* NewVariable(Array record, Kind kind, bool requires_grad, PyObject* object = nullptr);
// A new variable without a chainerx array, either because only Python can hold its array or because
// no graph is needed.
PyObject* NewUnrecordedVariable(PyObject* object, Kind kind, bool requires_grad);

// The variable of a slot: the existing one, or a new one over `array` (or, if null, over the
// existing array). New reference; null without error if there is none.
PyObject* VariableAt(internal::Slot* slot, Kind kind, PyObject* array);

// Assigns another array in a new storage, outside the graph.
void ResetCell(VariableObject* v, Kind kind, Ref object);

// Drops the gradient and its loss scale. The variable has an array.
void ClearGradient(VariableObject* v);

// For `grad`: None or a variable. New reference.
PyObject* GradVariable(VariableObject* v);

inline const Array& RecordOf(const char* op, VariableObject* v) {
    if (v->body == nullptr || v->version != v->storage->version ||
        (v->body->slot == nullptr && v->requires_grad)) [[unlikely]] {
        PrepareRecord(op, v);
    }
    return *reinterpret_cast<const Array*>(&v->body);
}

void AddOperatorSlots(PyType_Slot*& slot);    // variable_operators.cc
void AddOperatorFunctions(PyObject* module);  // the same
void AddFunctionMethods(PyObject* module);    // variable_methods.cc
PyGetSetDef* VariableAttributes();            // variable_attributes.cc
PyMethodDef* VariableMethods();               // the same

void InitVariable(PyObject* module);

// The name of the variable of a leaf; "" if it has none.
std::string NameOfLeaf(internal::Slot& slot);

}  // namespace chainerx::python::engine
