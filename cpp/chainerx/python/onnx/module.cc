// The extension module chainerx._onnx: models, under python/chainerx/onnx. It is not part of _core,
// so that only programs that run models load them.
#include <algorithm>
#include <climits>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/onnx/model.h"
#include "chainerx/python/capture/variant_rows.h"
#include "chainerx/python/core_api.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

using onnx::Model;
using onnx::Value;
using onnx::ValueInfo;
using onnx::Values;

const CoreApi* g_core = nullptr;
// A sequence of sequences is all that ONNX has; deeper ones are a list that contains itself.
constexpr int kMaxDepth = 8;

struct PyModel {
    PyObject_HEAD Model* model;
};

Model& ModelOf(PyObject* self) { return *reinterpret_cast<PyModel*>(self)->model; }

// Runs f, and turns its exceptions into Python's.
PyObject* Guarded(const char* op, auto f) noexcept {
    try {
        return f().Release();
    } catch (const PythonError&) {
    } catch (const ChainerxError&) {
        g_core->translate_exception(op);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
    return nullptr;
}

Ref ToStr(const std::string& text) {
    return Check(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

std::string FromStr(PyObject* o) {
    Py_ssize_t n;
    const char* text = PyUnicode_AsUTF8AndSize(o, &n);
    if (text == nullptr) throw PythonError{};
    return {text, static_cast<size_t>(n)};
}

Device& DeviceOf(PyObject* o) {
    Device* device = g_core->as_device(o);
    if (device == nullptr) throw TypeError{"device must be a Device, got ", Py_TYPE(o)->tp_name};
    return *device;
}

const Array& ArrayOf(PyObject* o) {
    if (Py_TYPE(o) != g_core->ndarray_type) {
        throw TypeError{"expected an ndarray, got ", Py_TYPE(o)->tp_name};
    }
    return Self(o);
}

Value ToValue(PyObject* o, int depth) {
    if (o == Py_None) return {};
    if (!PyList_Check(o)) return ArrayOf(o);
    if (depth == kMaxDepth) throw ValueError{"sequences are nested more than ", kMaxDepth, " deep"};
    const Items items{o};
    Values values;
    for (Py_ssize_t i = 0; i < items.size(); ++i) values.push_back(ToValue(items[i], depth + 1));
    return Value::Sequence(std::move(values));
}

Ref FromValues(const Values& values);

Ref FromValue(const Value& value) {
    if (value.is_none()) return Ref{Py_NewRef(Py_None)};
    if (value.array.is_null()) return FromValues(*value.sequence);
    return Check(g_core->wrap(value.array));
}

Ref FromValues(const Values& values) {
    Ref list = Check(PyList_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) {
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), FromValue(values[i]).Release());
    }
    return list;
}

// (name, dtype, lengths and names of the axes, whether it is required); None for what is unknown.
Ref FromInfo(const ValueInfo& info) {
    Ref dtype{Py_NewRef(Py_None)};
    if (info.dtype.has_value()) dtype = ToStr(GetDtypeName(*info.dtype));
    Ref shape{Py_NewRef(Py_None)};
    if (info.has_shape) {
        shape = Check(PyTuple_New(static_cast<Py_ssize_t>(info.shape.size())));
        for (size_t i = 0; i < info.shape.size(); ++i) {
            Ref length{Py_NewRef(Py_None)};
            if (info.shape[i] >= 0) {
                length = Check(PyLong_FromLongLong(info.shape[i]));
            } else if (!info.names[i].empty()) {
                length = ToStr(info.names[i]);
            }
            PyTuple_SET_ITEM(shape.get(), static_cast<Py_ssize_t>(i), length.Release());
        }
    }
    const Ref name = ToStr(info.name);
    return Check(PyTuple_Pack(4, name.get(), dtype.get(), shape.get(),
                              info.is_required ? Py_True : Py_False));
}

Ref FromInfos(const std::vector<ValueInfo>& infos) {
    Ref list = Check(PyList_New(0));
    for (const ValueInfo& info : infos) {
        if (PyList_Append(list.get(), FromInfo(info).get()) < 0) throw PythonError{};
    }
    return list;
}

Ref FromModel(PyTypeObject* type, Model model) {
    Ref self = Check(type->tp_alloc(type, 0));
    reinterpret_cast<PyModel*>(self.get())->model = new Model{std::move(model)};
    return self;
}

PyObject* NewModel(PyTypeObject* type, PyObject* args, PyObject*) {
    return Guarded("onnx", [&] {
        PyObject* source;
        PyObject* folder;
        PyObject* device;
        PyObject* names;
        if (!PyArg_ParseTuple(args, "OUOO!", &source, &folder, &device, &PyList_Type, &names)) {
            throw PythonError{};
        }
        Device& target = DeviceOf(device);
        std::vector<std::string> outputs;
        const Items items{names};
        for (Py_ssize_t i = 0; i < items.size(); ++i) outputs.push_back(FromStr(items[i]));
        std::optional<Model> model;
        if (PyBytes_Check(source)) {
            const std::string_view bytes{PyBytes_AS_STRING(source),
                                         static_cast<size_t>(PyBytes_GET_SIZE(source))};
            model = Model::FromBytes(bytes, FromStr(folder), target, outputs);
        } else {
            model = Model::Load(FromStr(source), target, outputs);
        }
        return FromModel(type, std::move(*model));
    });
}

PyObject* WithoutParameters(PyObject* self, PyObject* device) {
    return Guarded("onnx", [&] {
        return FromModel(Py_TYPE(self), ModelOf(self).WithoutParameters(DeviceOf(device)));
    });
}

void DeleteModel(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    delete reinterpret_cast<PyModel*>(self)->model;
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* RunModel(PyObject* self, PyObject* inputs) {
    return Guarded("onnx", [&] {
        if (!PyList_Check(inputs)) throw TypeError{"inputs must be a list"};
        const Value values = ToValue(inputs, 0);
        return FromValues(ModelOf(self).Run(*values.sequence));
    });
}

PyObject* RunModelWith(PyObject* self, PyObject* args) {
    return Guarded("onnx", [&] {
        PyObject* inputs;
        PyObject* parameters;
        int trains;
        PyObject* draw_key;
        if (!PyArg_ParseTuple(args, "O!O!pO", &PyList_Type, &inputs, &PyList_Type, &parameters,
                              &trains, &draw_key)) {
            throw PythonError{};
        }
        const Value values = ToValue(inputs, 0);
        onnx::RunOptions options;
        options.trains = trains != 0;
        options.draw_key = [draw_key] {
            const Ref key = Check(PyObject_CallNoArgs(draw_key));
            const uint64_t value = PyLong_AsUnsignedLongLong(key.get());
            if (PyErr_Occurred() != nullptr) throw PythonError{};
            return value;
        };
        const Items items{parameters};
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            options.parameters.push_back(ArrayOf(items[i]));
        }
        std::vector<std::pair<size_t, Array>> statistics;
        options.statistics = &statistics;
        const Ref outputs = FromValues(ModelOf(self).Run(*values.sequence, options));
        const Ref dict = Check(PyDict_New());
        for (const auto& [i, value] : statistics) {
            const Ref key = Check(PyLong_FromSize_t(i));
            if (PyDict_SetItem(dict.get(), key.get(), Check(g_core->wrap(value)).get()) < 0) {
                throw PythonError{};
            }
        }
        return Check(PyTuple_Pack(2, outputs.get(), dict.get()));
    });
}

PyObject* StatisticsOf(PyObject* self, PyObject*) {
    return Guarded("onnx", [&] {
        const Ref list = Check(PyList_New(0));
        for (const bool is_statistic : ModelOf(self).statistics()) {
            if (PyList_Append(list.get(), is_statistic ? Py_True : Py_False) < 0) {
                throw PythonError{};
            }
        }
        return Ref{Py_NewRef(list.get())};
    });
}

PyObject* ParametersOf(PyObject* self, PyObject*) {
    return Guarded("onnx", [&] {
        Ref dict = Check(PyDict_New());
        for (const auto& [name, array] : ModelOf(self).parameters()) {
            const Ref value = Check(g_core->wrap(array));
            if (PyDict_SetItem(dict.get(), ToStr(name).get(), value.get()) < 0) throw PythonError{};
        }
        return dict;
    });
}

PyObject* SetParameterOf(PyObject* self, PyObject* args) {
    return Guarded("onnx", [&] {
        PyObject* name;
        PyObject* value;
        if (!PyArg_ParseTuple(args, "UO", &name, &value)) throw PythonError{};
        ModelOf(self).SetParameter(FromStr(name), ArrayOf(value));
        return Ref{Py_NewRef(Py_None)};
    });
}

PyObject* SetCapturesOf(PyObject* self, PyObject* n_kinds) {
    return Guarded("onnx", [&] {
        const long n = PyLong_AsLong(n_kinds);
        if (n == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
        ModelOf(self).SetCaptures(static_cast<int>(std::clamp<long>(n, INT_MIN, INT_MAX)));
        return Ref{Py_NewRef(Py_None)};
    });
}

PyObject* CapturesOf(PyObject* self, PyObject*) {
    return Guarded("onnx", [&] { return RowsOf(ModelOf(self).captures()); });
}

PyObject* MoveModel(PyObject* self, PyObject* device) {
    return Guarded("onnx", [&] {
        ModelOf(self).ToDevice(DeviceOf(device));
        return Ref{Py_NewRef(Py_None)};
    });
}

PyObject* InputsOf(PyObject* self, void*) {
    return Guarded("onnx", [&] { return FromInfos(ModelOf(self).inputs()); });
}
PyObject* OutputsOf(PyObject* self, void*) {
    return Guarded("onnx", [&] { return FromInfos(ModelOf(self).outputs()); });
}
PyObject* DeviceOfModel(PyObject* self, void*) {
    return Guarded("onnx", [&] { return Check(g_core->from_device(ModelOf(self).device())); });
}

PyMethodDef g_methods[] = {
    {"run", RunModel, METH_O, "Runs the model on a list of values."},
    {"run_with", RunModelWith, METH_VARARGS,
     "Runs it with other parameters; says whether nodes in training mode are run in it, and what "
     "gives the RNG key of a run that draws numbers. "
     "Returns the outputs, and running statistics by index of the parameter."},
    {"statistics", StatisticsOf, METH_NOARGS,
     "Returns for each parameter whether it is a running statistic."},
    {"without_parameters", WithoutParameters, METH_O,
     "Returns a copy on a device that has no parameters."},
    {"parameters", ParametersOf, METH_NOARGS, "Returns the parameters by name."},
    {"set_parameter", SetParameterOf, METH_VARARGS, "Replaces a parameter."},
    {"set_captures", SetCapturesOf, METH_O, "For how many kinds of inputs runs are captured."},
    {"captures", CapturesOf, METH_NOARGS,
     "Returns what has been recorded: arguments, kernels, fused, bytes, replays, reason."},
    {"to_device", MoveModel, METH_O, "Moves the weights."},
    {}};
PyGetSetDef g_attributes[] = {
    {"inputs", InputsOf, nullptr, "What the file says of inputs.", nullptr},
    {"outputs", OutputsOf, nullptr, "The same of outputs.", nullptr},
    {"device", DeviceOfModel, nullptr, "Where the weights are.", nullptr},
    {}};
PyType_Slot g_slots[] = {{Py_tp_doc, const_cast<char*>("A model of ONNX.")},
                         {Py_tp_new, reinterpret_cast<void*>(&NewModel)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(&DeleteModel)},
                         {Py_tp_methods, g_methods},
                         {Py_tp_getset, g_attributes},
                         {0, nullptr}};
PyType_Spec g_spec = {"chainerx._onnx.Model", sizeof(PyModel), 0, Py_TPFLAGS_DEFAULT, g_slots};

PyModuleDef g_module = {PyModuleDef_HEAD_INIT,
                        "chainerx._onnx",
                        "Models of ONNX.",
                        -1,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr};

}  // namespace
}  // namespace chainerx::python

PyMODINIT_FUNC PyInit__onnx() {
    using namespace chainerx::python;
    g_core = static_cast<const CoreApi*>(PyCapsule_Import(kCoreApiName, 0));
    if (g_core == nullptr) return nullptr;
    Ref module{PyModule_Create(&g_module)};
    Ref type{PyType_FromSpec(&g_spec)};
    if (!module || !type || PyModule_AddObjectRef(module.get(), "Model", type.get()) < 0) {
        return nullptr;
    }
    return module.Release();
}
