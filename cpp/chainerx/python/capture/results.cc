#include "chainerx/python/capture/results.h"

#include <unordered_set>
#include <utility>

#include "chainerx/capture/recording.h"
#include "chainerx/python/capture/arguments.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

bool IsParameter(PyObject* o) {
    auto* const cls = reinterpret_cast<PyTypeObject*>(engine::g_callbacks.parameter_class);
    return cls != nullptr && PyObject_TypeCheck(o, cls) != 0;
}

namespace {

// A tuple of C's structs has more fields than items.
bool IsTuple(PyObject* o) {
    return PyTuple_CheckExact(o) ||
           (PyTuple_Check(o) && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)),
                                                       "n_sequence_fields") == 0);
}

std::string Text(PyObject* o) {
    if (o == Py_None || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
        PyUnicode_CheckExact(o) || PyBytes_CheckExact(o) || PyComplex_CheckExact(o) ||
        PyObject_TypeCheck(o, Numpy().generic)) {
        const Ref repr = Check(PyObject_Repr(o));
        const char* text = PyUnicode_AsUTF8(repr.get());
        if (text == nullptr) throw PythonError{};
        return PyObject_TypeCheck(o, Numpy().generic) ? StrCat(Py_TYPE(o)->tp_name, " ", text)
                                                      : text;
    }
    return StrCat("<", Py_TYPE(o)->tp_name, " object at ", reinterpret_cast<uintptr_t>(o), ">");
}

// Whether it is of a class of the program, but no parameter: these are of the model, and what is
// returned is a variable.
bool IsOfSubclass(PyObject* o) {
    auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
    return type != engine::g_callbacks.variable_class && !IsParameter(o);
}

// Whether a new one could be made.
bool IsVariable(PyObject* o) {
    if (!engine::IsVariable(o)) return false;
    auto* variable = reinterpret_cast<PyTypeObject*>(engine::g_callbacks.variable_class);
    return !IsOfSubclass(o) || Py_TYPE(o)->tp_basicsize == variable->tp_basicsize;
}

}  // namespace

bool IsEnd(const Array& x) {
    internal::Slot* const slot = x.body()->slot;
    if (slot == nullptr || internal::IsLeaf(*slot)) return true;
    std::unordered_set<const internal::Node*> seen;
    std::vector<engine::Hold<internal::Slot>> todo;
    todo.emplace_back(slot);
    while (!todo.empty()) {
        const engine::Hold<internal::Slot> hold = std::move(todo.back());
        todo.pop_back();
        const internal::Slot& at = *hold.get();
        if (internal::IsLeaf(at)) {
            if (!at.cut.load(std::memory_order_relaxed) && at.body != nullptr) return false;
            continue;
        }
        if (!seen.insert(at.node).second) continue;
        const internal::NodeVisit visit{at.node};
        if (!visit) return false;  // backward would say that it has gone
        for (uint32_t i = 0; i < at.node->n_inputs; ++i) {
            internal::Slot* const input = at.node->edges()[i].slot;
            if (input != nullptr) todo.emplace_back(input);
        }
    }
    return true;
}

ResultForm::ResultForm(PyObject* result, std::vector<Array>& arrays, bool is_state, const Was* was,
                       bool is_call)
    : is_state_{is_state},
      is_call_{is_call},
      was_{was},
      root_{Take(result, arrays, 0)},
      size_{arrays.size()} {
    was_ = nullptr;
}

ResultForm::Node ResultForm::Take(PyObject* o, std::vector<Array>& arrays, int depth) {
    if (depth > kMaxNesting) throw ValueError{"capture: the result is nested too deeply"};
    Node node{};
    const size_t n_before = arrays.size();
    const auto add = [&](Kind kind, const char* text, const Array& x, bool requires_grad) {
        node.kind = kind;
        node.array = arrays.size();
        arrays.push_back(internal::Detached(x));
        text_ += text;
        if (!is_state_) return;
        const internal::Slot* slot = x.body()->slot;
        const bool is_leaf = slot == nullptr || internal::IsLeaf(*slot);
        if (is_leaf && was_ != nullptr && *was_ && (*was_)(x)) {
            node.same = Ref{Py_NewRef(o)};
            ++n_same_;
        }
        node.requires_grad = requires_grad && IsEnd(x);
        if (node.requires_grad) text_ += " with a gradient";
    };
    if (IsNdArray(o)) {
        const internal::Slot* slot = Self(o).body()->slot;
        add(Kind::kArray, "array", Self(o), slot != nullptr && slot->required.load() != 0);
    } else if (IsVariable(o) && engine::AsVariable(o)->storage->object != Py_None &&
               !(is_state_ && IsParameter(o))) {
        engine::VariableObject* v = engine::AsVariable(o);
        node.array_kind = v->storage->kind;
        add(Kind::kVariable, "variable", engine::RecordOf("capture", v), v->requires_grad);
        if (!IsOfSubclass(o)) return node;
        node.object = Ref{Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(o)))};
        text_ += StrCat(" ", Py_TYPE(o)->tp_name);
        TakeAttributes(AttributesOfDict(o), node, arrays, depth);
    } else if (PyObject_TypeCheck(o, Numpy().ndarray)) {
        Device& device = GetDefaultContext().GetNativeBackend().GetDevice(0);
        add(Kind::kNumpy, "NumPy array",
            FromNumpy(o, std::nullopt, Sharing::kWherePossible, device), false);
    } else if (IsTuple(o) || PyList_CheckExact(o)) {
        const bool is_list = PyList_CheckExact(o) != 0;
        node.kind = is_list ? Kind::kList : Kind::kTuple;
        node.object = Ref{Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(o)))};
        text_ += is_list ? '[' : '(';
        const Items items{o};
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            if (i != 0) text_ += ", ";
            node.children.push_back(Take(items[i], arrays, depth + 1));
        }
        text_ += is_list ? ']' : ')';
    } else if (PyDict_CheckExact(o) || PyODict_CheckExact(o)) {
        node.kind = Kind::kDict;
        node.object = Ref{Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(o)))};
        const Ref pairs = Check(PyMapping_Items(o));  // in the order of an OrderedDict, too
        const Items items{pairs.get()};
        text_ += '{';
        for (Py_ssize_t i = 0; i < items.size(); ++i) {
            PyObject* key = PyTuple_GET_ITEM(items[i], 0);
            text_ += Text(key) + ": ";
            node.keys.emplace_back(Py_NewRef(key));
            node.children.push_back(Take(PyTuple_GET_ITEM(items[i], 1), arrays, depth + 1));
            text_ += ", ";
        }
        text_ += '}';
    } else if (const auto attributes = is_call_ ? std::nullopt : AttributesOf(o)) {
        node.kind = Kind::kDataclass;
        node.object = Ref{Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(o)))};
        text_ += Py_TYPE(o)->tp_name;
        TakeAttributes(*attributes, node, arrays, depth);
    } else {
        node.kind = Kind::kObject;
        node.object = Ref{Py_NewRef(o)};
        text_ += Text(o);
    }
    const bool is_mutable = node.kind == Kind::kList || node.kind == Kind::kDict;
    if (is_call_ && depth > 1 && is_mutable && arrays.size() == n_before) {
        node.same = Ref{Py_NewRef(o)};
    }
    return node;
}

void ResultForm::TakeAttributes(const Attributes& attributes, Node& node,
                                std::vector<Array>& arrays, int depth) {
    text_ += '(';
    for (const auto& [name, value] : attributes) {
        text_ += Text(name.get()) + "=";
        node.keys.emplace_back(Py_NewRef(name.get()));
        node.children.push_back(Take(value.get(), arrays, depth + 1));
        text_ += ", ";
    }
    text_ += ')';
}

Attributes ResultForm::FillAttributes(const Node& node, const std::vector<Array>& arrays) {
    Attributes attributes;
    for (size_t i = 0; i < node.children.size(); ++i) {
        attributes.emplace_back(Py_NewRef(node.keys[i].get()), Fill(node.children[i], arrays));
    }
    return attributes;
}

PyObject* ResultForm::Fill(const std::vector<Array>& arrays) const { return Fill(root_, arrays); }

PyObject* ResultForm::Fill(const Node& node, const std::vector<Array>& arrays) {
    if (node.same) return Py_NewRef(node.same.get());
    switch (node.kind) {
        case Kind::kArray:
            if (node.requires_grad) arrays[node.array].RequireGrad();
            return Check(Wrap(arrays[node.array])).Release();
        case Kind::kVariable: {
            Ref o{engine::NewVariable(arrays[node.array], node.array_kind, node.requires_grad)};
            if (!node.object) return o.Release();
            if (PyObject_SetAttrString(o.get(), "__class__", node.object.get()) < 0) {
                throw PythonError{};
            }
            SetAttributes(o.get(), FillAttributes(node, arrays));
            return o.Release();
        }
        case Kind::kNumpy:
            return Check(ToNumpy(arrays[node.array], false)).Release();
        case Kind::kObject:
            return Py_NewRef(node.object.get());
        case Kind::kTuple: {
            Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(node.children.size())));
            for (size_t i = 0; i < node.children.size(); ++i) {
                PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                                 Fill(node.children[i], arrays));
            }
            auto* type = reinterpret_cast<PyTypeObject*>(node.object.get());
            if (type == &PyTuple_Type) return tuple.Release();
            // Not by its own constructor, which may take anything: a named tuple takes the items.
            const Ref args = Check(PyTuple_Pack(1, tuple.get()));
            return Check(PyTuple_Type.tp_new(type, args.get(), nullptr)).Release();
        }
        case Kind::kList: {
            Ref list = Check(PyList_New(static_cast<Py_ssize_t>(node.children.size())));
            for (size_t i = 0; i < node.children.size(); ++i) {
                PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                                Fill(node.children[i], arrays));
            }
            return list.Release();
        }
        case Kind::kDataclass: {
            return NewWithAttributes(reinterpret_cast<PyTypeObject*>(node.object.get()),
                                     FillAttributes(node, arrays));
        }
        default: {
            Ref dict = Check(PyObject_CallNoArgs(node.object.get()));
            for (size_t i = 0; i < node.children.size(); ++i) {
                const Ref value{Fill(node.children[i], arrays)};
                if (PyObject_SetItem(dict.get(), node.keys[i].get(), value.get()) < 0) {
                    throw PythonError{};
                }
            }
            return dict.Release();
        }
    }
}

int ResultForm::Traverse(visitproc visit, void* arg) const { return Traverse(root_, visit, arg); }

int ResultForm::Traverse(const Node& node, visitproc visit, void* arg) {
    Py_VISIT(node.object.get());
    Py_VISIT(node.same.get());
    for (const Ref& key : node.keys) Py_VISIT(key.get());
    for (const Node& child : node.children) {
        if (const int r = Traverse(child, visit, arg); r != 0) return r;
    }
    return 0;
}

}  // namespace chainerx::python
