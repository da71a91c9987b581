// Facts about the library and its platform, for chainerx/_config.py.
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "chainerx/core/cpu_info.h"
#include "chainerx/core/openblas.h"
#include "chainerx/core/plugin.h"
#include "chainerx/python/runtime.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

constexpr const char* kCompiler =
#if defined(__clang__)
    __VERSION__;  // "Clang 17.0.1"
#else
    "g++ " __VERSION__;
#endif

nb::str ToStr(const std::string& s) { return nb::str{s.c_str(), s.size()}; }

nb::list ToList(const std::vector<std::string>& strings) {
    nb::list list;
    for (const std::string& s : strings) list.append(ToStr(s));
    return list;
}

nb::dict BuildInfo() {
    const IsaInfo isa = GetIsaInfo();
    nb::dict d;
    d["compiler"] = kCompiler;
    d["isa"] = ToStr(isa.used);
    d["isas_built"] = ToList(isa.built);
    d["isas_available"] = ToList(isa.available);
    nb::dict plugins;
    for (const internal::LoadedPlugin& p : internal::GetLoadedPlugins()) {
        plugins[ToStr(p.path)] = ToStr(p.name);
    }
    d["plugins"] = plugins;
    return d;
}

nb::dict BlasFacts() {
    const BlasInfo info = GetBlasInfo();
    nb::dict d;
    d["engine"] = ToStr(info.engine);
    d["path"] = ToStr(info.path);
    d["version"] = ToStr(info.version);
    d["threads"] = ToStr(info.threads);
    d["reason"] = ToStr(info.reason);
    return d;
}

}  // namespace

void InitConfig(PyObject* module) {
    auto m = nb::borrow<nb::module_>(module);
    m.def("_build_info", &BuildInfo);
    m.def("_blas_info", &BlasFacts);  // opens the library
}

}  // namespace chainerx::python
