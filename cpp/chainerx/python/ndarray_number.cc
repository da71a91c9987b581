// Operators. Exact type check first, scalars next, NotImplemented otherwise.
#include "chainerx/core/error.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/ndarray_slots.h"

namespace chainerx::python {

// NumPy arrays would have to be copied to a device, so that is left to the user.
void CheckNotNumpy(const char* op, PyObject* o) {
    if (PyObject_TypeCheck(o, Numpy().ndarray)) {
        throw TypeError{op,
                        ": one operand is a numpy.ndarray, the other a chainerx.ndarray; "
                        "convert with chainerx.array(x) or chainerx.to_numpy(x)"};
    }
}

namespace {

#define CX_BINARY_SLOT(Name, op)                                                 \
    PyObject* Slot##Name(PyObject* l, PyObject* r) {                             \
        try {                                                                    \
            if (IsNdArray(l)) {                                                  \
                if (IsNdArray(r)) return Wrap(Name(Self(l), Self(r)));           \
                if (const auto s = TryScalar(r)) return Wrap(Name(Self(l), *s)); \
                CheckNotNumpy(op, r);                                            \
            } else {                                                             \
                if (const auto s = TryScalar(l)) return Wrap(Name(Self(r), *s)); \
                CheckNotNumpy(op, l);                                            \
            }                                                                    \
            Py_RETURN_NOTIMPLEMENTED;                                            \
        } catch (...) {                                                          \
            TranslateException();                                                \
            return nullptr;                                                      \
        }                                                                        \
    }

CX_BINARY_SLOT(Add, "add")
CX_BINARY_SLOT(Multiply, "multiply")

}  // namespace

void AddNumberSlots(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_nb_add, reinterpret_cast<void*>(&SlotAdd)});
    AddMatmulSlot(slots);
    slots.push_back({Py_nb_multiply, reinterpret_cast<void*>(&SlotMultiply)});
}

}  // namespace chainerx::python
