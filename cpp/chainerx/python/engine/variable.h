// The type of variables, and how other files of the engine use them.
#pragma once

#include <cstdint>
#include <utility>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

enum class Kind : uint8_t { kNone, kNumpy, kChainerx, kCupy };

// The storage of a variable, shared by its copies.
struct Cell {
    uint32_t refs;
    uint32_t version;  // grows with each assignment
    Kind kind;
    PyObject*
        object;  // the array that the user sees; None: uninitialized; null: made when asked for
};

struct VariableObject {
    PyObject_HEAD PyObject* dict;
    PyObject* weakrefs;
    Cell* cell;
    // The record: a chainerx array over the cell's memory, whose slot is the variable's place in
    // the graph. Null until needed, and where chainerx can't hold the array. Owned.
    internal::ArrayBody* body;
    uint32_t version;  // of the cell, when the record was made
    bool requires_grad;
    PyObject* name;      // null: None
    PyObject* grad_var;  // the last that was given out or set; null: none
    PyObject* node;      // the last that was given out; null: none
    // Of parameters: what the gradient has been multiplied with; null: nothing.
    PyObject* loss_scale;
};

extern PyTypeObject* g_variable_type;  // the C base

inline bool IsVariable(PyObject* o) {
    // The classes that most are of, without a walk up from them.
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

// The record, made if there is none. `op` is for the errors. It is the variable's own handle, so
// copy it where Python code may run before its last use.
inline const Array& RecordOf(const char* op, VariableObject* v);
// Makes it, and its place in the graph where a gradient is wanted.
CX_COLD void PrepareRecord(const char* op, VariableObject* v);
// The same with a place in the graph, even if no gradient is wanted.
[[gnu::returns_nonnull]] internal::Slot* SlotOf(const char* op, VariableObject* v);
// That of an array that is no variable's; a leaf if it had none.
[[gnu::returns_nonnull]] internal::Slot* SlotOf(const Array& x);
// Makes the place a leaf: backward ends there, and leaves its gradient.
inline void Cut(internal::Slot* slot) {
    slot->cut.store(true);
    if ((slot->live.load() & GraphBit()) != 0) slot->required |= GraphBit();
}
// Keeps a place or a region, for what runs meanwhile may be code of the user's: whatever calls into
// Python or allocates one of its objects, which the collector uses for its own calls.
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

// The variable at a place; null if there is none, or if it is about to go.
inline VariableObject* LivingVariable(const internal::Slot* slot) {
    auto* v = static_cast<VariableObject*>(slot->variable);
    return v != nullptr && Py_REFCNT(v) > 0 ? v : nullptr;
}
// The place if there is one.
internal::Slot* CurrentSlot(const VariableObject* v);

// A chainerx array over the memory of an array of any kind, outside all graphs. TypeError if
// chainerx can't hold it; BackendError for a CuPy array where there is no backend cuda.
Array SideOf(const char* op, PyObject* array);
// The array that the user sees. New reference; None if uninitialized.
PyObject* ArrayOf(VariableObject* v);
// As an array of that kind, sharing memory. New reference.
PyObject* ToKind(const Array& x, Kind kind);

// A new variable of chainer's class with `record`. `object` is the user's array if there is one.
PyObject* NewVariable(Array record, Kind kind, bool requires_grad, PyObject* object = nullptr);
// A new variable over an array that nothing has a record of, for only Python can hold it, or for
// nobody wants a graph.
PyObject* NewUnrecordedVariable(PyObject* object, Kind kind, bool requires_grad);

// The variable at a place of the graph: the one that is there, or a new one over `array` (or, if
// null, over the array that is there). New reference; null without error if there is none.
PyObject* VariableAt(internal::Slot* slot, Kind kind, PyObject* array);

// Another array in a cell of its own, outside the graph.
void ResetCell(VariableObject* v, Kind kind, Ref object);

// Drops the gradient, and what it has been multiplied with. Of a variable with an array.
void ClearGradient(VariableObject* v);

// For `grad`: None or a variable. New reference.
PyObject* GradVariable(VariableObject* v);

inline const Array& RecordOf(const char* op, VariableObject* v) {
    if (v->body == nullptr || v->version != v->cell->version ||
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

}  // namespace chainerx::python::engine
