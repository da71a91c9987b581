#include "chainerx/python/engine/application.h"

#include <string>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {

using internal::Region;

namespace {

bool IsInGraph(PyObject* array, Kind kind) {
    return kind == Kind::kChainerx && Self(array).body()->slot != nullptr &&
           Self(array).IsBackpropRequired(AnyGraph{});
}

}  // namespace

void Application::SetArray(Input& input, PyObject* array, Kind kind) {
    const bool in_graph = IsInGraph(array, kind);
    requires_grad_ |= in_graph;
    if (needs_.has_variables) {
        input.object = MakeVariable(array, kind);
        input.is_variable = true;
        return;
    }
    input.object = Py_NewRef(array);
    // If nothing is recorded, the input array itself is the output.
    const bool itself = in_graph || (kind == Kind::kChainerx && !needs_.records);
    input.array = itself ? Self(array) : ChainerxArrayOf(name_, array);
}

PyObject* Application::MakeVariable(PyObject* array, Kind kind) {
    if (IsInGraph(array, kind)) return NewVariable(Self(array), kind, true);
    return NewVariable(ChainerxArrayOf(name_, array), kind, false, array);
}

Ref Application::InputTuple() const {
    Ref list = Check(PyList_New(0));
    for (size_t i = 0; i < size(); ++i) {
        const Input& input = inputs_[i];
        if (input.object == nullptr) continue;
        const Ref array{input.is_variable ? ArrayOf(input.variable()) : Py_NewRef(input.object)};
        if (PyList_Append(list.get(), array.get()) < 0) throw PythonError{};
    }
    return Check(PyList_AsTuple(list.get()));
}

const Application::Input* Application::InputOf(const Array& y) const {
    for (const Input& input : inputs_) {
        if (input.object == nullptr) continue;
        const internal::ArrayBody* body =
            input.is_variable ? input.variable()->body : input.array.body();
        if (body == y.body()) return &input;
    }
    return nullptr;
}

PyObject* Application::InputAgain(const Input& input, Array y) {
    if (input.is_variable) return Py_NewRef(input.object);
    if (!needs_.records || IsInGraph(input.object, kind_)) {
        return MakeVariable(input.object, kind_);
    }
    return NewVariable(std::move(y), kind_, false, input.object);
}

void Application::AddOpaque(const OpInfo& op, Results& results, Region* region) {
    std::vector<Array> opaque;
    for (size_t i = 0; i < results.size(); ++i) {
        const Array& y = results[i];
        if (y.body()->slot == nullptr && InputOf(y) == nullptr) opaque.push_back(y);
    }
    if (!opaque.empty()) internal::AddOpaqueNode(op, region, opaque);
}

void Application::ThrowNotArray(size_t i, PyObject* o) const {
    throw TypeError{name_,    ": input ",          i,
                    " is a ", Py_TYPE(o)->tp_name, ", expected a Variable or an array"};
}

std::string Application::DeviceOf(const Input& input) const {
    const Kind kind = input.is_variable ? input.variable()->storage->kind : KindOf(input.object);
    if (kind == Kind::kChainerx) return RecordOf(input).device().name();
    if (kind == Kind::kNumpy) return "@numpy";
    const Ref array{input.is_variable ? ArrayOf(input.variable()) : Py_NewRef(input.object)};
    const Ref device = Check(PyObject_GetAttrString(array.get(), "device"));
    const Ref id = Check(PyObject_GetAttrString(device.get(), "id"));
    return "@cupy:" + std::to_string(PyLong_AsLong(id.get()));
}

std::string Application::Describe(size_t i) const {
    std::string text = "input " + std::to_string(i);
    PyObject* name = inputs_[i].is_variable ? inputs_[i].variable()->name : nullptr;
    const char* given = name == nullptr ? nullptr : PyUnicode_AsUTF8(name);
    if (given == nullptr) {
        PyErr_Clear();
    } else {
        text += std::string{" ("} + given + ")";
    }
    return text + " is on " + DeviceOf(inputs_[i]);
}

bool Application::IsParameter(const Input& input) {
    return input.is_variable && PyObject_IsInstance(input.object, g_callbacks.parameter_class) == 1;
}

std::string Application::DescribeBoth(size_t first, size_t i, size_t target) const {
    return Describe(first) + ", " + Describe(i) + "; move one with chainer.get_device('" +
           DeviceOf(inputs_[target]) + "').send(x)";
}

void Application::ThrowMixed(size_t i) const {
    size_t first = 0;
    while (inputs_[first].object == nullptr) ++first;
    // Parameters stay where they are, and inputs of a model are often on the host by mistake.
    const Input& other = inputs_[i];
    const bool is_kept = IsParameter(other) && !IsParameter(inputs_[first]) &&
                         other.variable()->storage->kind != Kind::kNumpy;
    const size_t target = kind_ == Kind::kNumpy || is_kept ? i : first;
    throw TypeError{name_, ": incompatible array types are mixed in the inputs: ",
                    DescribeBoth(first, i, target)};
}

void Application::EnterCupy() {
    cupy_.Enter();
    size_t first = 0;
    while (inputs_[first].object == nullptr) ++first;
    for (size_t i = first + 1; i < size(); ++i) {
        const Input& input = inputs_[i];
        if (input.object == nullptr ||
            &RecordOf(input).device() == &RecordOf(inputs_[first]).device()) {
            continue;
        }
        const size_t target = IsParameter(input) && !IsParameter(inputs_[first]) ? i : first;
        throw DeviceError{name_, ": arrays of different devices are mixed in the inputs: ",
                          DescribeBoth(first, i, target)};
    }
}

}  // namespace chainerx::python::engine
