#include "chainerx/python/generator.h"

#include <string>
#include <vector>

#include "chainerx/autograd/record.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/errors.h"

namespace chainerx::python {
namespace {

struct PyGenerator {
    PyObject_HEAD random::Generator* generator;
};

PyTypeObject* g_generator_type = nullptr;

random::Generator& Of(PyObject* self) { return *reinterpret_cast<PyGenerator*>(self)->generator; }

PyObject* Alloc(PyTypeObject* type, const random::Generator& generator) {
    PyObject* o = type->tp_alloc(type, 0);
    if (o == nullptr) throw PythonError{};
    reinterpret_cast<PyGenerator*>(o)->generator = new random::Generator{generator};
    return o;
}

uint64_t ToSeed(const char* op, PyObject* o) {
    return Given(o) ? ToUint64(op, "seed", o) : random::MakeSeed();
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) try {
    static const char* names[] = {"seed", nullptr};
    PyObject* seed = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Generator", const_cast<char**>(names),
                                     &seed)) {
        return nullptr;
    }
    return Alloc(type, random::Generator{ToSeed("Generator", seed)});
} catch (...) {
    return Failed("Generator");
}

void Dealloc(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    delete reinterpret_cast<PyGenerator*>(self)->generator;
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* FromState(const random::State& s) {
    return Py_BuildValue("KK", static_cast<unsigned long long>(s.seed),
                         static_cast<unsigned long long>(s.call));
}

random::State ToState(const char* op, PyObject* o) {
    if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) != 2) {
        throw TypeError{op, ": state is of type ", Py_TYPE(o)->tp_name,
                        ", expected the tuple of two integers that get_state gave"};
    }
    return {ToUint64(op, "state[0]", PyTuple_GET_ITEM(o, 0)),
            ToUint64(op, "state[1]", PyTuple_GET_ITEM(o, 1))};
}

PyObject* GetState(PyObject* self, void*) try {
    return FromState(Of(self).GetState());
} catch (...) {
    return Failed("state");
}

int SetState(PyObject* self, PyObject* value, void*) try {
    if (value == nullptr) throw TypeError{"state: can't be deleted"};
    Of(self).SetState(ToState("state", value));
    return 0;
} catch (...) {
    TranslateException("state");
    return -1;
}

PyObject* Repr(PyObject* self) try {
    const random::State s = Of(self).GetState();
    return PyUnicode_FromFormat("<chainerx.random.Generator: seed %llu, %llu draws>",
                                static_cast<unsigned long long>(s.seed),
                                static_cast<unsigned long long>(s.call));
} catch (...) {
    return Failed("repr");
}

CX_DRAW(
    get_state, ") -> tuple[int, int]",
    "The state of the default random number generator.\n\n"
    "Returns:\n"
    "    tuple of int: The seed and the number of draws since, as :func:`set_state` takes them.") {
    return FromState(GeneratorOf(self).GetState());
}

CX_DRAW(set_state, "state: tuple[int, int]) -> None",
        "Restores a state of the default random number generator.\n\n"
        "Args:\n"
        "    state (tuple of int): What :func:`get_state` returned.\n"
        "Raises:\n"
        "    TypeError: If it is not a tuple of two integers.\n"
        "    ValueError: If one is not in 0 to 2**64 - 1.") {
    GeneratorOf(self).SetState(ToState("set_state", a[0]));
    Py_RETURN_NONE;
}

CX_RANDOM(seed, "seed: int | None = None) -> None",
          "Seeds the default random number generator.\n\n"
          "Args:\n"
          "    seed (int): 0 to 2**64 - 1; None takes entropy from the system.\n"
          "Raises:\n"
          "    ValueError: If it is out of range.\n"
          "Note:\n"
          "    The same seed gives the same numbers on any number of threads.") {
    random::Generator::Default().SetState({ToSeed("seed", a[0]), 0});
    Py_RETURN_NONE;
}

CX_RANDOM(default_rng, "seed: int | Generator | None = None) -> Generator",
          "Creates a random number generator.\n\n"
          "Args:\n"
          "    seed: 0 to 2**64 - 1; None takes entropy from the system; a Generator is returned "
          "as it is.\n"
          "Returns:\n"
          "    Generator: It gives the numbers that the default one gives after :func:`seed`.\n"
          "Raises:\n"
          "    ValueError: If the seed is out of range.") {
    if (Given(a[0]) && Py_TYPE(a[0]) == g_generator_type) return Py_NewRef(a[0]);
    return Alloc(g_generator_type, random::Generator{ToSeed("default_rng", a[0])});
}

CX_GENERATOR(spawn, "n_children: int) -> list[Generator]",
             "New generators, independent of this one and of each other.\n\n"
             "Args:\n"
             "    n_children (int): The number of generators.\n"
             "Returns:\n"
             "    list of Generator: Their seeds come from one draw of this one.\n"
             "Raises:\n"
             "    ValueError: If it is negative.") {
    const auto children = Of(self).Spawn(ToInt("spawn", "n_children", a[0]));
    Ref list = Check(PyList_New(static_cast<Py_ssize_t>(children.size())));
    for (size_t i = 0; i < children.size(); ++i) {
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                        Alloc(g_generator_type, children[i]));
    }
    return list.Release();
}

CX_GENERATOR(__reduce__, ") -> tuple[Any, ...]",
             "Pickles the state; the copy continues from it independently.") {
    const Ref module = Check(PyImport_ImportModule("chainerx"));
    const Ref recover = Check(PyObject_GetAttrString(module.get(), "_recover_generator"));
    return Py_BuildValue("O(N)", recover.get(), FromState(Of(self).GetState()));
}

PyGetSetDef g_getset[] = {
    {"state", &GetState, &SetState,
     "The seed and the number of draws since, as a tuple; it can be set.", nullptr},
    {"bit_generator", [](PyObject* self, void*) { return Py_NewRef(self); }, nullptr,
     "The generator itself, so that ``rng.bit_generator.state`` works.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef* Methods() {
    static std::vector<PyMethodDef> methods;
    for (Binding* b = Binding::first; b != nullptr; b = b->next) {
        if (b->kind != Binding::kDraw && b->kind != Binding::kGenerator) continue;
        b->spec.Init();
        const std::string doc =
            StrCat(b->spec.name(), b->spec.TextSignature(true), "\n--\n\n", b->doc);
        methods.push_back({b->spec.name(),
                           reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(b->entry)),
                           METH_FASTCALL | METH_KEYWORDS, strdup(doc.c_str())});
    }
    methods.push_back({nullptr, nullptr, 0, nullptr});
    return methods.data();
}

}  // namespace

const random::Generator& GeneratorOf(PyObject* self) {
    return self != nullptr ? Of(self) : random::Generator::Default();
}

random::Parameter ToParameter(const char* op, const char* name, PyObject* o, double fallback) {
    if (o == nullptr) return fallback;
    if (IsNdArray(o)) return Self(o);
    return ToDouble(op, name, o);
}

std::optional<Shape> ToSize(const char* op, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    const Shape size = ToShape(op, "size", o);
    for (const int64_t n : size) {
        if (n < 0) throw DimensionError{op, ": size is ", size, ", expected lengths of at least 0"};
    }
    return size;
}

random::Options ToDrawOptions(const char* op, PyObject* self, PyObject* const* a) {
    random::Options options{.source = GeneratorOf(self)};
    options.size = ToSize(op, a[0]);
    if (Given(a[1])) options.dtype = ToDtype(a[1]);
    if (Given(a[2])) options.device = &ToDevice(a[2]);
    return options;
}

PyObject* DrawInto(const char* op, PyObject* self, PyObject* const* a,
                   const std::function<Array(const random::Options&)>& draw) {
    random::Options options = ToDrawOptions(op, self, a);
    const Array* out = ToOut(op, a[3]);
    if (out == nullptr) return Wrap(draw(options));
    if (options.size && *options.size != out->shape()) {
        throw DimensionError{op, ": size is ", *options.size, ", expected that of out, ",
                             out->shape()};
    }
    if (options.dtype && *options.dtype != out->dtype()) {
        throw DtypeError{op, ": dtype is ", *options.dtype, ", expected that of out, ",
                         out->dtype()};
    }
    if (options.device != nullptr) CheckSameDevice(op, *options.device, out->device());
    internal::CheckInPlaceOutput(op, *out);  // checked before numbers are drawn
    options.size = out->shape();
    options.dtype = out->dtype();
    options.device = &out->device();
    return Finish(op, draw(options), a[3]);
}

void InitGenerator(PyObject* module) {
    PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_repr, reinterpret_cast<void*>(&Repr)},
        {Py_tp_methods, Methods()},
        {Py_tp_getset, g_getset},
        {Py_tp_doc,
         const_cast<char*>(
             "Generator(seed=None)\n"
             "--\n\n"
             "A random number generator: Philox4x32-10 (Salmon et al., SC 2011), on any device.\n\n"
             "Its methods are the functions of chainerx.random, which use a global generator.\n\n"
             "Args:\n"
             "    seed (int): 0 to 2**64 - 1; None takes entropy from the system.\n"
             "Note:\n"
             "    Each draw depends only on the seed and the number of previous draws, not on the "
             "device or the number of threads.\n"
             "    Threads may share a generator, in no fixed order; a forked child has a copy, "
             "with the same numbers.")},
        {0, nullptr}};
    PyType_Spec spec = {"chainerx.random.Generator", sizeof(PyGenerator), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    g_generator_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (g_generator_type == nullptr ||
        PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(g_generator_type)) <
            0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python
