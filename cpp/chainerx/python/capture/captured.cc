// Capture: a function of Python whose kernels are recorded, and called again without Python.
#include "chainerx/python/capture/captured.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/capture/capture.h"
#include "chainerx/capture/recorder.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/error.h"
#include "chainerx/python/capture/arguments.h"
#include "chainerx/python/capture/dependencies.h"
#include "chainerx/python/capture/part.h"
#include "chainerx/python/capture/results.h"
#include "chainerx/python/capture/state.h"
#include "chainerx/python/capture/variant_rows.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python {
namespace {

constexpr Py_ssize_t kMaxInterned = 4096;

struct FormOf {
    uint64_t variant;
    std::unique_ptr<ResultForm> form;
};

struct CaptureObject {
    PyObject_HEAD PyObject* step;
    PyObject* interned;  // dict
    size_t max_variants;
    Capture* capture;
    std::vector<FormOf>* forms;
    State* state;
    // Owned by the recordings; here for the garbage collector.
    std::vector<std::weak_ptr<const Traversable>>* held;
    bool keeps;
    bool has_new_state;  // since the last call
};

CaptureObject* AsCapture(PyObject* o) { return reinterpret_cast<CaptureObject*>(o); }

int Traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    CaptureObject* c = AsCapture(self);
    Py_VISIT(c->step);
    Py_VISIT(c->interned);
    if (c->forms == nullptr || c->held == nullptr || c->state == nullptr) return 0;
    if (const int r = c->state->Traverse(visit, arg); r != 0) return r;
    for (const FormOf& f : *c->forms) {
        if (const int r = f.form->Traverse(visit, arg); r != 0) return r;
    }
    for (const auto& weak : *c->held) {
        const auto all = weak.lock();
        if (all == nullptr) continue;
        if (const int r = all->Traverse(visit, arg); r != 0) return r;
    }
    return 0;
}

int Clear(PyObject* self) {
    CaptureObject* c = AsCapture(self);
    Py_CLEAR(c->step);
    Py_CLEAR(c->interned);
    if (c->forms != nullptr) c->forms->clear();
    delete std::exchange(c->capture, nullptr);
    delete std::exchange(c->state, nullptr);
    return 0;
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Clear(self);
    delete AsCapture(self)->forms;
    delete AsCapture(self)->held;
    FreeInstance(self);
}

// Capture(step, variants, strict, keeps=False, fuse=True, verify=0): if `keeps`, what the step
// makes may stay in use, and a call returns a tuple of the result, a list of the bytes of all that,
// and whether it was a replay.
PyObject* New(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject* step;
    int variants;
    int strict;
    int keeps = 0;
    int fuse = 1;
    int verify = 0;
    if (!PyArg_ParseTuple(args, "Oip|ppi:Capture", &step, &variants, &strict, &keeps, &fuse,
                          &verify)) {
        return nullptr;
    }
    Ref self{type->tp_alloc(type, 0)};
    if (!self) return nullptr;
    try {
        CaptureObject* c = AsCapture(self.get());
        c->step = Py_NewRef(step);
        c->interned = Check(PyDict_New()).Release();
        c->forms = new std::vector<FormOf>;
        c->state = new State;
        c->held = new std::vector<std::weak_ptr<const Traversable>>;
        c->capture = new Capture{nullptr, {variants, strict != 0, fuse != 0, verify}};
        c->max_variants = static_cast<size_t>(variants);
        c->keeps = keeps != 0;
        return self.Release();
    } catch (...) {
        return Failed("capture");
    }
}

// One call of the function, as it is.
struct Run {
    CaptureObject* self;
    PyObject* const* args;
    size_t n_args;
    PyObject* names;
    std::vector<State::Before> before;
    std::unique_ptr<ResultForm> form;

    std::vector<Array> operator()() {
        std::vector<Array> arrays;
        NotedPlaces noted;
        const Ref watch = AddDependencies();
        if (watch) noted.LookWith(watch.get());
        const Ref result = Check(PyObject_Vectorcall(self->step, args, n_args, names));
        if (watch && internal::CurrentCapture() != nullptr) {
            Check(PyObject_CallMethod(watch.get(), "check", nullptr));
            FinishState(noted, result.get());  // unless the check has refused the step
        }
        self->held->insert(self->held->end(), NotedPlaces::held()->begin(),
                           NotedPlaces::held()->end());
        form = std::make_unique<ResultForm>(result.get(), arrays);
        return arrays;
    }

    // As they are before the step, since that is when a replay looks at them. Returns what looks at
    // the end of the step what it has changed; null if the step is not recorded.
    Ref AddDependencies() const {
        auto* const capture = internal::CurrentCapture();
        if (capture == nullptr) return {};
        const size_t n_names =
            names != nullptr ? static_cast<size_t>(PyTuple_GET_SIZE(names)) : size_t{0};
        const Ref all = Check(PyTuple_New(static_cast<Py_ssize_t>(n_args + n_names)));
        for (size_t i = 0; i < n_args + n_names; ++i) {
            PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
        }
        std::shared_ptr<Dependencies> found;
        Ref watch;
        {
            const internal::Unobserved by_ourselves;
            const Ref pair = Check(PyObject_CallMethod(reinterpret_cast<PyObject*>(self),
                                                       "_find_dependencies", "(O)", all.get()));
            PyObject* list;
            PyObject* second;
            if (PyArg_ParseTuple(pair.get(), "OO", &list, &second) == 0) throw PythonError{};
            found = std::make_shared<Dependencies>(list);
            watch = Ref{Py_NewRef(second)};
        }
        std::erase_if(*self->held, [](const auto& weak) { return weak.expired(); });
        self->held->emplace_back(found);
        capture->Add(std::make_shared<DependencyPart>(std::move(found)));
        return watch;
    }

    void FinishState(NotedPlaces& noted, PyObject* result) const {
        auto* const recorder = static_cast<internal::Recorder*>(internal::CurrentCapture());
        if (recorder == nullptr) return;
        noted.Look();
        if (self->state->Finish(*recorder, before, noted.all(), result, *self->held)) {
            self->has_new_state = true;
        }
    }
};

void Collect() {
    SavedError saved;
    PyGC_Collect();
    PyErr_Clear();
    saved.Restore();
}

void Warn(const void*, const std::string& reason) {
    if (PyErr_WarnEx(PyExc_RuntimeWarning, reason.c_str(), 1) < 0) throw PythonError{};
}

// Puts arrays in their places in a result; behind it, what is kept.
PyObject* Fill(const CaptureObject* c, const ResultForm& form, const std::vector<Array>& arrays,
               bool is_replay) {
    Ref filled{form.Fill(arrays)};
    if (!c->keeps) return filled.Release();
    Ref kept = Check(PyList_New(0));
    for (size_t i = form.size(); i < arrays.size(); ++i) {
        const Ref array = Check(Wrap(arrays[i]));
        if (PyList_Append(kept.get(), array.get()) < 0) throw PythonError{};
    }
    return Check(PyTuple_Pack(3, filled.get(), kept.get(), is_replay ? Py_True : Py_False))
        .Release();
}

// numpy.random, from which functions of chainer draw their keys.
std::function<void()> HoldRandom() {
    const Ref module = Check(PyImport_ImportModule("numpy.random"));
    const auto state =
        std::make_shared<Ref>(Check(PyObject_CallMethod(module.get(), "get_state", nullptr)));
    return [state] {
        const Ref module = Check(PyImport_ImportModule("numpy.random"));
        Check(PyObject_CallMethod(module.get(), "set_state", "(O)", state->get()));
    };
}

// Calls the function as it is.
PyObject* CallPlain(CaptureObject* c, PyObject* const* args, Py_ssize_t n, PyObject* names) {
    std::vector<Array> arrays;
    const Ref result = Check(PyObject_Vectorcall(c->step, args, static_cast<size_t>(n), names));
    const ResultForm form{result.get(), arrays};
    return Fill(c, form, arrays, false);
}

// Forgets all recordings, of a function whose arguments are never the same: the values that it has
// had are kept, so that they can be compared.
void Forget(CaptureObject* c) {
    Ref fresh = Check(PyDict_New());
    if (!c->capture->Clear()) return;
    std::vector<FormOf> forms;  // goes when all is whole again
    forms.swap(*c->forms);
    const Ref old{std::exchange(c->interned, fresh.Release())};
}

// Keeps the form of the result of a recorded call.
void Keep(CaptureObject* c, uint64_t variant, std::unique_ptr<ResultForm> form) {
    const auto it = std::ranges::find(*c->forms, variant, &FormOf::variant);
    if (it != c->forms->end()) {
        std::swap(it->form, form);  // the old one is freed when the list is whole
        return;
    }
    std::vector<FormOf> old;
    if (c->forms->size() > 2 * c->max_variants) {
        // Those of variants that were thrown out: ids ascend, so the first ones are the oldest.
        old.push_back(std::move(c->forms->front()));
        c->forms->erase(c->forms->begin());
    }
    c->forms->push_back({variant, std::move(form)});
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
    const Ref held{Py_NewRef(self)};
    try {
        CaptureObject* c = AsCapture(self);
        if (c->capture == nullptr) throw ChainerxError{"capture: the function has been cleared"};
        const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
        // Hooks of functions want to see them, and debug mode their values. A step that is recorded
        // has the kernels of this one, too.
        if (IsWatched() || engine::IsObserved(engine::GetState()) ||
            (internal::CurrentCapture() != nullptr && !c->keeps)) {
            return CallPlain(c, args, n, names);
        }
        if (PyDict_GET_SIZE(c->interned) > kMaxInterned) Forget(c);
        Arguments arguments{c->interned};
        for (Py_ssize_t i = 0; i < n; ++i) arguments.Add(args[i], {nullptr, nullptr, i, 0});
        const Py_ssize_t n_names = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
        for (Py_ssize_t i = 0; i < n_names; ++i) {
            PyObject* name = PyTuple_GET_ITEM(names, i);
            const char* text = PyUnicode_AsUTF8(name);
            if (text == nullptr) throw PythonError{};
            arguments.AddName(name);
            arguments.Add(args[n + i], {nullptr, text, 0, 0});
        }
        arguments.AddSettings();
        const size_t n_given = arguments.arrays().size();
        Run run{c, args, static_cast<size_t>(n), names, c->state->AddTo(arguments), nullptr};
        const std::function<std::vector<Array>()> step = [&run] { return run(); };
        Capture::Request request{arguments.key(), arguments.arrays(), step};
        request.describe = [](const void* user) -> std::string {
            return static_cast<const Run*>(user)->form->text();
        };
        request.warn = &Warn;
        request.user = &run;
        request.collect = &Collect;
        request.keeps = c->keeps;
        request.n_states = arguments.arrays().size() - n_given;
        request.has_run = std::exchange(c->has_new_state, false);
        request.hold_random = &HoldRandom;
        request.name = &engine::NameOfLeaf;
        const Capture::Result result = c->capture->Run(request);
        if (!result.is_replay) {
            const Ref filled{Fill(c, *run.form, result.outputs, false)};
            if (result.variant != 0) Keep(c, result.variant, std::move(run.form));
            return Py_NewRef(filled.get());
        }
        const auto it = std::ranges::find(*c->forms, result.variant, &FormOf::variant);
        if (it == c->forms->end()) throw ChainerxError{"capture: the form of the result is lost"};
        return Fill(c, *it->form, result.outputs, true);
    } catch (...) {
        return Failed("capture");
    }
}

PyObject* CallSlot(PyObject* self, PyObject* args, PyObject* keywords) {
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (keywords == nullptr || PyDict_GET_SIZE(keywords) == 0) {
        return Call(self, &PyTuple_GET_ITEM(args, 0), static_cast<size_t>(n), nullptr);
    }
    std::vector<PyObject*> all(&PyTuple_GET_ITEM(args, 0), &PyTuple_GET_ITEM(args, 0) + n);
    const Ref names{PyTuple_New(PyDict_GET_SIZE(keywords))};
    if (!names) return nullptr;
    PyObject* name;
    PyObject* value;
    Py_ssize_t k = 0;
    for (Py_ssize_t i = 0; PyDict_Next(keywords, &i, &name, &value) != 0; ++k) {
        PyTuple_SET_ITEM(names.get(), k, Py_NewRef(name));
        all.push_back(value);
    }
    return Call(self, all.data(), static_cast<size_t>(n), names.get());
}

// _variants() -> rows of RowsOf
PyObject* Variants(PyObject* self, PyObject*) try {
    CaptureObject* c = AsCapture(self);
    using All = std::vector<CaptureVariant>;
    return RowsOf(c->capture == nullptr ? All{} : c->capture->variants()).Release();
} catch (...) {
    return Failed("capture");
}

// ---- where a call is ----------------------------------------------------------------------------

bool IsOurs(PyFrameObject* frame) {
    const Ref globals{PyFrame_GetGlobals(frame)};
    if (!globals) return false;
    PyObject* name = PyDict_GetItemString(globals.get(), "__name__");
    const char* text = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (text == nullptr) {
        PyErr_Clear();
        return false;
    }
    std::string_view package{text};
    package = package.substr(0, package.find('.'));
    return package == "chainer" || package == "chainerx" || package == "chainermn";
}

// The line of the program that runs: the innermost one outside of the packages.
std::string Locate() {
    if (PyGILState_Check() == 0) return {};
    SavedError saved;
    Ref frame{Py_XNewRef(reinterpret_cast<PyObject*>(PyEval_GetFrame()))};
    while (frame) {
        auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
        if (!IsOurs(f)) break;
        frame = Ref{reinterpret_cast<PyObject*>(PyFrame_GetBack(f))};
    }
    std::string where;
    if (frame) {
        auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
        const Ref code{reinterpret_cast<PyObject*>(PyFrame_GetCode(f))};
        const Ref file{PyObject_GetAttrString(code.get(), "co_filename")};
        const char* text = file ? PyUnicode_AsUTF8(file.get()) : nullptr;
        if (text != nullptr) {
            const std::string_view path{text};
            where = StrCat(path.substr(path.rfind('/') + 1), ":", PyFrame_GetLineNumber(f));
        }
    }
    PyErr_Clear();
    saved.Restore();
    return where;
}

PyMethodDef g_methods[] = {
    {"_variants", &Variants, METH_NOARGS, "What has been recorded, a tuple for each key."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitCapture(PyObject* engine) {
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&New)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
                                  {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
                                  {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
                                  {Py_tp_call, reinterpret_cast<void*>(&CallSlot)},
                                  {Py_tp_methods, g_methods},
                                  {Py_tp_doc, const_cast<char*>("The base of captured functions.")},
                                  {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.CapturedFunction", sizeof(CaptureObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                               slots};
    AddType(engine, spec);
    internal::SetCaptureLocator(&Locate);
}

}  // namespace chainerx::python
