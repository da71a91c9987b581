// The extension module chainerx._core.
#include <nanobind/nanobind.h>

#include <string>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/leak_tracker.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

// Adds the bindings of one kind as functions of a module.
void AddFunctions(nb::module_& m, Binding::Kind kind) {
    for (Binding* b = Binding::first; b != nullptr; b = b->next) {
        if (b->kind != kind) continue;
        b->spec.Init();
        const std::string doc =
            StrCat(b->spec.name(), b->spec.TextSignature(false), "\n--\n\n", b->doc);
        // Lives as long as the function, hence the process.
        auto* def = new PyMethodDef{
            b->spec.name(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(b->entry)),
            METH_FASTCALL | METH_KEYWORDS, strdup(doc.c_str())};
        m.attr(b->spec.name()) =
            nb::steal(PyCFunction_NewEx(def, nullptr, m.attr("__name__").ptr()));
    }
}

// All bindings of the table, for the stub and the completeness tests.
nb::list Signatures() {
    static constexpr const char* kKinds[] = {"routine", "method", "random", "linalg"};
    nb::list out;
    for (Binding* b = Binding::first; b != nullptr; b = b->next) {
        out.append(nb::make_tuple(kKinds[b->kind], b->spec.name(),
                                  StrCat("(", b->spec.signature()).c_str(), b->doc));
    }
    return out;
}

void BindTesting(nb::module_& m) {
    m.def("_signatures", &Signatures);
    m.def("_attribute_types", [] { return nb::steal<nb::dict>(AttributeTypes()); });
    m.def("_set_leak_tracking", &SetLeakTracking, nb::arg("enabled"));
    m.def("_live_counts", [] {
        const LiveCounts c = GetLiveCounts();
        return nb::make_tuple(c.bodies, c.nodes, c.buffers);
    });
}

}  // namespace
}  // namespace chainerx::python

NB_MODULE(_core, m) {
    using namespace chainerx::python;
    nb::set_leak_warnings(false);  // contexts and devices live as long as the process
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const chainerx::ChainerxError&) {
            TranslateException();
        } catch (const PythonError&) {
        }
    });
    try {
        InitErrors(m.ptr());
        InitNdArray(m.ptr());
    } catch (const PythonError&) {
        throw nb::python_error();
    }
    InitDevice(m.ptr());
    InitBackprop(m.ptr());
    AddFunctions(m, Binding::kRoutine);
    nb::module_ random = m.def_submodule("random");
    AddFunctions(random, Binding::kRandom);
    nb::module_ linalg = m.def_submodule("linalg");
    AddFunctions(linalg, Binding::kLinalg);
    BindTesting(m);
    chainerx::SetGlobalDefaultContext(new chainerx::Context);  // never freed
}
