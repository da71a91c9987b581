#include "chainerx/python/engine/links/link_tree.h"

#include <structmember.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/links/link_cell_call.h"
#include "chainerx/python/engine/links/link_place.h"
#include "chainerx/python/engine/links/link_table.h"
#include "chainerx/python/engine/links/link_trees.h"
#include "chainerx/python/engine/scopes.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {
namespace {

// ---- the table of trees -------------------------------------------------------------------------

struct Tree {
    const char* name;
    bool is_nary;
    std::span<const CellFunction> functions;
    size_t (*count_layers)(size_t n_children);
    LayerOfCell (*layer_at)(size_t i, size_t n_children);
    void (*of_arrays)(const ArrayOps& ops, const TreeInputs<Array>& node, Array& c, Array& h);
    void (*of_variables)(const VariableOps& ops, const TreeInputs<Ref>& node, Ref& c, Ref& h);
};

template <typename T>
constexpr Tree TreeOf() {
    return {T::kName,
            T::kIsNary,
            T::kFunctions,
            &T::CountLayers,
            &T::LayerAt,
            &T::template Run<ArrayOps>,
            &T::template Run<VariableOps>};
}

constexpr Tree kTrees[] = {TreeOf<ChildSumTree>(), TreeOf<NaryTree>()};

struct TreeObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    const struct Tree* tree;
    std::vector<PyObject*>* names;  // of layers, interned: as many as a call had at most
    CellFunctions functions;
    ClassVersion plain;  // of the class of links that was last found to have its layers in dicts
    size_t n_plain;      // how many names that was said of
};

// Interned, made by InitLinkTree.
PyObject* g_state_size;
PyObject* g_n_ary;

std::span<PyObject* const> NamesOf(TreeObject* self, size_t n_children) {
    std::vector<PyObject*>& names = *self->names;
    const size_t n = self->tree->count_layers(n_children);
    while (names.size() < n) {
        const size_t i = names.size();
        std::string name = self->tree->layer_at(i, n_children).name;
        if (self->tree->is_nary && i > 0) name += std::to_string(i);
        names.push_back(Check(PyUnicode_InternFromString(name.c_str())).Release());
    }
    return {names.data(), n};
}

bool HasLayersInDict(TreeObject* self, PyObject* link, std::span<PyObject* const> names) {
    if (self->plain.IsOf(link) && names.size() <= self->n_plain) return true;
    PyObject* const others[] = {g_state_size, g_n_ary};
    if (!AreInDict(Py_TYPE(link), names) || !AreInDict(Py_TYPE(link), others)) return false;
    self->plain = ClassVersion::Of(link);
    self->n_plain = names.size();
    return true;
}

// An attribute that is a number; -1 where there is none.
int64_t FindSize(PyObject* dict, PyObject* name) {
    PyObject* value = Find(dict, name);
    if (value == nullptr || !PyLong_CheckExact(value)) return -1;
    const int64_t n = PyLong_AsLongLong(value);
    if (n == -1) PyErr_Clear();
    return n;
}

// ---- one call -----------------------------------------------------------------------------------

class Node {
 public:
    // With cells and outputs of n children, and the input.
    Node(TreeObject* self, PyObject* link, PyObject* const* args, size_t n_children)
        : self_{self},
          tree_{*self->tree},
          link_{link},
          n_{n_children},
          call_{tree_.name, 2 * n_ + 1, tree_.count_layers(n_)},
          has_output_{n_},
          layers_{call_.layers.size()} {
        for (size_t i = 0; i < call_.values.size(); ++i) {
            if (args[i] != Py_None) call_.values[i] = Ref{Py_NewRef(args[i])};
        }
        for (size_t k = 0; k < n_; ++k) has_output_[k] = args[n_ + k] != Py_None;
        for (size_t i = 0; i < layers_.size(); ++i) layers_[i] = tree_.layer_at(i, n_);
    }

    // False where the link has to compute in Python.
    bool Run() {
        if (!call_.values[2 * n_] || !AreCellsUsual() ||
            !PyType_HasFeature(Py_TYPE(link_), Py_TPFLAGS_HEAPTYPE)) {
            return false;
        }
        const Ref dict = Check(PyObject_GenericGetDict(link_, nullptr));
        const std::span<PyObject* const> names = NamesOf(self_, n_);
        units_ = FindSize(dict.get(), g_state_size);
        if (!HasLayersInDict(self_, link_, names) || units_ < 0 ||
            (tree_.is_nary && FindSize(dict.get(), g_n_ary) != static_cast<int64_t>(n_)) ||
            !call_.FindLayers(dict.get(), names) || !MakeZeros()) {
            return false;
        }
        if (!Records(GetState()) && RunOfArrays()) return true;
        if (!MakeVariables() || !call_.FitsFunctions()) return false;
        const VariableOps ops{call_.layers.data(), self_->functions.data()};
        tree_.of_variables(ops, InputsOf<Ref>(call_.values), c_, h_);
        return true;
    }

    PyObject* TakeStates() {
        Ref tuple = Check(PyTuple_New(2));
        PyTuple_SET_ITEM(tuple.get(), 0, c_.Release());
        PyTuple_SET_ITEM(tuple.get(), 1, h_.Release());
        return tuple.Release();
    }

 private:
    template <typename Value>
    TreeInputs<Value> InputsOf(const Few<Value>& values) const {
        return {{values.data(), n_},
                {values.data() + n_, n_},
                {has_output_.data(), n_},
                values[2 * n_],
                units_};
    }

    // What stands for None: as many rows as the first that is not, and its dtype.
    bool MakeZeros() {
        const auto* given = std::ranges::find_if(call_.values, [](const Ref& v) { return !!v; });
        if (std::ranges::all_of(call_.values, [](const Ref& v) { return !!v; })) return true;
        const int64_t rows = RowsOfMatrix(tree_.name, given->get());
        const LinkPlace place = PlaceOfLink(link_);
        if (rows < 0 || place.device == nullptr) return false;
        const Dtype dtype = IsVariable(given->get())
                                ? RecordOf(tree_.name, AsVariable(given->get())).dtype()
                                : SideOf(tree_.name, given->get()).dtype();
        if (!IsFloat(dtype)) return false;
        call_.zeros = Zeros({rows, units_}, dtype, *place.device);
        call_.kind_of_zeros = place.kind;
        return true;
    }

    bool RunOfArrays() {
        CellArrays arrays{call_};
        if (!arrays.Take(call_, {layers_.data(), layers_.size()})) return false;
        const NoRecordScope no_record;
        Array c;
        Array h;
        tree_.of_arrays(arrays.ops(), InputsOf<Array>(arrays.values), c, h);
        c_ = arrays.Wrap(std::move(c));
        h_ = arrays.Wrap(std::move(h));
        return true;
    }

    // Of arrays and None, but for the input. False where only Python can tell what it is.
    bool MakeVariables() {
        for (size_t i = 0; i < 2 * n_; ++i) {
            Ref& value = call_.values[i];
            if (!value) {
                Array zeros = call_.zeros.Copy();
                value = Ref{NewVariable(std::move(zeros), call_.kind_of_zeros, true)};
            } else if (!IsVariable(value.get())) {
                const Kind kind = KindOf(value.get());
                const bool is_array = kind == Kind::kChainerx;
                if (!is_array && kind != Kind::kNumpy) return false;
                if (is_array && Self(value.get()).body()->slot != nullptr) return false;
                Array side = SideOf(tree_.name, value.get());
                value = Ref{NewVariable(std::move(side), kind, false, value.get())};
            }
        }
        return true;
    }

    TreeObject* self_;
    const Tree& tree_;
    PyObject* link_;
    size_t n_;
    CellCall call_;
    Few<bool> has_output_;
    Few<LayerOfCell> layers_;
    int64_t units_{0};
    Ref c_;
    Ref h_;
};

PyObject* Vectorcall(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* keywords) {
    auto* self = reinterpret_cast<TreeObject*>(o);
    try {
        const auto n = static_cast<size_t>(PyVectorcall_NARGS(nargsf));
        // What else links are called with is not ours to say.
        if (n < 2 || n % 2 != 0 || keywords != nullptr) Py_RETURN_NONE;
        Node node{self, args[0], args + 1, (n - 2) / 2};
        if (!RunOrForget([&] { return node.Run(); })) Py_RETURN_NONE;
        return node.TakeStates();
    } catch (...) {
        TranslateException(self->tree->name);
        return nullptr;
    }
}

// ---- the type -----------------------------------------------------------------------------------

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    try {
        const Py_ssize_t n = PyTuple_GET_SIZE(args);
        if (n == 0 || !PyUnicode_Check(PyTuple_GET_ITEM(args, 0)) || keywords != nullptr) {
            throw TypeError{"LinkTree: expected the name of a tree, and its functions"};
        }
        const Tree& tree =
            FindRow("LinkTree", "tree", std::span<const Tree>{kTrees}, PyTuple_GET_ITEM(args, 0));
        Ref o = Check(type->tp_alloc(type, 0));
        auto* self = reinterpret_cast<TreeObject*>(o.get());
        self->vectorcall = &Vectorcall;
        self->tree = &tree;
        self->names = new std::vector<PyObject*>;
        self->functions.Take("LinkTree", tree, args, 1);
        return o.Release();
    } catch (...) {
        TranslateException("LinkTree");
        return nullptr;
    }
}

void Dealloc(PyObject* o) {
    auto* self = reinterpret_cast<TreeObject*>(o);
    if (self->names != nullptr) {
        for (PyObject* name : *self->names) Py_DECREF(name);
    }
    delete self->names;
    self->functions.Clear();
    PyTypeObject* type = Py_TYPE(o);
    type->tp_free(o);
    Py_DECREF(type);
}

PyMemberDef g_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(TreeObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void InitLinkTree(PyObject* module) {
    g_state_size = Check(PyUnicode_InternFromString("state_size")).Release();
    g_n_ary = Check(PyUnicode_InternFromString("n_ary")).Release();
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
        {Py_tp_members, g_members},
        {Py_tp_doc,
         const_cast<char*>(
             "LinkTree(tree, *functions)\n--\n\nThe call of a tree-LSTM: with a link, the cells of "
             "the children, their outputs, and the input, it returns the cell and the output. "
             "None where a layer or an input is not the usual one.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.LinkTree", sizeof(TreeObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    PyObject* type = PyType_FromSpec(&spec);
    if (type == nullptr || PyModule_AddObjectRef(module, "LinkTree", type) < 0) {
        throw PythonError{};
    }
}

}  // namespace chainerx::python::engine
