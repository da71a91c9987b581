// The parameters of a tree of links. Found once; each step of training looks whether the tree is
// what it was.
#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/python/bind.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

// The parameters that a walk over the links has found. All pointers but names are borrowed, and
// never followed before they were found again in what owns them, beginning with the first link.
class ParameterCache {
 public:
    // Whether a walk from `link` would find the same. Runs no code of Python's.
    bool IsCurrent(PyObject* link) const;
    // Walks over the links. False, and empty, where only Python can tell what the parameters are.
    bool Build(PyObject* link);

    // As Link.params() has them, those that are not initialized too; a shared one comes again.
    const std::vector<PyObject*>& params() const { return params_; }
    // Each of them once.
    const std::vector<PyObject*>& distinct() const { return distinct_; }
    // Equal in two caches only if params() are.
    uint64_t version() const { return version_; }
    // Has the version of one before if the parameters are the same, whatever else was edited.
    void TakeVersion(const ParameterCache& before) {
        if (before.params_ == params_) version_ = before.version_;
    }

 private:
    enum class Children : uint8_t { kNone, kSet, kList };
    // A link, with `n` names of its set of parameters and then of its children.
    struct Place {
        PyObject* link;
        ClassVersion type;
        PyObject* dict;
        mutable DictVersion version;
        PyObject* params;
        PyObject* children;  // null without any
        Children kind;
        uint32_t n_params;
        uint32_t n_children;
    };
    struct Member {
        Ref name;  // null for an item of a list
        PyObject* value;
        Py_ssize_t index{0};  // of the name in the table of its set
    };

    bool Add(PyObject* link, int depth);
    bool AddMembers(PyObject* dict, PyObject* names);
    static bool HasNames(PyObject* set, const Member* begin, const Member* end);
    static bool HasContainers(const Place& place);
    static bool HasValues(const Place& place, const Member* begin, const Member* end);
    static bool FindKind(PyTypeObject* type, Children& kind);
    PyObject* Keep(PyObject* o);

    std::vector<Ref> held_;  // during Build(): all that was found
    std::vector<Place> places_;
    std::vector<Member> members_;
    std::vector<PyObject*> params_;
    std::vector<PyObject*> distinct_;
    uint64_t version_{0};
};

// The current cache of a link, which owns it; null where only Python can tell. Borrowed: anything
// that runs code of Python's may end it.
const ParameterCache* ParameterCacheOf(PyObject* link);

void InitParameterCache(PyObject* module);

}  // namespace chainerx::python::engine
