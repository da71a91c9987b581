#include "chainerx/python/engine/links/link_sequences_call.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/engine/config.h"
#include "chainerx/python/engine/few.h"
#include "chainerx/python/engine/links/link_place.h"
#include "chainerx/python/engine/links/unrecorded.h"
#include "chainerx/python/engine/native.h"
#include "chainerx/python/engine/noise.h"
#include "chainerx/python/engine/scopes.h"

namespace chainerx::python::engine {
namespace {

// Interned, made by InitSequencesCall.
PyObject* g_rnn;
PyObject* g_init_hx;
PyObject* g_children;
PyObject* g_n_layers;
PyObject* g_out_size;
PyObject* g_direction;
PyObject* g_dropout;
PyObject* g_no_dropout;      // 0.0
PyObject* g_usual_names[4];  // methods that may be a subclass's own, or patched

constexpr size_t kInitHx = 3;

bool IsList(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

bool HasUsualInitHx(SequencesObject* self, PyObject* link, PyObject* dict) {
    return Find(dict, g_init_hx) == nullptr &&
           (self->known.IsOf(link) ||
            _PyType_Lookup(Py_TYPE(link), g_init_hx) == self->usual[kInitHx]);
}

int64_t ToSize(PyObject* link, PyObject* name) {
    const Ref value = Check(PyObject_GetAttr(link, name));
    const int64_t n = PyLong_AsLongLong(value.get());
    if (n == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
    return n;
}

// The dtype of an array of any kind or a variable; false for what is none.
bool FindDtype(PyObject* x, Dtype& dtype) {
    const char* op = "init_hx";
    if (IsVariable(x)) {
        if (AsVariable(x)->cell->object == Py_None) return false;
        dtype = RecordOf(op, AsVariable(x)).dtype();
        return true;
    }
    if (KindOf(x) == Kind::kNone) return false;
    dtype = SideOf(op, x).dtype();
    return true;
}

class Call {
 public:
    Call(SequencesObject* self, PyObject* const* args, Py_ssize_t n_args)
        : self_{self}, link_{args[0]}, n_states_{n_args - 2}, xs_{Py_NewRef(args[n_args - 1])} {
        for (Py_ssize_t i = 0; i < n_states_; ++i) states_[i] = Ref{Py_NewRef(args[i + 1])};
    }

    // New reference; None where the link has to do it in Python.
    PyObject* Run() {
        if (!IsList(xs_.get()) || PySequence_Fast_GET_SIZE(xs_.get()) == 0) Py_RETURN_NONE;
        dict_ = Check(PyObject_GenericGetDict(link_, nullptr));
        if (!HasUsualMethods(self_, link_, dict_.get()) || !FindOptions() || !FindChildren()) {
            Py_RETURN_NONE;
        }
        // First the sequences: what follows may run code of the user's, which changes their list.
        sequences_ = Check(PySequence_Tuple(xs_.get()));
        const Py_ssize_t n_xs = PyTuple_GET_SIZE(sequences_.get());
        const Py_ssize_t n_names =
            PyTuple_GET_SIZE(self_->weights) + PyTuple_GET_SIZE(self_->biases);
        const Py_ssize_t n_members = n_names * PyTuple_GET_SIZE(dicts_.get());
        Objects all{static_cast<size_t>(n_states_ + n_members + n_xs + kSequencesParams)};
        PyObject** at = all.data() + n_states_ + n_members;
        for (Py_ssize_t i = 0; i < n_xs; ++i) {
            *at++ = Py_NewRef(PyTuple_GET_ITEM(sequences_.get(), i));
        }
        if (!MakeStates()) Py_RETURN_NONE;
        at = all.data();
        for (Py_ssize_t i = 0; i < n_states_; ++i) *at++ = Py_XNewRef(states_[i].get());
        if (!AddMembers(at)) Py_RETURN_NONE;
        at += n_members + n_xs;
        *at++ = Py_NewRef(n_layers_.get());
        *at++ = has_dropout_ ? Py_NewRef(dropout_.get()) : Py_NewRef(g_no_dropout);
        *at++ = Check(PyLong_FromUnsignedLongLong(has_dropout_ ? DrawKey() : 0)).Release();
        const State& state = GetState();
        if (!Records(state) && !IsObserved(state)) {
            if (PyObject* y = RunOfArrays(all)) return y;
        }
        for (Py_ssize_t i = 0; i < n_states_; ++i) {
            if (all[static_cast<size_t>(i)] != nullptr) continue;
            all[static_cast<size_t>(i)] = NewVariable(zeros_[i], place_.kind, true);
        }
        const Ref results{CallEntry(self_->entry, all.data(), all.size())};
        return WithList(PyTuple_GET_SIZE(results.get()), [&results](Py_ssize_t i) {
            return Py_NewRef(PyTuple_GET_ITEM(results.get(), i));
        });
    }

 private:
    // As NStep.run in functions/rnn/_n_step.py: a ratio that matters to nobody is 0.
    bool FindOptions() {
        n_layers_ = Check(PyObject_GetAttr(link_, g_n_layers));
        dropout_ = Check(PyObject_GetAttr(link_, g_dropout));
        const bool is_number =
            PyFloat_CheckExact(dropout_.get()) || PyLong_CheckExact(dropout_.get());
        if (!PyLong_CheckExact(n_layers_.get()) || !is_number) return false;
        const double ratio = PyFloat_AsDouble(dropout_.get());
        if (ratio == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
        if (!(ratio >= 0 && ratio <= 1)) return false;
        has_dropout_ = ratio != 0 && PyLong_AsLongLong(n_layers_.get()) != 1 && IsTraining();
        if (PyErr_Occurred() != nullptr) throw PythonError{};
        return true;
    }

    // Of each child its attributes.
    bool FindChildren() {
        PyObject* list = Find(dict_.get(), g_children);
        if (list == nullptr || !PyList_CheckExact(list)) return false;
        const Ref children = Check(PyList_AsTuple(list));
        const Py_ssize_t n = PyTuple_GET_SIZE(children.get());
        dicts_ = Check(PyTuple_New(n));
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* child = PyTuple_GET_ITEM(children.get(), i);
            PyTuple_SET_ITEM(dicts_.get(), i,
                             Check(PyObject_GenericGetDict(child, nullptr)).Release());
        }
        return true;
    }

    // The weights of all children, then their biases. Room is for null ones. False if one has not
    // all.
    bool AddMembers(PyObject** w) const {
        PyObject** b = w + PyTuple_GET_SIZE(self_->weights) * PyTuple_GET_SIZE(dicts_.get());
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dicts_.get()); ++i) {
            PyObject* dict = PyTuple_GET_ITEM(dicts_.get(), i);
            if (!self_->members->Find(dict, self_->weights, self_->biases, w, b)) return false;
            w += PyTuple_GET_SIZE(self_->weights);
            b += PyTuple_GET_SIZE(self_->biases);
        }
        return true;
    }

    // Zeros for those that are None, which become variables if anybody can see them. False where
    // only Python can tell what init_hx makes.
    bool MakeStates() {
        for (Py_ssize_t i = 0; i < n_states_; ++i) {
            if (states_[i].get() != Py_None) continue;
            if (!HasUsualInitHx(self_, link_, dict_.get()) || !MakeZeros(zeros_[i])) return false;
            states_[i] = Ref{};
        }
        return true;
    }

    bool MakeZeros(Array& zeros) {
        if (place_.device == nullptr) place_ = PlaceOfLink(link_);
        Dtype dtype;
        if (place_.device == nullptr || !FindDtype(PyTuple_GET_ITEM(sequences_.get(), 0), dtype) ||
            !IsFloat(dtype))
            return false;
        const int64_t n = ToSize(link_, g_n_layers) * ToSize(link_, g_direction);
        const Shape shape{n, PyTuple_GET_SIZE(sequences_.get()), ToSize(link_, g_out_size)};
        zeros = Zeros(shape, dtype, *place_.device);
        return true;
    }

    // Where nothing is recorded. Null without an error where only functions can tell.
    PyObject* RunOfArrays(const Objects& all) {
        UnrecordedCall call{self_->entry->op->name};
        Few<Array> arrays{all.size() - kSequencesParams};
        int64_t rows = 0;
        for (size_t i = 0; i < arrays.size(); ++i) {
            PyObject* o = all[i];
            if (o == nullptr) {
                arrays[i] = zeros_[i];
                if (!call.Add(place_.kind, arrays[i], true)) return nullptr;
            } else if (!call.Take(o, arrays[i])) {
                return nullptr;
            }
        }
        const size_t n_xs = static_cast<size_t>(PyTuple_GET_SIZE(sequences_.get()));
        for (size_t i = arrays.size() - n_xs; i < arrays.size(); ++i) {
            if (arrays[i].ndim() != 2) return nullptr;
            rows += arrays[i].shape()[0];
        }
        if (rows == 0) return nullptr;  // then the last states are the first ones
        Results results;
        {
            const NoRecordScope no_record;
            CallNative(self_->entry->compose, arrays, all.data() + arrays.size(), results);
        }
        return WithList(static_cast<Py_ssize_t>(results.size()), [&](Py_ssize_t i) {
            return call.Wrap(std::move(results[static_cast<size_t>(i)]));
        });
    }

    // (hy, cy, [*ys]) of n variables, of which `take` gives new references.
    template <typename F>
    PyObject* WithList(Py_ssize_t n, const F& take) const {
        Ref tuple = Check(PyTuple_New(n_states_ + 1));
        for (Py_ssize_t i = 0; i < n_states_; ++i) PyTuple_SET_ITEM(tuple.get(), i, take(i));
        Ref list = Check(PyList_New(n - n_states_));
        for (Py_ssize_t i = n_states_; i < n; ++i) {
            PyList_SET_ITEM(list.get(), i - n_states_, take(i));
        }
        PyTuple_SET_ITEM(tuple.get(), n_states_, list.Release());
        return tuple.Release();
    }

    SequencesObject* self_;
    PyObject* link_;
    Py_ssize_t n_states_;
    Ref xs_;
    Ref sequences_;  // what was in xs
    Ref states_[kMostSequenceStates];
    Array zeros_[kMostSequenceStates];
    LinkPlace place_;
    Ref dict_;
    Ref dicts_;
    Ref n_layers_;
    Ref dropout_;
    bool has_dropout_{false};
};

}  // namespace

void KeepUsualMethods(SequencesObject* self, PyTypeObject* cls) {
    for (size_t i = 0; i < std::size(g_usual_names); ++i) {
        self->usual[i] = Py_XNewRef(_PyType_Lookup(cls, g_usual_names[i]));
    }
}

bool HasUsualMethods(SequencesObject* self, PyObject* link, PyObject* dict) {
    if (Find(dict, g_rnn) != nullptr) return false;
    if (self->known.IsOf(link)) return true;
    for (size_t i = 0; i < kInitHx; ++i) {
        if (_PyType_Lookup(Py_TYPE(link), g_usual_names[i]) != self->usual[i]) return false;
    }
    if (_PyType_Lookup(Py_TYPE(link), g_init_hx) == self->usual[kInitHx]) {
        self->known = ClassVersion::Of(link);
    }
    return true;
}

PyObject* CallSequences(SequencesObject* self, PyObject* const* args, Py_ssize_t n_args) {
    return Call{self, args, n_args}.Run();
}

void InitSequencesCall() {
    const auto intern = [](const char* name) {
        return Check(PyUnicode_InternFromString(name)).Release();
    };
    g_rnn = intern("rnn");
    g_init_hx = intern("init_hx");
    g_children = intern("_children");
    g_n_layers = intern("n_layers");
    g_out_size = intern("out_size");
    g_direction = intern("direction");
    g_dropout = intern("dropout");
    g_no_dropout = Check(PyFloat_FromDouble(0)).Release();
    g_usual_names[0] = g_rnn;
    g_usual_names[1] = intern("ws");
    g_usual_names[2] = intern("bs");
    g_usual_names[kInitHx] = g_init_hx;
}

}  // namespace chainerx::python::engine
