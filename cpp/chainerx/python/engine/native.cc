#include "chainerx/python/engine/native.h"

#include <structmember.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/rnn/recurrent.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/links/steps.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {
namespace {

using Inputs = SmallArray<Array>;

struct NStepVariant {
    RecurrentCell cell;
    bool is_bidirectional;
    bool by_sequence;
};

struct NativeObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    const struct Native* native;
    NStepVariant variant;  // of functions that have variants
};

struct Native {
    const char* name;
    size_t n_least;  // the minimum number of inputs
    size_t n_most;   // the maximum
    size_t n_given;  // the first ones, which must be arrays: others may be None
    size_t n_params;
    void (*call)(const NativeObject& self, Inputs& inputs, PyObject* const* params,
                 Results& results);
};

constexpr size_t kAnyNumber = ~size_t{0};

// Casts weights to the dtype of x, so that weights of another precision do not change that of the
// data.
template <typename F>
void CallLinearBy(const F& linear, Inputs& inputs, Results& results) {
    const Array& x = inputs[0];
    const bool has_bias = inputs.size() == 3 && !inputs[2].is_null();
    Array y = linear(x, inputs[1], has_bias ? std::optional{inputs[2]} : std::nullopt);
    results.Add(y.dtype() == x.dtype() ? std::move(y) : AsType(y, x.dtype()));
}

void CallLinear(const NativeObject&, Inputs& inputs, PyObject* const*, Results& results) {
    CallLinearBy([](const Array& x, const Array& w,
                    const std::optional<Array>& b) { return Linear(x, w, b); },
                 inputs, results);
}

void CallRectifiedLinear(const NativeObject&, Inputs& inputs, PyObject* const*, Results& results) {
    CallLinearBy(&internal::RectifiedLinear, inputs, results);
}

void AddTo(Results& results, Array y) { results.Add(std::move(y)); }

void AddTo(Results& results, LstmState y) {
    results.SetTuple(2);
    results.Add(std::move(y.c));
    results.Add(std::move(y.h));
}

void CallLstm(const NativeObject&, Inputs& inputs, PyObject* const*, Results& results) {
    AddTo(results, Lstm(inputs[0], inputs[1]));
}

template <auto step>
void CallStep(const NativeObject&, Inputs& inputs, PyObject* const* params, Results& results) {
    AddTo(results, step(inputs, params));
}

NStepResult CallSteps(RecurrentCell cell, const NStepOptions& options, const Array& hx,
                      const Array* cx, const ArrayLists& ws, const ArrayLists& bs,
                      const std::vector<Array>& xs) {
    switch (cell) {
        case RecurrentCell::kLstm:
            return NStepLstm(options, hx, *cx, ws, bs, xs);
        case RecurrentCell::kGru:
            return NStepGru(options, hx, ws, bs, xs);
        default:
            return NStepRnn(
                options, hx, ws, bs, xs,
                cell == RecurrentCell::kTanh ? RnnActivation::kTanh : RnnActivation::kRelu);
    }
}

// Inputs are the states, weights, biases, and steps or whole sequences; parameters are the number
// of layers, the ratio of the dropout between them, and its key.
void CallNStep(const NativeObject& self, Inputs& inputs, PyObject* const* params,
               Results& results) {
    const char* op = "n_step";
    const auto [cell, is_bidirectional, by_sequence] = self.variant;
    const NStepOptions options{ToInt(op, "n_layers", params[0]), is_bidirectional,
                               ToDouble(op, "dropout_ratio", params[1]),
                               static_cast<uint64_t>(ToInt(op, "key", params[2]))};
    const bool has_cells = cell == RecurrentCell::kLstm;
    Array* at = inputs.begin() + (has_cells ? 2 : 1);
    const auto n_inputs = static_cast<int64_t>(inputs.size());
    const int64_t n_lists =
        std::clamp<int64_t>(options.n_layers, 0, n_inputs) * (is_bidirectional ? 2 : 1);
    const auto take = [&](int64_t n) {
        if (n > inputs.end() - at) {
            throw DimensionError{op, ": there are ", n_inputs, " inputs, expected more"};
        }
        at += n;
        return std::vector<Array>(std::move_iterator{at - n}, std::move_iterator{at});
    };
    const auto take_lists = [&] {
        ArrayLists lists;
        lists.reserve(static_cast<size_t>(n_lists));
        for (int64_t i = 0; i < n_lists; ++i) lists.push_back(take(2 * CountGates(cell)));
        return lists;
    };
    const ArrayLists ws = take_lists();
    const ArrayLists bs = take_lists();
    const std::vector<Array> xs = take(inputs.end() - at);
    const Array* cx = has_cells ? &inputs[1] : nullptr;
    NStepResult y = by_sequence ? NStepSequences(cell, options, inputs[0], cx, ws, bs, xs)
                                : CallSteps(cell, options, inputs[0], cx, ws, bs, xs);
    results.SetTuple(y.ys.size() + 2);
    results.Add(std::move(y.hy));
    if (has_cells) results.Add(std::move(y.cy));
    for (Array& part : y.ys) results.Add(std::move(part));
}

constexpr Native kNatives[] = {
    {"child_sum_step", 7, kAnyNumber, 1, 1, &CallStep<&ChildSumStep>},
    {"gru_step", 14, 14, 2, 0, &CallStep<&GruStep>},
    {"linear", 2, 3, 2, 0, &CallLinear},
    {"lstm", 2, 2, 2, 0, &CallLstm},
    {"lstm_step", 7, 7, 3, 0, &CallStep<&LstmStep>},
    {"mgu_step", 6, 6, 2, 0, &CallStep<&MguStep>},
    {"n_step", 2, kAnyNumber, kAnyNumber, 3, &CallNStep},
    {"nary_step", 7, kAnyNumber, 1, 1, &CallStep<&NaryStep>},
    {"peephole_step", 13, 13, 3, 1, &CallStep<&PeepholeStep>},
    {"rectified_linear", 2, 3, 2, 0, &CallRectifiedLinear},
    {"zoneout_step", 7, 7, 3, 2, &CallStep<&ZoneoutStep>},
};

PyTypeObject* g_native_type = nullptr;

const Native& Find(std::string_view name) {
    const auto* native = std::ranges::find(
        kNatives, name, [](const Native& known) { return std::string_view{known.name}; });
    if (native == std::end(kNatives)) throw ValueError{"Native: there is no ", name};
    return *native;
}

RecurrentCell ToCell(std::string_view name) {
    if (name == "lstm") return RecurrentCell::kLstm;
    if (name == "gru") return RecurrentCell::kGru;
    if (name == "tanh") return RecurrentCell::kTanh;
    if (name == "relu") return RecurrentCell::kRelu;
    throw ValueError{"Native: there is no cell '", name, "'"};
}

void CheckInputs(const Native& native, const Inputs& inputs) {
    if (inputs.size() < native.n_least || inputs.size() > native.n_most) {
        const bool few = inputs.size() < native.n_least;
        throw TypeError{native.name,
                        ": there are ",
                        inputs.size(),
                        " inputs, expected ",
                        few ? "at least " : "at most ",
                        few ? native.n_least : native.n_most};
    }
    for (size_t i = 0; i < std::min(inputs.size(), native.n_given); ++i) {
        if (!inputs[i].is_null()) continue;
        throw TypeError{native.name, ": input ", i, " is None, expected an array"};
    }
}

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    const Native& native = *reinterpret_cast<NativeObject*>(o)->native;
    try {
        const auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
        if (n < native.n_params || (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0)) {
            throw TypeError{native.name, ": expected arrays, and ", native.n_params,
                            " parameters, all by position"};
        }
        Inputs inputs{n - native.n_params};
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (args[i] != Py_None) inputs[i] = ToArray(native.name, "inputs", args[i]);
        }
        Results y;
        CallNative(o, inputs, args + inputs.size(), y);
        if (!y.is_tuple()) return Wrap(y[0]);
        Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(y.size())));
        for (size_t i = 0; i < y.size(); ++i) {
            PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), Check(Wrap(y[i])).Release());
        }
        return tuple.Release();
    } catch (...) {
        return Failed(native.name);
    }
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) try {
    static const char* names[] = {"name", "cell", "is_bidirectional", "by_sequence", nullptr};
    const char* name;
    const char* cell = "lstm";
    int is_bidirectional = 0;
    int by_sequence = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|spp:Native", const_cast<char**>(names),
                                     &name, &cell, &is_bidirectional, &by_sequence)) {
        return nullptr;
    }
    const Native& native = Find(name);
    const NStepVariant variant{ToCell(cell), is_bidirectional != 0, by_sequence != 0};
    Ref o = Check(type->tp_alloc(type, 0));
    auto* self = reinterpret_cast<NativeObject*>(o.get());
    self->vectorcall = &Vectorcall;
    self->native = &native;
    self->variant = variant;
    return o.Release();
} catch (...) {
    return Failed();
}

void Dealloc(PyObject* o) { FreeInstance(o); }

PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(NativeObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

bool IsNative(PyObject* compose) { return Py_IS_TYPE(compose, g_native_type); }

void CallNative(PyObject* native, Inputs& inputs, PyObject* const* params, Results& results) {
    const auto* self = reinterpret_cast<const NativeObject*>(native);
    try {
        CheckInputs(*self->native, inputs);
        self->native->call(*self, inputs, params, results);
    } catch (...) {
        TranslateException(self->native->name);
        throw PythonError{};
    }
}

void InitNative(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {Py_tp_members, g_members},
        {Py_tp_doc, const_cast<char*>("Native(name, cell='lstm', is_bidirectional=False, "
                                      "by_sequence=False)\n--\n\nA composition in C++.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.Native", sizeof(NativeObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    g_native_type = AddType(module, spec);
}

}  // namespace chainerx::python::engine
