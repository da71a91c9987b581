// Makes signatures that inspect can read, for the functions and methods that nanobind binds:
// nanobind's own have a private format. Each is replaced by a builtin that forwards calls and has
// __text_signature__ and the plain docstring. A class with a constructor has its signature at the
// head of its docstring, as CPython's own do.
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/device.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

PyObject* PassOn(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    return PyObject_Vectorcall(self, args, static_cast<size_t>(n), keywords);
}

bool IsBoundByNanobind(nb::handle o) {
    const std::string_view type = Py_TYPE(o.ptr())->tp_name;
    return type == "nanobind.nb_func" || type == "nanobind.nb_method";
}

// Replaces the placeholders of "def f(x: int = \0) -> int" by the defaults.
std::string WithDefaults(const char* signature, nb::handle defaults) {
    std::string out;
    for (const char* c = signature; *c != 0; ++c) {
        if (*c != '\\') {
            out += *c;
            continue;
        }
        const auto k = static_cast<Py_ssize_t>(*++c - '0');
        out += nb::repr(nb::borrow<nb::tuple>(defaults)[k]).c_str();
    }
    return out;
}

// A described builtin for a function, made of nanobind's data of the first overload.
nb::object Described(nb::handle function, const char* name, nb::handle module) {
    const auto overloads = nb::cast<nb::tuple>(function.attr("__nb_signature__"));
    const auto first = nb::cast<nb::tuple>(overloads[0]);
    const std::string signature =
        WithDefaults(nb::cast<const char*>(nb::handle(first[0])), nb::handle(first[2]));
    const ArgSpec spec{name, signature.c_str() + signature.find('(') + 1};
    const nb::handle doc = nb::handle(first[1]);
    const std::string text = StrCat(name, spec.TextSignature(false), "\n--\n\n",
                                    doc.is_none() ? "" : nb::cast<const char*>(doc));
    // They live as long as the function, i.e. the process.
    auto* def = new PyMethodDef{
        strdup(name), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&PassOn)),
        METH_FASTCALL | METH_KEYWORDS, strdup(text.c_str())};
    return nb::steal(PyCFunction_NewEx(def, function.ptr(), module.attr("__name__").ptr()));
}

// Calls f(name, value) for the members that a module or class had at the start.
void ForEachMember(nb::handle owner, const auto& f) {
    const nb::object members = owner.attr("__dict__");
    for (nb::handle key : nb::steal<nb::list>(PyMapping_Keys(members.ptr()))) {
        const nb::object value = members[key];
        f(nb::cast<const char*>(key), value);
    }
}

void DescribeMethods(nb::handle type, nb::handle module) {
    bool constructs = false;
    ForEachMember(type, [&](const char* name, nb::handle member) {
        const bool init = std::string_view{name} == "__init__";
        if ((name[0] == '_' && !init) || !IsBoundByNanobind(member)) return;
        const nb::object function = Described(member, name, module);
        type.attr(name) = nb::steal(PyInstanceMethod_New(function.ptr()));
        constructs |= init;
    });
    // Calling a class without a constructor raises TypeError, so its signature says that it never
    // returns. None lets derived classes with a constructor have their own signature.
    type.attr("__signature__") =
        constructs
            ? nb::none()
            : nb::module_::import_("inspect").attr("Signature")(
                  nb::arg("return_annotation") = nb::module_::import_("typing").attr("NoReturn"));
}

}  // namespace

void Describe(PyObject* module) {
    const nb::handle m{module};
    ForEachMember(m, [&](const char* name, nb::handle member) {
        if (IsBoundByNanobind(member)) {
            m.attr(name) = Described(member, name, m);
        } else if (PyType_Check(member.ptr()) && nb::type_check(member)) {
            DescribeMethods(member, m);
        }
    });
}

}  // namespace chainerx::python
