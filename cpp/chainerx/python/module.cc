// The extension module chainerx._core.
#include <nanobind/nanobind.h>

#include <exception>
#include <string>

#include "chainerx/core/context.h"
#include "chainerx/python/batching.h"
#include "chainerx/python/capture/captured.h"
#include "chainerx/python/capture/part.h"
#include "chainerx/python/capture/state.h"
#include "chainerx/python/capture/static_code.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/core_api.h"
#include "chainerx/python/device.h"
#include "chainerx/python/engine/module.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/generator.h"
#include "chainerx/python/grad_hooks.h"
#include "chainerx/python/interop/buffers.h"
#include "chainerx/python/named_tuple.h"
#include "chainerx/python/ndarray/ndarray_at.h"
#include "chainerx/python/runtime.h"

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
        // Lives as long as the function, i.e. the process.
        auto* def = new PyMethodDef{
            b->spec.name(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(b->entry)),
            METH_FASTCALL | METH_KEYWORDS, strdup(doc.c_str())};
        m.attr(b->spec.name()) =
            nb::steal(PyCFunction_NewEx(def, nullptr, m.attr("__name__").ptr()));
    }
}

void AddAliases(nb::module_& m, Binding::Kind kind, const nb::module_& core) {
    for (Alias* a = Alias::first; a != nullptr; a = a->next) {
        if (a->kind != kind) continue;
        const nb::module_& owner = nb::hasattr(m, a->routine) ? m : core;
        m.attr(a->alias) = owner.attr(a->routine);
    }
}

// Offers what core_api.h says.
void AddApi(nb::module_& m) {
    static CoreApi api{g_ndarray_type, &Wrap, &FromDevice, &AsDevice, &TranslateException};
    m.attr("_api") = nb::steal(PyCapsule_New(&api, kCoreApiName, nullptr));
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
        } catch (const std::exception&) {
            throw;       // nanobind translates it
        } catch (...) {  // an exception of a plug-in
            TranslateException();
        }
    });
    try {
        InitErrors(m.ptr());
        InitNumpy();
        InitNdArray(m.ptr());
    } catch (const PythonError&) {
        throw nb::python_error();
    }
    InitDevice(m.ptr());
    InitBackprop(m.ptr());
    InitCuda(m.ptr());
    InitGraph(m.ptr());
    InitKernels(m.ptr());
    InitAt(m.ptr());
    InitFlat(m.ptr());
    InitFunctional(m.ptr());
    InitGradHooks(m.ptr());
    InitBatching(m.ptr());
    AddFunctions(m, Binding::kRoutine);
    AddAliases(m, Binding::kRoutine, m);
    nb::module_ random = m.def_submodule("random", "Random numbers, on the device.");
    AddFunctions(random, Binding::kRandom);
    AddFunctions(random, Binding::kDraw);
    AddAliases(random, Binding::kRandom, m);
    try {
        InitGenerator(random.ptr());
    } catch (const PythonError&) {
        throw nb::python_error();
    }
    nb::module_ linalg = m.def_submodule("linalg", "Linear algebra.");
    AddFunctions(linalg, Binding::kLinalg);
    AddAliases(linalg, Binding::kLinalg, m);
    linalg.attr("LinAlgError") = m.attr("LinAlgError");
    nb::module_ fft = m.def_submodule("fft", "Fourier transforms, under the names of numpy.fft.");
    AddFunctions(fft, Binding::kFft);
    nb::module_ special =
        m.def_submodule("special", "Special functions, under the names of scipy.special.");
    AddFunctions(special, Binding::kSpecial);
    AddAliases(special, Binding::kSpecial, m);
    nb::module_ engine_module =
        m.def_submodule("engine", "The part of chainer that is written in C++.");
    try {
        engine::InitEngine(engine_module.ptr());
        InitCapture(engine_module.ptr());
        InitCapturePart(engine_module.ptr());
        InitCaptureState(engine_module.ptr());
        InitStaticCode(engine_module.ptr());
    } catch (const PythonError&) {
        throw nb::python_error();
    }
    AddApi(m);
    InitNamedTuples(m.ptr());
    InitRuntime(m.ptr());
    InitNumpyMemory();
    InitConfig(m.ptr());
    Describe(m.ptr());
    Describe(m.attr("_cuda").ptr());
    Describe(m.attr("graph").ptr());
    Describe(m.attr("kernels").ptr());
    Describe(m.attr("functional").ptr());
    m.attr("__version__") = CHAINERX_VERSION;
    chainerx::SetGlobalDefaultContext(new chainerx::Context);  // never freed
}
