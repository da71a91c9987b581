#include "chainerx/python/runtime.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "chainerx/core/blocking.h"
#include "chainerx/core/error.h"
#include "chainerx/core/host_memory.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/python/ndarray.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// All bindings of the table, for the stubs and the tests of completeness.
nb::list Signatures() {
    static constexpr const char* kKinds[] = {"routine", "method", "random", "linalg"};
    nb::list out;
    for (Binding* b = Binding::first; b != nullptr; b = b->next) {
        out.append(nb::make_tuple(kKinds[b->kind], b->spec.name(),
                                  StrCat("(", b->spec.signature()).c_str(), b->doc));
    }
    for (Alias* a = Alias::first; a != nullptr; a = a->next) {
        out.append(nb::make_tuple("alias", a->alias, a->routine, ""));
    }
    return out;
}

// Work in C++ threads that have no Python state needs no release.
void* ReleaseGil() { return PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr; }

void AcquireGil(void* state) {
    if (state != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(state));
}

constexpr BlockingHooks kGilHooks{&ReleaseGil, &AcquireGil};

nb::dict MemoryInfo() {
    const chainerx::MemoryInfo info = GetMemoryInfo();
    nb::dict d;
    d["in_use"] = info.in_use;
    d["cached"] = info.cached;
    d["limit"] = info.limit;
    return d;
}

}  // namespace

void InitRuntime(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module);
    m.def("get_memory_info", &MemoryInfo,
          "Bytes of large blocks of host memory: 'in_use', 'cached' for reuse, and the 'limit' of "
          "what is kept.");
    m.def("set_memory_cache_limit", &SetCacheLimit, nb::arg("nbytes"),
          "Sets how many bytes of freed host memory are kept for reuse.");
    m.def("free_memory_cache", &ReleaseCachedMemory,
          "Gives the host memory that is kept for reuse back to the system.");
    m.def("_signatures", &Signatures);
    m.def("_attribute_types", [] { return nb::steal<nb::dict>(AttributeTypes()); });
    m.def("_set_leak_tracking", &SetLeakTracking, nb::arg("enabled"));
    m.def("_live_counts", [] {
        const LiveCounts c = GetLiveCounts();
        return nb::make_tuple(c.bodies, c.nodes, c.buffers, c.bytes);
    });
    SetBlockingHooks(&kGilHooks);
}

}  // namespace chainerx::python
