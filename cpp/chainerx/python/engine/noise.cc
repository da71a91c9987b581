// Random numbers of chainer's functions, which numpy.random.seed() makes repeatable.
#include "chainerx/python/engine/noise.h"

#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/random/random.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {
namespace {

// What NumPy's bit generators export for C (numpy/random/bitgen.h).
struct BitGenerator {
    void* state;
    uint64_t (*next_uint64)(void* state);
    uint32_t (*next_uint32)(void* state);
    double (*next_double)(void* state);
    uint64_t (*next_raw)(void* state);
};

// The generator behind the functions of numpy.random, and that of its C functions that was used
// last; numpy.random.set_bit_generator() puts another one there. All are owned, and not let go of
// when the process ends: Python has ended before.
struct {
    PyObject* random_state;
    PyObject* attribute;
    PyObject* acquire;
    PyObject* release;
    PyObject* owner;
    PyObject* lock;
    BitGenerator* functions;
} g_numpy;

void Init() {
    const Ref module = Check(PyImport_ImportModule("numpy.random.mtrand"));
    g_numpy.attribute = Check(PyUnicode_InternFromString("_bit_generator")).Release();
    g_numpy.acquire = Check(PyUnicode_InternFromString("acquire")).Release();
    g_numpy.release = Check(PyUnicode_InternFromString("release")).Release();
    g_numpy.random_state = Check(PyObject_GetAttrString(module.get(), "_rand")).Release();
}

void Use(Ref owner) {
    Ref lock = Check(PyObject_GetAttrString(owner.get(), "lock"));
    const Ref capsule = Check(PyObject_GetAttrString(owner.get(), "capsule"));
    void* functions = PyCapsule_GetPointer(capsule.get(), "BitGenerator");
    if (functions == nullptr) throw PythonError{};
    g_numpy.functions = static_cast<BitGenerator*>(functions);
    // What goes may run code that comes here again.
    const Ref old_lock{std::exchange(g_numpy.lock, lock.Release())};
    const Ref old_owner{std::exchange(g_numpy.owner, owner.Release())};
}

// As numpy.random.random_sample(), in a sixth of the time.
double RandomSample() {
    if (g_numpy.random_state == nullptr) Init();
    Ref owner = Check(PyObject_GetAttr(g_numpy.random_state, g_numpy.attribute));
    if (owner.get() != g_numpy.owner) Use(std::move(owner));
    // Another thread may be in the middle of its numbers, without the GIL.
    const Ref lock{Py_NewRef(g_numpy.lock)};
    const BitGenerator* functions = g_numpy.functions;
    const Ref held{Py_NewRef(g_numpy.owner)};
    Check(PyObject_CallMethodNoArgs(lock.get(), g_numpy.acquire));
    const double x = functions->next_double(functions->state);
    Check(PyObject_CallMethodNoArgs(lock.get(), g_numpy.release));
    return x;
}

PyObject* DrawKeyFunction(PyObject*, PyObject*) {
    try {
        return PyLong_FromUnsignedLongLong(DrawKey());
    } catch (...) {
        TranslateException("draw_key");
        return nullptr;
    }
}

Array DrawNumbers(const Array& x) {
    return random::UnitNumbers(x.shape(), Dtype::kFloat32, x.device(), DrawKey());
}

// dropout_mask(x, ratio): 0 with that probability, else what keeps the mean.
PyObject* DropoutMask(PyObject*, PyObject* const* args, Py_ssize_t n) {
    try {
        if (n != 2) throw TypeError{"dropout_mask: expected an array and a ratio"};
        const Array& x = ToArray("dropout_mask", "x", args[0]);
        const double ratio = ToDouble("dropout_mask", "ratio", args[1]);
        return Wrap(AsType(DrawNumbers(x) >= Scalar{ratio}, x.dtype()) * Scalar{1 / (1 - ratio)});
    } catch (...) {
        TranslateException("dropout_mask");
        return nullptr;
    }
}

PyObject* ZoneoutFlagsFunction(PyObject*, PyObject* const* args, Py_ssize_t n) {
    const char* op = "zoneout_flags";
    try {
        if (n != 2) throw TypeError{op, ": expected an array and a ratio"};
        return Wrap(ZoneoutFlags(ToArray(op, "h", args[0]), ToDouble(op, "ratio", args[1])));
    } catch (...) {
        TranslateException(op);
        return nullptr;
    }
}

PyMethodDef g_functions[] = {
    {"draw_key", &DrawKeyFunction, METH_NOARGS,
     "A key for `chainerx.random`, so that `numpy.random.seed` makes the numbers repeatable."},
    {"dropout_mask", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&DropoutMask)),
     METH_FASTCALL, "What dropout multiplies an array by."},
    {"zoneout_flags",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&ZoneoutFlagsFunction)),
     METH_FASTCALL, "Which elements of an array zoneout keeps, with that probability."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

uint64_t DrawKey() { return static_cast<uint64_t>(RandomSample() * 0x1p53); }

Array ZoneoutFlags(const Array& h, double ratio) { return DrawNumbers(h) < Scalar{ratio}; }

void InitNoise(PyObject* module) {
    if (PyModule_AddFunctions(module, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python::engine
