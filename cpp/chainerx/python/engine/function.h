// The C++ part of FunctionNode, the Python object of a region.
#pragma once

#include <vector>

#include "chainerx/autograd/op_info.h"
#include "chainerx/autograd/region.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

struct FunctionObject {
    PyObject_HEAD PyObject* dict;
    PyObject* weakrefs;
    internal::Region* region;  // owned; null before the function is applied
    bool seen;                 // read as a creator by the user: its inputs remain the same objects
};

extern PyTypeObject* g_function_type;

inline bool IsFunction(PyObject* o) { return PyObject_TypeCheck(o, g_function_type); }
inline FunctionObject* AsFunction(PyObject* o) { return reinterpret_cast<FunctionObject*>(o); }

// The function object of a region, made if there is none. New reference.
PyObject* FunctionOf(internal::Region* region);
// The function object of a slot's creator; None for a leaf. The graph keeps it from now on, so that
// its id and its attributes are those of the function. New reference.
PyObject* CreatorOf(internal::Slot* slot);

// Holds a region while a function is applied. If no node was recorded, the region drops its
// payload, which may refer to the region.
class RegionHold {
 public:
    RegionHold() = default;
    RegionHold(const RegionHold&) = delete;
    RegionHold& operator=(const RegionHold&) = delete;
    ~RegionHold() {
        if (region_ == nullptr) return;
        if (region_->nodes.load() == 0) region_->DropPayload();
        region_->Unref();
    }
    // Takes over a reference.
    void Reset(internal::Region* region) { region_ = region; }
    internal::Region* get() const { return region_; }

 private:
    internal::Region* region_{nullptr};
};

// The operation that represents a user's class in the graph; it has the name of the class.
const OpInfo& ClassOp(PyObject* f);

// A region whose payload is `function`, which is bound to it. `again`: the function was applied
// once more, and no longer knows the contents of its previous region.
internal::Region* BindRegion(PyObject* function, Kind kind, bool again = true);
// Releases a payload that is a Python object.
void ReleasePayload(internal::Region& region) noexcept;

// The arrays of the region's inputs and the given gradients, as hooks see them. New tuples.
Ref InputArrays(internal::Region& region);
Ref GradientArrays(std::span<const Array> grads, Kind kind);

// Makes the function object the payload of the region, with its hooks and all its attributes.
void PinFunction(internal::Region* region, PyObject* function);

PyGetSetDef* FunctionAttributes();  // function_attributes.cc
PyMethodDef* FunctionMethods();     // the same

void InitFunctionAttributes();
void InitFunction(PyObject* module);
void InitUserFunction(PyObject* module);  // user_function.cc

}  // namespace chainerx::python::engine
