#include "chainerx/python/engine/config.h"

#include <structmember.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/autograd/scopes.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/library_option.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {

namespace {

// Thread-local attributes over those of another object.
struct ConfigObject {
    PyObject_HEAD PyObject* global;
    PyObject* local;  // a threading.local
};

PyTypeObject* g_config_type = nullptr;
ConfigObject* g_config = nullptr;  // chainer.config, which the engine reads

ConfigObject* AsConfig(PyObject* o) { return reinterpret_cast<ConfigObject*>(o); }

struct Names {
    PyObject* dict = PyUnicode_InternFromString("__dict__");
    PyObject* dtype = PyUnicode_InternFromString("dtype");
    PyObject* check = PyUnicode_InternFromString("_check");
    PyObject* enable_backprop = PyUnicode_InternFromString("enable_backprop");
    PyObject* type_check = PyUnicode_InternFromString("type_check");
    PyObject* debug = PyUnicode_InternFromString("debug");
    PyObject* train = PyUnicode_InternFromString("train");
    // As LibraryOption.
    PyObject* options[4] = {PyUnicode_InternFromString("use_cudnn"),
                            PyUnicode_InternFromString("use_cudnn_tensor_core"),
                            PyUnicode_InternFromString("autotune"),
                            PyUnicode_InternFromString("cudnn_deterministic")};
};

const Names& GetNames() {
    static const Names& names = *new Names;
    return names;
}

// ---- what backends read -------------------------------------------------------------------------

// `value` null: unset. Nothing is an error before it is needed, as in v7.
LibraryChoice ChoiceOf(LibraryOption option, PyObject* value) {
    if (value == nullptr) return LibraryChoice::kUnset;
    if (option == LibraryOption::kAutotune || option == LibraryOption::kDeterministic) {
        const int flag = PyObject_IsTrue(value);
        if (flag < 0) throw PythonError{};
        return flag != 0 ? LibraryChoice::kAlways : LibraryChoice::kNever;
    }
    if (PyUnicode_Check(value)) {
        constexpr std::pair<const char*, LibraryChoice> kChoices[] = {
            {"never", LibraryChoice::kNever},
            {"auto", LibraryChoice::kAuto},
            {"always", LibraryChoice::kAlways}};
        for (const auto& [text, choice] : kChoices) {
            if (PyUnicode_CompareWithASCIIString(value, text) == 0) return choice;
        }
    }
    return LibraryChoice::kInvalid;
}

void MirrorOption(PyObject* name, PyObject* value, bool of_thread) {
    const auto& options = GetNames().options;
    const auto* const found = std::find(std::begin(options), std::end(options), name);
    if (found == std::end(options)) return;
    const auto option = static_cast<LibraryOption>(found - options);
    SetLibraryOption(option, ChoiceOf(option, value), of_thread);
}

// ---- the configuration --------------------------------------------------------------------------

// The values that the running thread has set: a dict, new reference. Null with an error if there is
// none, as in an object whose __init__ was not called.
PyObject* LocalValues(ConfigObject* config) {
    if (config->local == nullptr) {
        PyErr_SetString(PyExc_AttributeError, "the configuration is not initialized");
        return nullptr;
    }
    PyObject* values = PyObject_GetAttr(config->local, GetNames().dict);
    if (values != nullptr && !PyDict_Check(values)) {
        Py_DECREF(values);
        PyErr_SetString(PyExc_TypeError, "config: expected a dict of local values");
        return nullptr;
    }
    return values;
}

// New reference; null with an error.
PyObject* Read(ConfigObject* config, PyObject* name) {
    const Ref values{LocalValues(config)};
    if (!values) return nullptr;
    if (PyObject* value = PyDict_GetItemWithError(values.get(), name)) return Py_NewRef(value);
    if (PyErr_Occurred() != nullptr) return nullptr;
    // The parent may be another configuration, or this one.
    if (Py_EnterRecursiveCall(" while reading a configuration") != 0) return nullptr;
    PyObject* value = PyObject_GetAttr(config->global, name);
    Py_LeaveRecursiveCall();
    return value;
}

PyObject* GetAttribute(PyObject* self, PyObject* name) {
    // Attributes of the class come first, though they are rarely read.
    for (const PyTypeObject* type = Py_TYPE(self); type != nullptr && type != &PyBaseObject_Type;
         type = type->tp_base) {
        if (PyDict_Contains(type->tp_dict, name) != 0) return PyObject_GenericGetAttr(self, name);
    }
    const char* text = PyUnicode_AsUTF8(name);
    if (text == nullptr) return nullptr;
    if (text[0] == '_' && text[1] == '_') return PyObject_GenericGetAttr(self, name);
    return Read(AsConfig(self), name);
}

// Sets a value of the running thread; null deletes it. Returns the previous value, or null.
Ref Exchange(ConfigObject* config, PyObject* name, PyObject* value) {
    const Names& names = GetNames();
    if (value != nullptr && name == names.dtype) {
        Check(PyObject_CallMethodObjArgs(reinterpret_cast<PyObject*>(config), names.check, name,
                                         value, nullptr));
    }
    const Ref values = Check(LocalValues(config));
    Ref old{Py_XNewRef(PyDict_GetItemWithError(values.get(), name))};
    if (!old && PyErr_Occurred() != nullptr) throw PythonError{};
    if (value != nullptr) {
        if (PyDict_SetItem(values.get(), name, value) < 0) throw PythonError{};
    } else if (PyDict_DelItem(values.get(), name) < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_AttributeError, "config.%U is not set in this thread", name);
        throw PythonError{};
    }
    const bool mirrored =
        name == names.enable_backprop || name == names.type_check || name == names.debug;
    if (config != g_config) return old;
    if (mirrored) {
        InvalidateState();
    } else {
        MirrorOption(name, value, true);
    }
    return old;
}

// `value` null: deletes.
int SetAttribute(PyObject* self, PyObject* name, PyObject* value) try {
    Exchange(AsConfig(self), name, value);
    return 0;
} catch (...) {
    TranslateException();
    return -1;
}

int InitObject(PyObject* self, PyObject* args, PyObject* keywords) {
    static const char* names[] = {"global_config", nullptr};
    PyObject* global;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:LocalConfig", const_cast<char**>(names),
                                     &global)) {
        return -1;
    }
    const Ref threading{PyImport_ImportModule("threading")};
    if (!threading) return -1;
    PyObject* local = PyObject_CallMethod(threading.get(), "local", nullptr);
    if (local == nullptr) return -1;
    Py_XSETREF(AsConfig(self)->global, Py_NewRef(global));
    Py_XSETREF(AsConfig(self)->local, local);
    return 0;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(AsConfig(self)->global);
    Py_VISIT(AsConfig(self)->local);
    return 0;
}

int Clear(PyObject* self) {
    Py_CLEAR(AsConfig(self)->global);
    Py_CLEAR(AsConfig(self)->local);
    return 0;
}

void Dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Clear(self);
    FreeInstance(self);
}

PyMemberDef g_members[] = {
    {"_global", T_OBJECT_EX, offsetof(ConfigObject, global), READONLY, "Values of all threads."},
    {"_local", T_OBJECT_EX, offsetof(ConfigObject, local), READONLY, "Values of this thread."},
    {nullptr, 0, 0, 0, nullptr}};

// ---- with blocks --------------------------------------------------------------------------------

// One active `with` block.
struct Block {
    unsigned long thread;
    Ref old;  // null: the value was not set
    std::unique_ptr<BackpropModeScope> mode;
};

// Sets a value for the duration of a `with` block. It may be entered recursively, and by several
// threads. Also a decorator of functions.
struct ContextObject {
    PyObject_HEAD PyObject* config;
    PyObject* name;
    PyObject* value;
    bool sets_mode;  // also sets the backprop mode of chainerx to the truth of `value`
    std::vector<Block> blocks;
};

PyTypeObject* g_context_type = nullptr;

ContextObject* AsContext(PyObject* o) { return reinterpret_cast<ContextObject*>(o); }

// The same for any object with a dict, such as the configuration of all threads.
Ref ExchangeIn(PyObject* config, PyObject* name, PyObject* value) {
    if (PyObject_TypeCheck(config, g_config_type)) return Exchange(AsConfig(config), name, value);
    Ref old;
    {
        const Ref values = Check(PyObject_GetAttr(config, GetNames().dict));
        if (!PyDict_Check(values.get())) throw TypeError{"using_config: expected a configuration"};
        old = Ref{Py_XNewRef(PyDict_GetItemWithError(values.get(), name))};
    }
    const int result =
        value != nullptr ? PyObject_SetAttr(config, name, value) : PyObject_DelAttr(config, name);
    if (result < 0) throw PythonError{};
    return old;
}

PyObject* Enter(PyObject* self, PyObject*) try {
    ContextObject* c = AsContext(self);
    c->blocks.push_back(
        {PyThread_get_thread_ident(), ExchangeIn(c->config, c->name, c->value), nullptr});
    if (c->sets_mode) {  // no other thread has run since
        c->blocks.back().mode = std::make_unique<BackpropModeScope>(
            GetDefaultContext(), ~uint64_t{0}, c->value == Py_True);
    }
    Py_RETURN_NONE;
} catch (...) {
    return Failed();
}

PyObject* Exit(PyObject* self, PyObject* const*, Py_ssize_t) try {
    ContextObject* c = AsContext(self);
    const unsigned long thread = PyThread_get_thread_ident();
    const auto last = std::find_if(c->blocks.rbegin(), c->blocks.rend(),
                                   [thread](const Block& b) { return b.thread == thread; });
    if (last == c->blocks.rend()) throw ChainerxError{"using_config: left but not entered"};
    const Block block = std::move(*last);
    c->blocks.erase(std::next(last).base());
    ExchangeIn(c->config, c->name, block.old.get());
    if (block.mode != nullptr) block.mode->Leave();
    Py_RETURN_NONE;
} catch (...) {
    return Failed();
}

PyObject* Self(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyObject* Decorate(PyObject* self, PyObject* args, PyObject*) {
    PyObject* function;
    if (!PyArg_ParseTuple(args, "O:using_config", &function)) return nullptr;
    const Ref contextlib{PyImport_ImportModule("contextlib")};
    if (!contextlib) return nullptr;
    const Ref decorator{PyObject_GetAttrString(contextlib.get(), "ContextDecorator")};
    if (!decorator) return nullptr;
    return PyObject_CallMethod(decorator.get(), "__call__", "OO", self, function);
}

PyObject* NewContext(PyObject* config, PyObject* name, PyObject* value, bool sets_mode) {
    PyObject* o = g_context_type->tp_alloc(g_context_type, 0);
    if (o == nullptr) return nullptr;
    ContextObject* c = AsContext(o);
    c->config = Py_NewRef(config);
    c->name = Py_NewRef(name);
    c->value = Py_NewRef(value);
    c->sets_mode = sets_mode;
    new (&c->blocks) std::vector<Block>;
    return o;
}

// using_config(name, value, config)
PyObject* UsingConfig(PyObject*, PyObject* const* args, Py_ssize_t n) {
    if (n != 3 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "using_config: expected a name, a value and a config");
        return nullptr;
    }
    PyObject* name = Py_NewRef(args[0]);
    PyUnicode_InternInPlace(&name);
    PyObject* o = NewContext(args[2], name, args[1], false);
    Py_DECREF(name);
    return o;
}

PyObject* BackpropMode(PyObject*, PyObject* enabled) {
    if (!PyBool_Check(enabled) || g_config == nullptr) {
        PyErr_SetString(PyExc_TypeError, "backprop_mode: expected a bool");
        return nullptr;
    }
    return NewContext(reinterpret_cast<PyObject*>(g_config), GetNames().enable_backprop, enabled,
                      true);
}

int TraverseContext(PyObject* self, visitproc visit, void* arg) {
    ContextObject* c = AsContext(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(c->config);
    Py_VISIT(c->value);
    for (const Block& block : c->blocks) Py_VISIT(block.old.get());
    return 0;
}

int ClearContext(PyObject* self) {
    Py_CLEAR(AsContext(self)->value);
    const std::vector<Block> blocks = std::move(AsContext(self)->blocks);
    return 0;
}

void DeallocContext(PyObject* self) {
    PyObject_GC_UnTrack(self);
    ContextObject* c = AsContext(self);
    Py_CLEAR(c->config);
    Py_CLEAR(c->name);
    Py_CLEAR(c->value);
    c->blocks.~vector();
    FreeInstance(self);
}

PyMethodDef g_context_methods[] = {
    {"__enter__", &Enter, METH_NOARGS, "Sets the value."},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Exit)), METH_FASTCALL,
     "Restores the previous value."},
    {"_recreate_cm", &Self, METH_NOARGS, "For contextlib.ContextDecorator."},
    {nullptr, nullptr, 0, nullptr}};

// ---- the module ---------------------------------------------------------------------------------

PyObject* SetConfig(PyObject*, PyObject* config) try {
    if (!PyObject_TypeCheck(config, g_config_type)) {
        PyErr_SetString(PyExc_TypeError, "set_config: expected a LocalConfig");
        return nullptr;
    }
    Py_XSETREF(g_config, AsConfig(Py_NewRef(config)));
    InvalidateState();
    for (PyObject* name : GetNames().options) {
        const Ref value{PyObject_GetAttr(g_config->global, name)};
        if (!value) PyErr_Clear();
        MirrorOption(name, value.get(), false);
    }
    Py_RETURN_NONE;
} catch (...) {
    return Failed();
}

PyMethodDef g_functions[] = {
    {"set_config", &SetConfig, METH_O, "The configuration that the engine reads."},
    {"using_config", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&UsingConfig)),
     METH_FASTCALL, "Result of chainer.using_config."},
    {"backprop_mode", &BackpropMode, METH_O,
     "Result of chainer.no_backprop_mode (False) and force_backprop_mode (True)."},
    {nullptr, nullptr, 0, nullptr}};

bool ReadFlag(PyObject* name) {
    const Ref value = Check(Read(g_config, name));
    const int flag = PyObject_IsTrue(value.get());
    if (flag < 0) throw PythonError{};
    return flag != 0;
}

}  // namespace

void ReadConfig(State& state) {
    if (g_config == nullptr) return;
    const Names& names = GetNames();
    state.enable_backprop = ReadFlag(names.enable_backprop);
    state.type_check = ReadFlag(names.type_check);
    state.debug = ReadFlag(names.debug);
}

void MirrorGlobal(PyObject* global_config, PyObject* name, PyObject* value) {
    if (g_config != nullptr && g_config->global == global_config) MirrorOption(name, value, false);
}

namespace {

// Adds names and values. Values are constants: each is kept, so that its address says which it is.
void AddValues(std::string& key, PyObject* dict) {
    static PyObject* kept = PyDict_New();
    if (kept == nullptr) throw PythonError{};
    PyObject* name;
    PyObject* value;
    for (Py_ssize_t i = 0; PyDict_Next(dict, &i, &name, &value) != 0;) {
        key.append(reinterpret_cast<const char*>(&name), sizeof(name));
        key.append(reinterpret_cast<const char*>(&value), sizeof(value));
        if (value == Py_None || PyBool_Check(value)) continue;
        const Ref address = Check(PyLong_FromVoidPtr(value));
        if (PyDict_SetDefault(kept, address.get(), value) == nullptr) throw PythonError{};
    }
    key += ';';
}

}  // namespace

uint64_t GetConfigNumber() {
    // Guarded by the GIL. The last configuration that was asked for, most often the same one again.
    static DictVersion global_version;
    static DictVersion local_version;
    static PyObject* last_local = nullptr;  // not owned: a version belongs to one dict
    static uint64_t last_number = 0;
    static auto& numbers = *new std::map<std::string, uint64_t>;
    if (g_config == nullptr) return 0;
    const Ref global{PyObject_GenericGetDict(g_config->global, nullptr)};
    if (!global) PyErr_Clear();
    const Ref local = Check(LocalValues(g_config));
    if (global && local.get() == last_local && global_version.IsOf(global.get()) &&
        local_version.IsOf(local.get())) {
        return last_number;
    }
    std::string key;
    if (global) AddValues(key, global.get());
    AddValues(key, local.get());
    last_number = numbers.try_emplace(std::move(key), numbers.size() + 1).first->second;
    if (global) global_version = DictVersion{global.get()};
    local_version = DictVersion{local.get()};
    last_local = local.get();
    return last_number;
}

bool IsTraining() { return g_config != nullptr && ReadFlag(GetNames().train); }

BackpropConfig::BackpropConfig(bool enabled)
    : state_{GetState()}, changed_{g_config != nullptr && state_.enable_backprop != enabled} {
    if (!changed_) return;
    PyObject* name = GetNames().enable_backprop;
    const Ref values = Check(LocalValues(g_config));
    old_ = Ref{Py_XNewRef(PyDict_GetItemWithError(values.get(), name))};
    if (PyDict_SetItem(values.get(), name, enabled ? Py_True : Py_False) < 0) throw PythonError{};
    state_.enable_backprop = enabled;
}

BackpropConfig::~BackpropConfig() {
    if (!changed_) return;
    state_.enable_backprop = !state_.enable_backprop;
    SavedError error;
    PyObject* name = GetNames().enable_backprop;
    if (const Ref values{LocalValues(g_config)}) {
        if (old_) {
            PyDict_SetItem(values.get(), name, old_.get());
        } else {
            PyDict_DelItem(values.get(), name);
        }
    }
    error.Restore();
}

void InitConfig(PyObject* module) {
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&PyType_GenericNew)},
        {Py_tp_init, reinterpret_cast<void*>(&InitObject)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_traverse, reinterpret_cast<void*>(&Traverse)},
        {Py_tp_clear, reinterpret_cast<void*>(&Clear)},
        {Py_tp_getattro, reinterpret_cast<void*>(&GetAttribute)},
        {Py_tp_setattro, reinterpret_cast<void*>(&SetAttribute)},
        {Py_tp_members, g_members},
        {Py_tp_doc,
         const_cast<char*>("LocalConfig(global_config)\n--\n\nThe part of chainer.config that is "
                           "written in C++.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.LocalConfig", sizeof(ConfigObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                               slots};
    static PyType_Slot context_slots[] = {
        {Py_tp_dealloc, reinterpret_cast<void*>(&DeallocContext)},
        {Py_tp_traverse, reinterpret_cast<void*>(&TraverseContext)},
        {Py_tp_clear, reinterpret_cast<void*>(&ClearContext)},
        {Py_tp_methods, g_context_methods},
        {Py_tp_call, reinterpret_cast<void*>(&Decorate)},
        {Py_tp_doc, const_cast<char*>("Context manager that sets a value of the configuration.")},
        {0, nullptr}};
    static PyType_Spec context_spec = {
        "chainerx._core.engine.ConfigContext", sizeof(ContextObject), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, context_slots};
    g_config_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    g_context_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&context_spec));
    if (g_config_type == nullptr || g_context_type == nullptr ||
        PyModule_AddObjectRef(module, "LocalConfig", reinterpret_cast<PyObject*>(g_config_type)) <
            0 ||
        PyModule_AddFunctions(module, g_functions) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python::engine
