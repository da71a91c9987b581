// Random numbers of chainer's functions, which numpy.random.seed() makes repeatable.
#include "chainerx/python/engine/rng_key.h"

#include <cstdint>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/random/random.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {
namespace {

// A key for chainerx/ops/random/random.h, so that numpy.random.seed() makes the numbers repeatable.
uint64_t DrawFromNumpy() {
    // Never released, since Python is finalized before the destructor would run.
    static PyObject* random_sample = nullptr;
    if (random_sample == nullptr) {
        const Ref module = Check(PyImport_ImportModule("numpy.random"));
        random_sample = Check(PyObject_GetAttrString(module.get(), "random_sample")).Release();
    }
    const Ref x = Check(PyObject_CallNoArgs(random_sample));
    return static_cast<uint64_t>(PyFloat_AsDouble(x.get()) * 0x1p53);
}

uint64_t DrawKey() {
    const uint64_t key = DrawFromNumpy();
    if (auto* capture = internal::CurrentCapture()) capture->Drew(key, &DrawFromNumpy);
    return key;
}

PyObject* DrawKeyFunction(PyObject*, PyObject*) try {
    return PyLong_FromUnsignedLongLong(DrawKey());
} catch (...) {
    return Failed("draw_key");
}

Array DrawNumbers(const Array& x) {
    return random::UnitNumbers(x.shape(), Dtype::kFloat32, x.device(), DrawKey());
}

// dropout_mask(x, ratio): 0 with that probability, else the scale that preserves the mean.
PyObject* DropoutMask(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 2) throw TypeError{"dropout_mask: expected an array and a ratio"};
    const Array& x = ToArray("dropout_mask", "x", args[0]);
    const double ratio = ToDouble("dropout_mask", "ratio", args[1]);
    return Wrap(AsType(DrawNumbers(x) >= Scalar{ratio}, x.dtype()) * Scalar{1 / (1 - ratio)});
} catch (...) {
    return Failed("dropout_mask");
}

PyObject* ZoneoutFlagsFunction(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "zoneout_flags";
    try {
        if (n != 2) throw TypeError{op, ": expected an array and a ratio"};
        const Array& h = ToArray(op, "h", args[0]);
        return Wrap(ZoneoutFlags(h, ToDouble(op, "ratio", args[1])));
    } catch (...) {
        return Failed(op);
    }
}

PyMethodDef g_functions[] = {
    {"draw_key", &DrawKeyFunction, METH_NOARGS,
     "A random key for `chainerx.random`, drawn from `numpy.random`, so that its seed makes "
     "results repeatable."},
    {"dropout_mask", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&DropoutMask)),
     METH_FASTCALL, "The mask that dropout multiplies an array by."},
    {"zoneout_flags",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ZoneoutFlagsFunction)),
     METH_FASTCALL, "The mask of elements that zoneout keeps, with a probability."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

Array ZoneoutFlags(const Array& h, double ratio) { return DrawNumbers(h) < Scalar{ratio}; }

void InitRngKey(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine
