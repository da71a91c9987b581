#include "chainerx/python/engine/optim/parameter_cache.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include "chainerx/core/error.h"
#include "chainerx/python/engine/state.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/type_object.h"

namespace chainerx::python::engine {
namespace {

constexpr int kMaxDepth =
    200;  // deeper, or a link inside itself: Python's own walk says what is wrong

// Interned, made by InitParameterCache.
PyObject* g_params_name;
PyObject* g_collect_name;
PyObject* g_own_name;
PyObject* g_children_name;
PyObject* g_cache_name;
PyObject* g_cleargrad_name;

bool IsLink(PyObject* o) {
    return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(g_callbacks.link_class));
}

bool IsParameter(PyObject* o) {
    return PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(g_callbacks.parameter_class));
}

uint64_t g_versions = 0;

// What a link has in its dict. It goes with the link, and is made anew for a copy.
struct CacheObject {
    PyObject_HEAD ParameterCache* cache;
};

PyTypeObject* g_cache_type = nullptr;

void Dealloc(PyObject* self) {
    delete reinterpret_cast<CacheObject*>(self)->cache;
    FreeInstance(self);
}

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) { return type->tp_alloc(type, 0); }

// A copy, or a pickle, is None: another link finds its own.
PyObject* Reduce(PyObject*, PyObject*) {
    return Py_BuildValue("O()", reinterpret_cast<PyObject*>(Py_TYPE(Py_None)));
}

}  // namespace

// Which of the known walks a class takes; false if it has one of its own.
bool ParameterCache::FindKind(PyTypeObject* type, Children& kind) {
    if (_PyType_Lookup(type, g_params_name) != g_callbacks.link_params) return false;
    const PyObject* collect = _PyType_Lookup(type, g_collect_name);
    if (collect == g_callbacks.collect_params) {
        kind = Children::kNone;
    } else if (collect == g_callbacks.collect_chain) {
        kind = Children::kSet;
    } else if (collect == g_callbacks.collect_chain_list) {
        kind = Children::kList;
    } else {
        return false;
    }
    return true;
}

PyObject* ParameterCache::Keep(PyObject* o) {
    if (o != nullptr) held_.emplace_back(Py_NewRef(o));
    return o;
}

// The values of sorted names.
bool ParameterCache::AddMembers(PyObject* dict, PyObject* names) {
    const auto* set = reinterpret_cast<const PySetObject*>(names);
    const size_t first = members_.size();
    for (Py_ssize_t i = 0; i <= set->mask; ++i) {
        const setentry& entry = set->table[i];
        if (entry.key == nullptr || entry.hash == -1) continue;  // free, or was deleted
        if (!PyUnicode_CheckExact(entry.key)) return false;
        members_.push_back({Ref{Py_NewRef(entry.key)}, nullptr, i});
    }
    const auto begin = members_.begin() + static_cast<Py_ssize_t>(first);
    std::sort(begin, members_.end(), [](const Member& a, const Member& b) {
        return PyUnicode_Compare(a.name.get(), b.name.get()) < 0;
    });
    for (auto m = begin; m != members_.end(); ++m) {
        m->value = Keep(Find(dict, m->name.get()));
        if (m->value == nullptr) return false;
    }
    return true;
}

bool ParameterCache::Add(PyObject* link, int depth) {
    Place place{};
    place.link = link;
    if (depth > kMaxDepth || !FindKind(Py_TYPE(link), place.kind)) return false;
    place.type = ClassVersion::Of(link);
    if (!place.type.IsOf(link)) return false;
    place.dict = Keep(DictOf(link));
    place.params = Keep(Find(place.dict, g_own_name));
    if (place.params == nullptr) return false;
    if (Find(place.dict, g_params_name) != nullptr) return false;
    if (place.kind != Children::kNone) {
        place.children = Keep(Find(place.dict, g_children_name));
        if (place.children == nullptr) return false;
    }
    if (!HasContainers(place)) return false;
    const size_t first = members_.size();
    if (!AddMembers(place.dict, place.params)) return false;
    place.n_params = static_cast<uint32_t>(members_.size() - first);
    for (size_t i = first; i < members_.size(); ++i) {
        PyObject* param = members_[i].value;
        if (param == Py_None) continue;
        if (!IsParameter(param)) return false;
        params_.push_back(param);
    }
    const size_t first_child = members_.size();
    if (place.kind == Children::kSet) {
        if (!AddMembers(place.dict, place.children)) return false;
    } else if (place.kind == Children::kList) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(place.children); ++i) {
            members_.push_back({Ref{}, Keep(PyList_GET_ITEM(place.children, i))});
        }
    }
    const size_t end = members_.size();
    place.n_children = static_cast<uint32_t>(end - first_child);
    places_.push_back(place);
    for (size_t i = first_child; i < end; ++i) {
        PyObject* child = members_[i].value;
        if (child == Py_None) continue;
        if (!IsLink(child) || !Add(child, depth + 1)) return false;
    }
    return true;
}

bool ParameterCache::Build(PyObject* link) {
    // To look something up may have run code of the user's.
    const bool is_built = g_callbacks.link_class != nullptr && Add(link, 0) && IsCurrent(link);
    if (!is_built) places_.clear();
    const std::vector<Ref> held = std::move(held_);
    if (!is_built) return false;
    std::unordered_set<PyObject*> seen;
    for (PyObject* p : params_) {
        if (seen.insert(p).second) distinct_.push_back(p);
    }
    version_ = ++g_versions;
    return true;
}

bool ParameterCache::IsCurrent(PyObject* link) const {
    if (places_.empty() || places_[0].link != link) return false;
    const Member* member = members_.data();
    // A child is a member of a place that was looked at before its own, and so alive.
    for (const Place& place : places_) {
        if (!place.type.IsOf(place.link) || DictOf(place.link) != place.dict) return false;
        const Member* const first_child = member + place.n_params;
        const Member* const end = first_child + place.n_children;
        if (!place.version.IsOf(place.dict)) {
            if (!HasValues(place, member, end)) return false;
            place.version = DictVersion{place.dict};
        }
        if (!HasNames(place.params, member, first_child)) return false;
        if (place.kind == Children::kSet && !HasNames(place.children, first_child, end)) {
            return false;
        }
        if (place.kind == Children::kList) {
            if (PyList_GET_SIZE(place.children) != place.n_children) return false;
            for (Py_ssize_t i = 0; i < place.n_children; ++i) {
                if (PyList_GET_ITEM(place.children, i) != first_child[i].value) return false;
            }
        }
        member = end;
    }
    return true;
}

// Whether a set has these names, and no others. To ask the set would run code of the names'.
bool ParameterCache::HasNames(PyObject* names, const Member* begin, const Member* end) {
    const auto* set = reinterpret_cast<const PySetObject*>(names);
    if (set->used != end - begin) return false;
    return std::all_of(begin, end, [set](const Member& m) {
        return m.index <= set->mask && set->table[m.index].key == m.name.get();
    });
}

// Whether the names and the children are in containers of the usual classes.
bool ParameterCache::HasContainers(const Place& place) {
    if (!PySet_CheckExact(place.params)) return false;
    if (place.kind == Children::kSet) return PySet_CheckExact(place.children);
    return place.kind == Children::kNone || PyList_CheckExact(place.children);
}

// Whether all is in the dict of a link that was there.
bool ParameterCache::HasValues(const Place& place, const Member* begin, const Member* end) {
    if (!HasPlainKeys(place.dict) || Find(place.dict, g_own_name) != place.params ||
        Find(place.dict, g_params_name) != nullptr ||
        (place.children != nullptr && Find(place.dict, g_children_name) != place.children) ||
        !HasContainers(place)) {  // others may have got their places in memory
        return false;
    }
    for (const Member* m = begin; m != end; ++m) {
        if (!m->name.get()) continue;  // an item of a list
        if (Find(place.dict, m->name.get()) != m->value) return false;
        // Another object may have got the place of a parameter in memory.
        const bool is_param = m < begin + place.n_params;
        if (is_param && m->value != Py_None && !IsParameter(m->value)) return false;
    }
    return true;
}

const ParameterCache* ParameterCacheOf(PyObject* link) {
    if (g_callbacks.link_class == nullptr || !IsLink(link)) return nullptr;
    const Ref held = Check(PyObject_GenericGetDict(link, nullptr));
    PyObject* dict = held.get();
    PyObject* kept = Find(dict, g_cache_name);
    const bool is_cache = kept != nullptr && Py_IS_TYPE(kept, g_cache_type);
    if (kept != nullptr && kept != Py_None && !is_cache) return nullptr;  // it is the user's
    const ParameterCache* old = is_cache ? reinterpret_cast<CacheObject*>(kept)->cache : nullptr;
    if (old != nullptr && old->IsCurrent(link)) return old;
    auto fresh = std::make_unique<ParameterCache>();
    // What `old` is of, until it has told its version.
    const Ref owner{Py_XNewRef(kept)};
    if (!fresh->Build(link) || DictOf(link) != dict) return nullptr;
    if (old != nullptr) fresh->TakeVersion(*old);
    const Ref object = Check(g_cache_type->tp_alloc(g_cache_type, 0));
    ParameterCache* cache = reinterpret_cast<CacheObject*>(object.get())->cache = fresh.release();
    if (PyDict_SetItem(dict, g_cache_name, object.get()) < 0) throw PythonError{};
    return cache;
}

namespace {

// The parameters, each alive while others are worked on.
std::vector<Ref> Hold(const std::vector<PyObject*>& params) {
    std::vector<Ref> held;
    held.reserve(params.size());
    for (PyObject* p : params) held.emplace_back(Py_NewRef(p));
    return held;
}

// params(link): all of a tree in a list, None where only Python can tell.
PyObject* Params(PyObject*, PyObject* link) try {
    const ParameterCache* cache = ParameterCacheOf(link);
    if (cache == nullptr) Py_RETURN_NONE;
    const std::vector<Ref> params = Hold(cache->params());
    Ref list = Check(PyList_New(static_cast<Py_ssize_t>(params.size())));
    Py_ssize_t i = 0;
    for (const Ref& p : params) PyList_SET_ITEM(list.get(), i++, Py_NewRef(p.get()));
    return list.Release();
} catch (...) {
    return Failed("params");
}

bool HasPlainClearGrad(VariableObject* v) {
    static ClassVersion plain;  // the class that was looked at last
    auto* o = reinterpret_cast<PyObject*>(v);
    if (!plain.IsOf(o)) {
        if (_PyType_Lookup(Py_TYPE(o), g_cleargrad_name) != g_callbacks.parameter_cleargrad) {
            return false;
        }
        plain = ClassVersion::Of(o);
    }
    return v->dict == nullptr || Find(v->dict, g_cleargrad_name) == nullptr;
}

// cleargrads(link): whether it was done; if not, only Python can tell of what.
PyObject* ClearGrads(PyObject*, PyObject* link) try {
    const ParameterCache* cache = ParameterCacheOf(link);
    if (cache == nullptr) Py_RETURN_FALSE;
    for (const Ref& p : Hold(cache->params())) {
        VariableObject* v = AsVariable(p.get());
        // One without an array has more to forget.
        if (v->storage->object != Py_None && HasPlainClearGrad(v)) {
            ClearGradient(v);
        } else {
            Check(PyObject_CallMethodNoArgs(p.get(), g_cleargrad_name));
        }
    }
    Py_RETURN_TRUE;
} catch (...) {
    return Failed("cleargrads");
}

PyMethodDef g_functions[] = {
    {"params", &Params, METH_O,
     "The parameters of a tree of links in a list; None if only Python can enumerate them."},
    {"cleargrads", &ClearGrads, METH_O,
     "Clears the gradients of a tree of links; False, without any change, if only Python can "
     "enumerate the parameters."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef g_methods[] = {
    {"__reduce__", &Reduce, METH_NOARGS, "Returns None: the copy of a link builds its own cache."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitParameterCache(PyObject* module) {
    struct Row {
        PyObject** name;
        const char* text;
    };
    for (const Row& row :
         {Row{&g_params_name, "params"}, Row{&g_collect_name, "_collect_params"},
          Row{&g_own_name, "_params"}, Row{&g_children_name, "_children"},
          Row{&g_cache_name, "_Link__parameter_cache"}, Row{&g_cleargrad_name, "cleargrad"}}) {
        *row.name = Check(PyUnicode_InternFromString(row.text)).Release();
    }
    static PyType_Slot slots[] = {
        {Py_tp_new, reinterpret_cast<void*>(&New)},
        {Py_tp_dealloc, reinterpret_cast<void*>(&Dealloc)},
        {Py_tp_methods, g_methods},
        {Py_tp_doc,
         const_cast<char*>("Cache of the parameters of a tree of links, kept by its root.")},
        {0, nullptr}};
    static PyType_Spec spec = {"chainerx._core.engine.ParameterCache", sizeof(CacheObject), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    g_cache_type = AddType(module, spec, g_functions);
}

}  // namespace chainerx::python::engine
