#include "chainerx/python/runtime.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <pthread.h>

#include <atomic>

#include "chainerx/core/blocking.h"
#include "chainerx/core/error.h"
#include "chainerx/core/host_memory.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// All bindings, for the stubs and the tests of completeness.
nb::list Signatures() {
    static constexpr const char* kKinds[] = {"routine",   "method", "random",  "draw",
                                             "generator", "linalg", "special", "fft"};
    nb::list out;
    for (Binding* b = Binding::first; b != nullptr; b = b->next) {
        out.append(nb::make_tuple(kKinds[b->kind], b->spec.name(),
                                  StrCat("(", b->spec.signature()).c_str(), b->doc));
    }
    for (Alias* a = Alias::first; a != nullptr; a = a->next) {
        const char* kind = a->kind == Binding::kSpecial  ? "special alias"
                           : a->kind == Binding::kRandom ? "random alias"
                           : a->kind == Binding::kLinalg ? "linalg alias"
                                                         : "alias";
        out.append(nb::make_tuple(kind, a->alias, a->routine, ""));
    }
    return out;
}

// C++ threads without a Python thread state hold no GIL to release. Nor do waits after Python's
// finalization, when PyGILState_Check() is true on all threads.
void* ReleaseGil() {
    return Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr;
}

void AcquireGil(void* state) {
    if (state == nullptr) return;
    try {
        PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    } catch (...) {  // makes a frame at which a thread can be stopped; see thread_exit.cc
        throw;
    }
}

constexpr BlockingHooks kGilHooks{&ReleaseGil, &AcquireGil};

std::atomic<pthread_t> g_main_thread;

// Python handles signals only on its main thread. The error of a handler, for example
// KeyboardInterrupt, stays pending in the thread state until TranslateException finds it.
bool HandleSignals() {
    if (pthread_equal(pthread_self(), g_main_thread.load(std::memory_order_relaxed)) == 0) {
        return false;
    }
    if (Py_IsInitialized() == 0) return false;
    const PyGILState_STATE gil = PyGILState_Ensure();
    const bool stop = PyErr_Occurred() == nullptr && PyErr_CheckSignals() != 0;
    PyGILState_Release(gil);
    return stop;
}

void InitInterrupt() {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")();
    g_main_thread = static_cast<pthread_t>(nb::cast<uintptr_t>(main.attr("ident")));
    pthread_atfork(nullptr, nullptr, [] { g_main_thread = pthread_self(); });
    SetInterruptHook(&HandleSignals);
}

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
    m.def("get_memory_info", &MemoryInfo, nb::sig("def get_memory_info() -> dict[str, int]"),
          "Statistics of large blocks of host memory, in bytes.\n\n"
          "Returns:\n"
          "    dict: 'in_use', 'cached' for reuse, and the 'limit' of the cache.");
    m.def("set_memory_cache_limit", &SetCacheLimit, nb::arg("nbytes"),
          "Sets how many bytes of freed host memory are kept for reuse.\n\n"
          "Args:\n    nbytes (int): 0 keeps nothing.\n"
          "Raises:\n    ValueError: If it is negative.");
    m.def("free_memory_cache", &ReleaseCachedMemory,
          "Returns the host memory that is kept for reuse to the system.");
    m.def("_signatures", &Signatures);
    m.def("_attribute_types", [] { return nb::steal<nb::dict>(AttributeTypes()); });
    m.def("_set_leak_tracking", &SetLeakTracking, nb::arg("enabled"));
    m.def("_live_counts", [] {
        const LiveCounts c = GetLiveCounts();
        return nb::make_tuple(c.bodies, c.nodes, c.buffers, c.bytes);
    });
    SetBlockingHooks(&kGilHooks);
    InitInterrupt();
}

}  // namespace chainerx::python
