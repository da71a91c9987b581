#include "chainerx/python/engine/gradient.h"

#include <structmember.h>

#include <cstring>
#include <utility>
#include <vector>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/core/thread_state.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

namespace {

// Callable like the composition: with its inputs, followed by parameters.
struct WithGradientObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* compose;   // (*arrays, *parameters) -> array
    PyObject* gradient;  // (gy, needed, arrays, y, *parameters) -> one array or None per input
    const OpInfo* op;
    int n_params;
    bool keeps_inputs;
    bool keeps_output;
};

// An object that a node of the graph owns.
class Kept {
 public:
    explicit Kept(PyObject* o) : o_{Py_NewRef(o)} {}
    Kept(Kept&& k) noexcept : o_{std::exchange(k.o_, nullptr)} {}
    Kept& operator=(Kept&&) = delete;
    ~Kept() {
        if (o_ != nullptr) ReleaseObject(o_);
    }
    PyObject* get() const { return o_; }

 private:
    PyObject* o_;
};

[[noreturn]] CX_COLD void ThrowBadResult(const WithGradientObject* self, PyObject* o) {
    throw TypeError{self->op->name, ": the gradient is a ", Py_TYPE(o)->tp_name,
                    ", expected a tuple of an array or None per input"};
}

// The state that a node keeps for backward.
struct Backward {
    Kept self;
    Kept params;
    std::vector<Saved> inputs;
    Saved output;
    std::vector<KeptOperand> arrays;  // among the parameters

    void operator()(GradContext& context) const {
        const GilScope gil;
        const auto* entry = reinterpret_cast<const WithGradientObject*>(self.get());
        const int n = context.input_count();
        const Py_ssize_t n_params = PyTuple_GET_SIZE(params.get());
        const Ref needed = Check(PyTuple_New(n));
        bool any = false;
        for (int i = 0; i < n; ++i) {
            any |= context.IsInputGradRequired(i);
            PyTuple_SET_ITEM(needed.get(), i, PyBool_FromLong(context.IsInputGradRequired(i)));
        }
        if (!any) return;
        for (const KeptOperand& array : arrays) array();
        const Ref xs = Check(PyTuple_New(static_cast<Py_ssize_t>(inputs.size())));
        for (size_t i = 0; i < inputs.size(); ++i) {
            PyTuple_SET_ITEM(xs.get(), i, Wrap(inputs[i]()));
        }
        const Ref args = Check(PyTuple_New(4 + n_params));
        PyTuple_SET_ITEM(args.get(), 0, Wrap(context.output_grad()));
        PyTuple_SET_ITEM(args.get(), 1, Py_NewRef(needed.get()));
        PyTuple_SET_ITEM(args.get(), 2, Py_NewRef(xs.get()));
        PyTuple_SET_ITEM(args.get(), 3, entry->keeps_output ? Wrap(output()) : Py_NewRef(Py_None));
        for (Py_ssize_t i = 0; i < n_params; ++i) {
            PyTuple_SET_ITEM(args.get(), 4 + i, Py_NewRef(PyTuple_GET_ITEM(params.get(), i)));
        }
        const Ref gxs = Check(PyObject_CallObject(entry->gradient, args.get()));
        if (!PyTuple_Check(gxs.get()) || PyTuple_GET_SIZE(gxs.get()) != n) {
            ThrowBadResult(entry, gxs.get());
        }
        for (int i = 0; i < n; ++i) {
            PyObject* gx = PyTuple_GET_ITEM(gxs.get(), i);
            if (gx == Py_None || !context.IsInputGradRequired(i)) continue;
            if (!IsNdArray(gx)) ThrowBadResult(entry, gx);
            context.SetInputGrad(i, Self(gx));
        }
    }
};

PyObject* Call(WithGradientObject* self, PyObject* const* args, Py_ssize_t n_args) {
    const Py_ssize_t n_inputs = n_args - self->n_params;
    if (n_inputs < 1) throw TypeError{self->op->name, ": too few arguments, ", n_args};
    std::vector<ConstArrayRef> inputs;
    for (Py_ssize_t i = 0; i < n_inputs; ++i) {
        if (!IsNdArray(args[i])) {
            throw TypeError{self->op->name,
                            ": input ",
                            i,
                            " is a ",
                            Py_TYPE(args[i])->tp_name,
                            ", expected a chainerx.ndarray"};
        }
        inputs.emplace_back(Self(args[i]));
    }
    Ref result;
    {
        const NoRecordScope no_record;
        result =
            Check(PyObject_Vectorcall(self->compose, args, static_cast<size_t>(n_args), nullptr));
    }
    if (!IsNdArray(result.get())) {
        throw TypeError{self->op->name, ": the result is a ", Py_TYPE(result.get())->tp_name,
                        ", expected a chainerx.ndarray"};
    }
    const Array& y = Self(result.get());
    if (y.body()->slot != nullptr) {
        throw ChainerxError{self->op->name, ": the result is an input"};
    }
    if (Record rec{*self->op, inputs, std::span{&y, 1}}) {
        const Ref params = Check(PyTuple_New(self->n_params));
        for (int i = 0; i < self->n_params; ++i) {
            PyTuple_SET_ITEM(params.get(), i, Py_NewRef(args[n_inputs + i]));
        }
        Backward backward{
            Kept{reinterpret_cast<PyObject*>(self)}, Kept{params.get()}, {}, Saved{}, {}};
        for (int i = 0; i < self->n_params; ++i) {
            if (!IsNdArray(args[n_inputs + i])) continue;
            backward.arrays.emplace_back(self->op->name, "a parameter", Self(args[n_inputs + i]));
        }
        if (self->keeps_inputs) {
            for (const ConstArrayRef& x : inputs) backward.inputs.push_back(rec.Save(x.get()));
        }
        if (self->keeps_output) backward.output = rec.SaveOutput(y);
        rec.GradAll(std::move(backward));
    }
    return result.Release();
}

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* self = reinterpret_cast<WithGradientObject*>(o);
    try {
        if (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0) {
            throw TypeError{self->op->name, ": no keyword arguments are taken here"};
        }
        return Call(self, args, PyVectorcall_NARGS(nargsf));
    } catch (...) {
        TranslateException(self->op->name);
        return nullptr;
    }
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    static const char* names[] = {"name", "compose", "gradient", "n_params", "keeps", nullptr};
    const char* name;
    PyObject* compose;
    PyObject* gradient;
    int n_params = 0;
    const char* keeps = "x";
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOO|is:WithGradient",
                                     const_cast<char**>(names), &name, &compose, &gradient,
                                     &n_params, &keeps)) {
        return nullptr;
    }
    PyObject* o = type->tp_alloc(type, 0);
    if (o == nullptr) return nullptr;
    auto* self = reinterpret_cast<WithGradientObject*>(o);
    self->vectorcall = &Vectorcall;
    self->compose = Py_NewRef(compose);
    self->gradient = Py_NewRef(gradient);
    self->op = &UserOp(name);
    self->n_params = n_params;
    self->keeps_inputs = std::strchr(keeps, 'x') != nullptr;
    self->keeps_output = std::strchr(keeps, 'y') != nullptr;
    return o;
}

void Dealloc(PyObject* o) {
    auto* self = reinterpret_cast<WithGradientObject*>(o);
    Py_XDECREF(self->compose);
    Py_XDECREF(self->gradient);
    FreeInstance(o);
}

PyMemberDef g_members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                            offsetof(WithGradientObject, vectorcall), READONLY, nullptr},
                           {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void InitGradient(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {Py_tp_members, g_members},
        {Py_tp_doc, const_cast<char*>("A composition of chainerx routines, recorded as one "
                                      "operation, with its gradient.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.WithGradient", sizeof(WithGradientObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    AddType(module, spec);
}

}  // namespace chainerx::python::engine
