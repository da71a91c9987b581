// chainerx._core.kernels: the list of kernels, and what hangs on their calls.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

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

}  // namespace

void InitKernels(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
    nb::module_ m = core.def_submodule("kernels", "The list of kernels, and hooks on their calls.");
    m.def("table", &Table,
          "Every kernel.\n\n"
          "Returns:\n"
          "    list of tuple: Name, family, operands as (role, C++ type, name), and the hash of "
          "the signature.");
    nb::class_<KernelHook>(m, "Hook", "Code around every call of a kernel.")
        .def(
            "install", [](std::shared_ptr<KernelHook> hook) { InstallKernelHook(std::move(hook)); },
            "From now on it runs, for all devices and threads.")
        .def(
            "remove", [](const KernelHook& hook) { return RemoveKernelHook(&hook); },
            "False if it is not installed.");
    nb::class_<KernelProfiler, KernelHook>(
        m, "Profiler", "Profiler(synchronize=False)\n--\n\nCounts and times the calls of kernels.")
        .def(nb::init<bool>(), nb::arg("synchronize") = false)
        .def(
            "rows",
            [](const KernelProfiler& profiler) {
                std::vector<std::tuple<std::string, std::string, int64_t, double, double>> rows;
                for (const KernelProfiler::Row& r : profiler.rows()) {
                    rows.emplace_back(r.kernel->name, r.kernel->family, r.calls, r.total, r.self);
                }
                return rows;
            },
            "(name, family, calls, seconds, seconds without the kernels that it called) of each.")
        .def("reset", &KernelProfiler::Reset, "Forgets what was counted.");
    nb::class_<KernelValidator, KernelHook>(m, "Validator",
                                            "Validator()\n--\n\nChecks the operands of each call.")
        .def(nb::init<>());
}

}  // namespace chainerx::python
