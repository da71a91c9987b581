// chainerx._core.kernels: the list of kernels, and hooks on their calls.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/hook.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/kernels/profiler.h"
#include "chainerx/kernels/validator.h"
#include "chainerx/python/device.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

using OperandRow = std::tuple<std::string, std::string, std::string>;
using KernelRow = std::tuple<std::string, std::string, std::vector<OperandRow>, uint64_t>;

const char* NameOf(OperandRole role) {
    switch (role) {
        case OperandRole::kIn:
            return "in";
        case OperandRole::kOut:
            return "out";
        case OperandRole::kOutSame:
            return "out_or_same";
        case OperandRole::kInOut:
            return "inout";
        case OperandRole::kAttr:
            return "attr";
    }
    return "";
}

std::vector<KernelRow> Table() {
    std::vector<KernelRow> rows;
    for (const KernelInfo* kernel : GetKernels()) {
        std::vector<OperandRow> operands;
        for (const OperandInfo& o : kernel->operands()) {
            operands.emplace_back(NameOf(o.role), o.type, o.name);
        }
        rows.emplace_back(kernel->name, kernel->family, std::move(operands),
                          kernel->signature_hash);
    }
    return rows;
}

nb::object ToObject(const std::optional<std::vector<OperandSummary>>& operands) {
    if (!operands) return nb::none();
    nb::list list;
    for (const OperandSummary& o : *operands) {
        nb::object shape = nb::none();
        if (o.shape) {
            nb::list lengths;
            for (const int64_t length : *o.shape) lengths.append(length);
            shape = nb::tuple(lengths);
        }
        const nb::object dtype = o.dtype ? nb::object{nb::str(GetDtypeName(*o.dtype))} : nb::none();
        list.append(nb::make_tuple(o.name, dtype, shape));
    }
    return nb::tuple(list);
}

nb::list ToList(const std::vector<KernelProfiler::Row>& rows) {
    nb::list list;
    for (const KernelProfiler::Row& r : rows) {
        std::string name = r.kernel->name;
        if (r.algorithm != nullptr) name += std::string{"["} + r.algorithm + "]";
        list.append(nb::make_tuple(name, r.kernel->family, r.device->name(), ToObject(r.operands),
                                   r.calls, r.total, r.self, r.bytes, r.peak));
    }
    return list;
}

nb::dict Algorithms() {
    nb::dict names;
    for (const AlgorithmChoice* choice : AlgorithmChoice::All()) {
        nb::list list;
        for (const char* name : choice->names()) list.append(name);
        names[choice->kernel()] = list;
    }
    return names;
}

// Marks the calls for a profiler, by functions of C that begin a range of a name and end it.
class RangeHook : public KernelHook {
 public:
    RangeHook(uintptr_t push, uintptr_t pop)
        : push_{reinterpret_cast<Push*>(push)}, pop_{reinterpret_cast<Pop*>(pop)} {}

    void Run(KernelCall& call) override {
        struct Range {
            Pop* pop;
            ~Range() { pop(); }
        };
        push_(call.kernel().name);
        const Range range{pop_};
        call.Proceed();
    }

 private:
    using Push = int(const char* name);
    using Pop = int();

    Push* push_;
    Pop* pop_;
};

}  // namespace

void InitKernels(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
    nb::module_ m = core.def_submodule("kernels", "The list of kernels, and hooks on their calls.");
    m.def("table", &Table,
          "All kernels.\n\n"
          "Returns:\n"
          "    list of tuple: Name, family, operands as (role, C++ type, name), and hash of the "
          "signature.");
    m.def("algorithms", &Algorithms,
          "The kernels that have a choice of algorithms.\n\n"
          "Returns:\n"
          "    dict: From kernels to the names of their algorithms, in order of preference.");
    m.def(
        "force_algorithm",
        [](const std::string& kernel, const std::optional<std::string>& name) {
            return AlgorithmChoice::Find(kernel).Force(name);
        },
        nb::arg("kernel"), nb::arg("name").none(),
        "Forces an algorithm in this thread. Users call chainerx.testing.force_algorithm.\n\n"
        "Args:\n"
        "    kernel (str): One of the kernels of ``algorithms()``.\n"
        "    name (str): The algorithm; None ends it.\n"
        "Returns:\n"
        "    str: The previously forced name, or None.");
    nb::class_<KernelHook>(m, "Hook", "A hook around every call of a kernel.")
        .def(
            "install", [](std::shared_ptr<KernelHook> hook) { InstallKernelHook(std::move(hook)); },
            "Installs the hook for all devices and threads.")
        .def(
            "remove", [](const KernelHook& hook) { return RemoveKernelHook(&hook); },
            "False if it is not installed.");
    nb::class_<KernelProfiler, KernelHook>(
        m, "Profiler",
        "Profiler(synchronize=False, trace_limit=0)\n"
        "--\n\n"
        "Counts and times the calls of kernels. Users call chainerx.profile().")
        .def(
            "__init__",
            [](KernelProfiler* self, bool synchronize, int64_t trace_limit) {
                new (self) KernelProfiler{{synchronize, trace_limit}};
            },
            nb::arg("synchronize") = false, nb::arg("trace_limit") = 0)
        .def(
            "install", [](const std::shared_ptr<KernelProfiler>& p) { KernelProfiler::Start(p); },
            "Installs the profiler; it counts until it is removed as often.")
        .def("remove", &KernelProfiler::Stop, "False if it is not installed.")
        .def(
            "rows", [](const KernelProfiler& p) { return ToList(p.rows()); },
            "One row per call signature: kernel, family, device, operands as (name, dtype, shape), "
            "calls, seconds, seconds without nested kernels, bytes, peak bytes in use.")
        .def(
            "threads",
            [](const KernelProfiler& p) {
                nb::list threads;
                for (const KernelProfiler::Thread& t : p.Threads()) {
                    static_assert(sizeof(KernelProfiler::Event) == 4 * sizeof(int64_t));
                    const nb::bytes events{t.events.data(),
                                           t.events.size() * sizeof(KernelProfiler::Event)};
                    static_assert(sizeof(KernelProfiler::DeviceEvent) == 4 * sizeof(int64_t));
                    const nb::bytes on_device{
                        t.device_events.data(),
                        t.device_events.size() * sizeof(KernelProfiler::DeviceEvent)};
                    threads.append(
                        nb::make_tuple(t.process, t.thread, ToList(t.rows), events, on_device));
                }
                return threads;
            },
            "One entry per thread: process id, thread id, rows, its calls, and their times on "
            "devices; a call as four 64-bit numbers: start, nanoseconds, bytes (on devices: "
            "stream), row.")
        .def_prop_ro("dropped", &KernelProfiler::dropped, "The number of calls that were not kept.")
        .def("reset", &KernelProfiler::Reset, "Resets all counters.");
    nb::class_<RangeHook, KernelHook>(
        m, "RangeHook",
        "RangeHook(push, pop)\n--\n\n"
        "Marks the calls of kernels for a profiler. Users call chainerx.cuda.nvtx.enable().\n\n"
        "Args:\n"
        "    push (int): The address of a function of C that takes a name.\n"
        "    pop (int): That of one without arguments; both return an int.")
        .def(nb::init<uintptr_t, uintptr_t>(), nb::arg("push"), nb::arg("pop"));
    nb::class_<KernelValidator, KernelHook>(m, "Validator",
                                            "Validator()\n--\n\nChecks the operands of each call.")
        .def(nb::init<>());
}

}  // namespace chainerx::python
