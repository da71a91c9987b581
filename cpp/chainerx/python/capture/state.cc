#include "chainerx/python/capture/state.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/python/capture/dataclass.h"
#include "chainerx/python/capture/results.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"

namespace chainerx::python {

// What the step leaves in a place.
struct Left : Traversable {
    // Adds the arrays in the value, which may be null. What is left has no graph.
    Left(NamedPlace at, PyObject* value, std::vector<Array>& arrays,
         const ResultForm::Was& was = {})
        : at{std::move(at)} {
        if (value != nullptr) form.emplace(ResultForm::OfState(value, arrays, was));
    }

    int Traverse(visitproc visit, void* arg) const override {
        const int r = at.place.Traverse(visit, arg);
        return r != 0 || !form ? r : form->Traverse(visit, arg);
    }
    void Set(const std::vector<Array>& arrays) const {
        const Ref value{form ? form->Fill(arrays) : nullptr};
        at.place.Set(value.get());
    }

    std::string text() const { return form ? form->text() : std::string{}; }

    const NamedPlace at;
    std::optional<ResultForm> form;  // none: the place is left empty
};

namespace {

thread_local NotedPlaces* t_noted{nullptr};

constexpr const char* kAdvice =
    ", so that its backward would go on into an earlier call, which a replay can't. Unchain it at "
    "the end of the step (loss.unchain_backward()), or run the step in chainer.no_backprop_mode()";

std::vector<Array> ArraysIn(PyObject* o) {
    const internal::Unobserved by_ourselves;
    std::vector<Array> arrays;
    CollectArrays(o, arrays);
    return arrays;
}

// Adds views of the NumPy arrays in a value, as far as their memory can be shared.
void CollectNumpy(PyObject* o, std::vector<Array>& arrays, int depth = 0) {
    if (o == nullptr || depth > kMaxNesting) return;
    if (PyObject_TypeCheck(o, Numpy().ndarray)) {
        Device& device = GetDefaultContext().GetNativeBackend().GetDevice(0);
        try {
            arrays.push_back(FromNumpy(o, std::nullopt, Sharing::kWherePossible, device));
        } catch (const OutOfMemoryError&) {
            throw;
        } catch (const ChainerxError&) {  // of objects
            PyErr_Clear();
        }
    } else if (PyTuple_Check(o) || PyList_CheckExact(o)) {
        const Items items{o};
        for (Py_ssize_t i = 0; i < items.size(); ++i) CollectNumpy(items[i], arrays, depth + 1);
    } else if (PyDict_CheckExact(o) || PyODict_CheckExact(o)) {
        const Ref values = Check(PyMapping_Values(o));
        CollectNumpy(Check(PySequence_List(values.get())).get(), arrays, depth + 1);
    } else if (const std::optional<Attributes> attributes = AttributesOf(o)) {
        for (const auto& [name, value] : *attributes) CollectNumpy(value.get(), arrays, depth + 1);
    }
}

std::vector<Array> NumpyIn(PyObject* o) {
    const internal::Unobserved by_ourselves;
    std::vector<Array> arrays;
    CollectNumpy(o, arrays);
    return arrays;
}

bool IsInGraph(const Array& x) {
    const internal::Slot* slot = x.body()->slot;
    return slot != nullptr && !internal::IsLeaf(*slot) && x.IsBackpropRequired(AnyGraph{});
}

bool GoesOn(const Array& x) { return IsInGraph(x) && !IsEnd(x); }

bool HoldsMemoryOf(const std::vector<Array>& arrays, const Array& x) {
    return std::ranges::any_of(arrays, [&](const Array& a) { return a.buffer() == x.buffer(); });
}

class LeftPart : public internal::NamedPart {
 public:
    explicit LeftPart(std::shared_ptr<Left> left) : left_{std::move(left)} {}

    bool Prepare() override { return true; }
    void Finish(std::span<const Array> arrays) override {
        left_->Set({arrays.begin(), arrays.end()});
    }
    bool IsSame(const ReplayPart& o) const override {
        const auto* other = dynamic_cast<const LeftPart*>(&o);
        return other != nullptr && other->left_->at.place == left_->at.place &&
               other->left_->text() == left_->text();
    }
    Again again() const override { return Again::kDone; }

    std::string name() const override { return left_->at.name; }
    std::vector<Array> Now() const override {
        std::vector<Array> arrays;
        const Ref value = left_->at.place.Get();
        if (Left{left_->at, value.get(), arrays}.text() != left_->text()) arrays.clear();
        return arrays;
    }

 private:
    std::shared_ptr<Left> left_;
};

// capture_attribute(object, name)
PyObject* NoteAttribute(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 2) throw TypeError{"capture_attribute: expected an object and a name"};
    if (t_noted == nullptr || internal::CurrentCapture() == nullptr) Py_RETURN_NONE;
    const Ref owner = Check(PyObject_GenericGetDict(args[0], nullptr));
    const char* name = PyUnicode_AsUTF8(args[1]);
    if (name == nullptr) throw PythonError{};
    Place place{owner.get(), args[1]};
    Ref before = place.Get();
    t_noted->Add({std::move(place), StrCat(Py_TYPE(args[0])->tp_name, ".", name)},
                 std::move(before), true);
    Py_RETURN_NONE;
} catch (...) {
    return Failed("capture_attribute");
}

PyMethodDef g_state_functions[] = {
    {"capture_attribute",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&NoteAttribute)), METH_FASTCALL,
     "Tells the step that is recorded, before it sets an attribute, that it does."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void CollectArrays(PyObject* o, std::vector<Array>& arrays, int depth) {
    if (o == nullptr || depth > kMaxNesting) return;
    if (IsNdArray(o)) {
        arrays.push_back(Self(o));
    } else if (engine::IsVariable(o)) {
        engine::VariableObject* v = engine::AsVariable(o);
        if (v->storage->object == Py_None || IsParameter(o)) return;
        arrays.push_back(engine::RecordOf("capture", v));
    } else if (PyTuple_Check(o) || PyList_CheckExact(o)) {
        const Items items{o};
        for (Py_ssize_t i = 0; i < items.size(); ++i) CollectArrays(items[i], arrays, depth + 1);
    } else if (PyDict_CheckExact(o) || PyODict_CheckExact(o)) {
        const Ref values = Check(PyMapping_Values(o));
        const Items items{values.get()};
        for (Py_ssize_t i = 0; i < items.size(); ++i) CollectArrays(items[i], arrays, depth + 1);
    } else if (const std::optional<Attributes> attributes = AttributesOf(o)) {
        for (const auto& [name, value] : *attributes) {
            CollectArrays(value.get(), arrays, depth + 1);
        }
    }
}

NotedPlaces::NotedPlaces() : outer_{std::exchange(t_noted, this)} {}

NotedPlaces::~NotedPlaces() { t_noted = outer_; }

std::vector<std::shared_ptr<const Traversable>>* NotedPlaces::held() {
    return t_noted != nullptr ? &t_noted->held_ : nullptr;
}

NotedPlaces* NotedPlaces::Current() { return t_noted; }

void NotedPlaces::Look() {
    if (!watch_) return;
    const internal::Unobserved by_ourselves;
    for (const bool is_plain : {false, true}) {
        const char* const which = is_plain ? "constants" : "changes";
        const Ref found = Check(PyObject_CallMethod(watch_.get(), which, nullptr));
        const Items items{found.get()};
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            PyObject* owner;
            PyObject* key;
            const char* name;
            PyObject* value = nullptr;
            if (PyArg_ParseTuple(items[i], "OOs|O", &owner, &key, &name, &value) == 0) {
                throw PythonError{};
            }
            Add({Place{owner, key != Py_None ? key : nullptr}, name}, Ref{Py_XNewRef(value)}, false,
                is_plain);
        }
    }
}

void NotedPlaces::Add(NamedPlace at, Ref before, bool is_told, bool is_plain) {
    const auto is_it = [&](const Noted& noted) { return noted.at.place == at.place; };
    const auto it = std::ranges::find_if(all_, is_it);
    if (it == all_.end()) {
        all_.push_back({std::move(at), std::move(before), is_told, false, is_plain});
    } else {
        it->is_plain = it->is_plain || is_plain;
    }
}

std::vector<State::Before> State::AddTo(Arguments& arguments) const {
    std::vector<Before> all;
    for (size_t i = 0; i < places_.size(); ++i) {
        Ref value = places_[i].place.Get();
        const std::vector<Array> now = ArraysIn(value.get());
        if (std::ranges::any_of(now, &IsInGraph) && std::ranges::none_of(now, &GoesOn)) {
            std::vector<Array> arrays;
            const Left left{places_[i], value.get(), arrays};
            left.Set(arrays);
            value = places_[i].place.Get();
        }
        const size_t first = arguments.arrays().size();
        arguments.AddState(value.get(), places_[i].name.c_str());
        Before before{i, {}};
        for (size_t k = first; k < arguments.arrays().size(); ++k) {
            const Array& x = arguments.arrays()[k];
            const bool is_in_graph = IsInGraph(x);
            arguments.AddMark(is_in_graph);
            if (is_in_graph) before.arrays.push_back(x);
        }
        if (!before.arrays.empty()) all.push_back(std::move(before));
    }
    return all;
}

bool State::IsKnown(const Place& place) const {
    return std::ranges::any_of(places_, [&](const NamedPlace& p) { return p.place == place; });
}

bool State::Finish(internal::Recorder& recorder, const std::vector<Before>& before,
                   std::vector<NotedPlaces::Noted>& changes, PyObject* result,
                   std::vector<std::weak_ptr<const Traversable>>& held) {
    const auto fail = [&](const std::string& name, const char* what) {
        recorder.Fail(StrCat("capture: the step reads ", name, ", ", what, kAdvice));
        return false;
    };
    for (const Before& b : before) {
        if (std::ranges::any_of(b.arrays, [&](const Array& x) { return recorder.Uses(x); })) {
            return fail(places_[b.place].name, "which is part of a graph from before it");
        }
    }
    struct Kept {
        NamedPlace* at;
        Ref now;
        bool is_set;  // at each replay, even if it is what it was
    };
    struct Changed {
        NotedPlaces::Noted* noted;
        Ref now;
        std::vector<Array> arrays;
    };
    std::vector<Changed> all;
    for (NotedPlaces::Noted& change : changes) {
        Ref now = change.at.place.Get();
        const bool is_changed = now.get() != change.before.get();
        if (!is_changed && !change.is_told && !change.is_shown && !change.is_plain) continue;
        std::vector<Array> arrays = ArraysIn(now.get());
        all.push_back({&change, std::move(now), std::move(arrays)});
    }
    const std::vector<Array> returned = ArraysIn(result);
    // Without a kernel, a step reads an array from before it if it returns it, or puts it
    // elsewhere.
    const auto is_passed_on = [&](const Changed& from, const Array& x) {
        if (!recorder.Was(x) || HoldsMemoryOf(from.arrays, x)) return false;
        return HoldsMemoryOf(returned, x) || std::ranges::any_of(all, [&](const Changed& to) {
                   return HoldsMemoryOf(to.arrays, x);
               });
    };
    std::vector<Kept> left;
    std::vector<NamedPlace> found;
    for (Changed& changed : all) {
        NotedPlaces::Noted& change = *changed.noted;
        const std::vector<Array>& arrays = changed.arrays;
        const bool is_known = IsKnown(change.at.place);
        // Other arrays of NumPy are the program's own affair: it computes with them.
        const bool keeps_argument = std::ranges::any_of(
            NumpyIn(changed.now.get()), [&](const Array& x) { return !recorder.Was(x); });
        bool is_read = is_known;
        if (!is_known) {
            is_read = std::ranges::any_of(ArraysIn(change.before.get()),
                                          [&](const Array& x) {
                                              return recorder.Uses(x) || is_passed_on(changed, x);
                                          }) ||
                      std::ranges::any_of(NumpyIn(change.before.get()),
                                          [&](const Array& x) { return recorder.Uses(x); });
            if (is_read) found.push_back(change.at);
        }
        if (is_read && std::ranges::any_of(arrays, &GoesOn)) {
            return fail(change.at.name, "and leaves a part of its graph there");
        }
        const bool is_other = change.is_shown || change.is_plain || keeps_argument;
        if (!is_read && arrays.empty() && !is_other) continue;
        const bool is_set = is_read || change.is_told || is_other;
        left.push_back({&change.at, std::move(changed.now), is_set});
    }
    if (!found.empty()) {
        std::string names;
        for (NamedPlace& p : found) {
            names += StrCat(names.empty() ? "" : ", ", p.name);
            places_.push_back(std::move(p));
        }
        recorder.Discard(StrCat("capture: the step reads what the call before has left in ", names,
                                ", which is another place each time"));
        return true;
    }
    const internal::Unobserved by_ourselves;
    for (auto& [at, now, is_set] : left) {
        std::vector<Array> arrays;
        const auto kept = std::make_shared<Left>(std::move(*at), now.get(), arrays,
                                                 [&](const Array& x) { return recorder.Was(x); });
        if (!is_set && kept->form->stays()) continue;
        held.emplace_back(kept);
        recorder.Add(std::make_shared<LeftPart>(kept), arrays);
        kept->Set(arrays);
    }
    return false;
}

int State::Traverse(visitproc visit, void* arg) const {
    for (const NamedPlace& p : places_) {
        if (const int r = p.place.Traverse(visit, arg); r != 0) return r;
    }
    return 0;
}

ShownPlaces::ShownPlaces(NotedPlaces& noted, std::vector<Array>& arrays) {
    noted.Look();
    for (NotedPlaces::Noted& change : noted.all()) {
        const Ref now = change.at.place.Get();
        if (now.get() == change.before.get() || ArraysIn(now.get()).empty()) continue;
        const internal::Unobserved by_ourselves;
        NamedPlace at{Place{change.at.place}, change.at.name};
        all_.push_back(std::make_shared<const Left>(std::move(at), now.get(), arrays));
        change.is_shown = true;
    }
}

void ShownPlaces::Set(const std::vector<Array>& arrays) const {
    for (const auto& left : all_) left->Set(arrays);
}

bool ShownPlaces::IsSame(const ShownPlaces& o) const {
    return std::ranges::equal(all_, o.all_, [](const auto& a, const auto& b) {
        return a->at.place == b->at.place && a->text() == b->text();
    });
}

int ShownPlaces::Traverse(visitproc visit, void* arg) const {
    for (const auto& left : all_) {
        if (const int r = left->Traverse(visit, arg); r != 0) return r;
    }
    return 0;
}

void InitCaptureState(PyObject* engine) {
    if (PyModule_AddFunctions(engine, g_state_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python
