// What Python adds to a step that is recorded, for the packages themselves.
#include "chainerx/python/capture/part.h"

#include <memory>
#include <utility>
#include <vector>

#include "chainerx/core/capture_observer.h"
#include "chainerx/python/capture/results.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"

namespace chainerx::python {
namespace {

// Functions that are called at each replay. They must not keep alive what keeps the recording.
class PythonPart : public ReplayPart {
 public:
    PythonPart(PyObject* key, PyObject* prepare, PyObject* finish, ResultForm form, Again again)
        : key_{Py_NewRef(key)},
          prepare_{Py_NewRef(prepare)},
          finish_{Py_NewRef(finish)},
          form_{std::move(form)},
          again_{again} {}

    bool Prepare() override {
        if (prepare_.get() == Py_None) return true;
        const Ref fits = Check(PyObject_CallNoArgs(prepare_.get()));
        const int is_true = PyObject_IsTrue(fits.get());
        if (is_true < 0) throw PythonError{};
        return is_true != 0;
    }

    void Finish(std::span<const Array> arrays) override {
        if (finish_.get() == Py_None) return;
        const Ref value{form_.Fill({arrays.begin(), arrays.end()})};
        Check(PyObject_CallOneArg(finish_.get(), value.get()));
    }

    bool IsSame(const ReplayPart& o) const override {
        const auto* other = dynamic_cast<const PythonPart*>(&o);
        if (other == nullptr || other->form_.text() != form_.text()) return false;
        const int same = PyObject_RichCompareBool(key_.get(), other->key_.get(), Py_EQ);
        if (same < 0) throw PythonError{};
        return same != 0;
    }
    Again again() const override { return again_; }

 private:
    Ref key_;
    Ref prepare_;
    Ref finish_;
    ResultForm form_;
    Again again_;
};

PyObject* IsCapturing(PyObject*, PyObject*) {
    return PyBool_FromLong(internal::CurrentCapture() != nullptr ? 1 : 0);
}

// capture_part(key, prepare, finish, value=None, is_update=False) -> value, its arrays outside of
// all graphs
PyObject* AddPart(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n < 3 || n > 5) {
        throw TypeError{"capture_part: expected a key, two functions or None, a value, and a bool"};
    }
    PyObject* value = n > 3 ? args[3] : Py_None;
    using Again = ReplayPart::Again;
    const Again again = n > 4 && args[4] == Py_True ? Again::kRefused : Again::kDone;
    auto* capture = internal::CurrentCapture();
    if (capture == nullptr) return Py_NewRef(value);
    std::vector<Array> arrays;
    ResultForm form{value, arrays};
    Ref detached;
    {
        const internal::Unobserved by_ourselves;  // NumPy arrays are handed out as such
        detached = Ref{form.Fill(arrays)};
    }
    capture->Add(std::make_shared<PythonPart>(args[0], args[1], args[2], std::move(form), again),
                 arrays);
    return detached.Release();
} catch (...) {
    return Failed("capture_part");
}

// unobserved(function) -> what it returns
PyObject* CallUnobserved(PyObject*, PyObject* function) {
    const internal::Unobserved by_ourselves;
    return PyObject_CallNoArgs(function);
}

// capture_draw(function)
PyObject* CaptureDraw(PyObject*, PyObject* function) try {
    auto* capture = internal::CurrentCapture();
    {
        const internal::Unobserved by_ourselves;
        Check(PyObject_CallNoArgs(function));
    }
    if (capture == nullptr) Py_RETURN_NONE;
    const auto held = std::make_shared<Ref>(Py_NewRef(function));
    capture->Drew(std::nullopt, [held]() -> uint64_t {
        Check(PyObject_CallNoArgs(held->get()));
        return 0;
    });
    Py_RETURN_NONE;
} catch (...) {
    return Failed("capture_draw");
}

// capture_draw_again()
PyObject* CaptureDrawAgain(PyObject*, PyObject*) try {
    auto* capture = internal::CurrentCapture();
    return PyBool_FromLong(capture != nullptr && capture->DrawAgain() ? 1 : 0);
} catch (...) {
    return Failed("capture_draw_again");
}

// doubt_capture(why)
PyObject* DoubtCapture(PyObject*, PyObject* why) try {
    const char* text = PyUnicode_AsUTF8(why);
    if (text == nullptr) throw PythonError{};
    if (auto* capture = internal::CurrentCapture()) capture->Doubt(text);
    Py_RETURN_NONE;
} catch (...) {
    return Failed("doubt_capture");
}

// Both guarded by the GIL.
long g_watchers = 0;
uint64_t g_hook_changes = 0;

// watch_captures(n)
PyObject* WatchCaptures(PyObject*, PyObject* n) {
    const long by = PyLong_AsLong(n);
    if (by == -1 && PyErr_Occurred() != nullptr) return nullptr;
    g_watchers += by;
    Py_RETURN_NONE;
}

PyObject* HooksChanged(PyObject*, PyObject*) {
    ++g_hook_changes;
    Py_RETURN_NONE;
}

PyObject* RefuseCapture(PyObject*, PyObject* what) try {
    const char* text = PyUnicode_AsUTF8(what);
    if (text == nullptr) throw PythonError{};
    internal::CheckMayRead(text);
    Py_RETURN_NONE;
} catch (...) {
    return Failed("refuse_capture");
}

PyMethodDef g_functions[] = {
    {"is_capturing", &IsCapturing, METH_NOARGS, "Whether this thread records a step."},
    {"capture_part", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&AddPart)),
     METH_FASTCALL,
     "Adds functions that each replay calls: prepare() before the kernels, which says whether the "
     "recording still holds, and finish(value) after them. Returns the value."},
    {"capture_draw", &CaptureDraw, METH_O,
     "Calls a function that draws random numbers, now and before each replay, in the order of all "
     "that draw; it writes them to an array from before the step."},
    {"watch_captures", &WatchCaptures, METH_O,
     "Adds to the number of those who want to see each call: while there are any, captured "
     "functions run as they are."},
    {"hooks_changed", &HooksChanged, METH_NOARGS,
     "Has captured functions be recorded anew, with hooks of links as they are now."},
    {"unobserved", &CallUnobserved, METH_O,
     "Calls a function of the host, which is no part of the step that is recorded."},
    {"capture_draw_again", &CaptureDrawAgain, METH_NOARGS,
     "Draws what the step that is recorded has drawn, as a replay will; returns False if that may "
     "do more."},
    {"doubt_capture", &DoubtCapture, METH_O,
     "Says why this recording must not be replayed, though another one may."},
    {"refuse_capture", &RefuseCapture, METH_O, "Says why the step that is recorded can't be."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool IsWatched() { return g_watchers > 0; }
uint64_t CountHookChanges() { return g_hook_changes; }

void InitCapturePart(PyObject* engine) {
    if (PyModule_AddFunctions(engine, g_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python
