// The binding of a routine or a method is one block with name, signature, docstring and body.
//
//     CX_ROUTINE(sum, "a: ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",
//     R"(...)") {
//         return Wrap(Sum(ToArray("sum", "a", a[0]), ToAxes("sum", a[1]), ToBool(a[2], false)));
//     }
//
// `a` holds one borrowed object per parameter in the order of the signature, null if omitted.
// "*dims" takes the remaining positional arguments as a tuple; parameters after a bare "*" are
// keyword-only. __text_signature__, the docstring and the stub are made of the same text. A body
// parses, calls one routine, wraps. It throws; the entry translates to Python exceptions.
//
// An argument annotated as ndarray may also be a number or a list: python/array_likes.h. It is
// annotated as ExistingArray if only an array is valid, since it is written to or known by its
// graph.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string_view>

#include "chainerx/core/array.h"

namespace chainerx::python {

// Thrown when a Python exception is already set.
struct PythonError {};

// Sets the Python exception for the C++ exception that is being handled. `op` is prepended to a
// message that does not name it because a helper or another routine detected the error.
void TranslateException(const char* op = nullptr) noexcept;

inline constexpr int kMaxArgs = 16;
inline constexpr PyObject* kNoArgs[kMaxArgs] = {};

using Entry = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

// A parsed signature.
class ArgSpec {
 public:
    ArgSpec(const char* name, const char* signature) : name_{name}, signature_{signature} {}

    const char* name() const { return name_; }
    const char* signature() const { return signature_; }
    int kind() const { return kind_; }  // of the binding
    Entry entry() const { return entry_; }
    int count() const { return count_; }
    // The index of a positional argument, or of a keyword; count() if there is no such parameter.
    int PlaceOf(Py_ssize_t i) const;
    int PlaceOf(PyObject* keyword) const {
        int i = 0;
        while (i < count_ && names_[i] != keyword) ++i;
        return i < count_ ? i : PlaceOfOther(keyword);
    }
    // The annotation of the parameter at `place`, such as "ndarray | Scalar", without its default.
    CX_COLD std::string_view AnnotationOf(int place) const;
    const char* ParameterAt(int place) const;

    // Interns the names; called once at module initialization.
    void Init();

    // Whether `n` positional arguments alone fill all parameters.
    bool IsComplete(Py_ssize_t n) const { return n == count_ && !has_varargs_; }
    // Whether all parameters are optional.
    bool IsOptional() const { return n_required_ == 0 && !has_varargs_; }

    // Binds to `out`, which has room for count() pointers, all null. Returns a new tuple for
    // "*args" to be released after the call, or null. Throws PythonError.
    PyObject* Bind(PyObject* const* args, Py_ssize_t n, PyObject* keywords, PyObject** out) const;

    // "(a, axis=None, keepdims=False)", without annotations. `self` adds "$self".
    const char* TextSignature(bool self) const;

 private:
    friend struct Binding;

    // For a keyword that the caller has not interned, or a synonym of NumPy.
    CX_COLD int PlaceOfOther(PyObject* keyword) const;

    const char* name_;
    const char* signature_;
    int kind_{0};
    Entry entry_{nullptr};
    int count_{0};
    int n_positional_{0};
    int n_required_{0};  // the number of parameters up to the last one without a default
    bool has_varargs_{false};
    PyObject* names_[kMaxArgs]{};
    bool required_[kMaxArgs]{};
};

// A node in the list of all bindings.
struct Binding {
    enum Kind { kRoutine, kMethod, kRandom, kDraw, kGenerator, kLinalg, kSpecial, kFft };

    // Whether most functions of the kind draw random numbers.
    static constexpr bool Draws(Kind kind) {
        return kind == kRandom || kind == kDraw || kind == kGenerator;
    }

    Binding(Kind kind, ArgSpec& spec, const char* doc, Entry entry, bool is_elementwise = false);

    Kind kind;
    ArgSpec& spec;
    const char* doc;
    Entry entry;
    bool is_elementwise;  // vmap calls it once with arrays of all examples
    Binding* next;

    static Binding* first;
};

// An alias of a routine, for the same object: in the module of `kind`, of a routine there or else
// of one of chainerx.
struct Alias {
    Alias(Binding::Kind kind, const char* alias, const char* routine)
        : kind{kind}, alias{alias}, routine{routine}, next{first} {
        first = this;
    }

    Binding::Kind kind;
    const char* alias;
    const char* routine;
    Alias* next;

    static Alias* first;
};

// An argument may be a number or a list in place of an array or, inside of vmap, represent a batch
// of arrays; no routine accepts these. So a call that fails checks whether that is the reason, and
// other calls have no overhead: python/array_likes.h, python/batching.h.
CX_COLD PyObject* FailOrConvert(const ArgSpec& spec, PyObject* self, PyObject* const* args,
                                Py_ssize_t n, PyObject* keywords) noexcept;
// Inside of vmap, draws random numbers that differ for each example, even if no argument is a
// batch. Returns null if they are drawn as usual, or with a Python exception.
CX_COLD PyObject* DrawBatch(const ArgSpec& spec, PyObject* self, PyObject* const* args,
                            Py_ssize_t n, PyObject* keywords) noexcept;
extern int g_live_vmaps;  // of all threads; guarded by the GIL

template <PyObject* (*kImpl)(PyObject*, PyObject* const*), bool kDraws>
PyObject* CallBound(const ArgSpec& spec, PyObject* self, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords) {
    if constexpr (kDraws) {
        if (g_live_vmaps != 0) [[unlikely]] {
            PyObject* drawn = DrawBatch(spec, self, args, n, keywords);
            if (drawn != nullptr || PyErr_Occurred() != nullptr) return drawn;
        }
    }
    try {
        if (keywords == nullptr && spec.IsComplete(n)) [[likely]]
            return kImpl(self, args);
        if (keywords == nullptr && n == 0 && spec.IsOptional()) return kImpl(self, kNoArgs);
        PyObject* bound[kMaxArgs] = {};
        struct Release {
            PyObject* tuple;
            ~Release() { Py_XDECREF(tuple); }
        } release{spec.Bind(args, n, keywords, bound)};
        return kImpl(self, bound);
    } catch (...) {
        return FailOrConvert(spec, self, args, n, keywords);
    }
}

#define CX_BIND(kind, Prefix, Name, signature, doc) \
    CX_BIND_AS(kind, Binding::Draws(Binding::kind), false, Prefix, Name, signature, doc)
#define CX_BIND_AS(kind, draws, is_elementwise, Prefix, Name, signature, doc)                  \
    static PyObject* Prefix##Impl_##Name(PyObject* self, PyObject* const* a);                  \
    static ArgSpec Prefix##Spec_##Name{#Name, signature};                                      \
    static PyObject* Prefix##Entry_##Name(PyObject* self, PyObject* const* args, Py_ssize_t n, \
                                          PyObject* keywords) {                                \
        return CallBound<&Prefix##Impl_##Name, draws>(Prefix##Spec_##Name, self, args, n,      \
                                                      keywords);                               \
    }                                                                                          \
    static const Binding Prefix##Binding_##Name{Binding::kind, Prefix##Spec_##Name, doc,       \
                                                &Prefix##Entry_##Name, is_elementwise};        \
    static PyObject* Prefix##Impl_##Name([[maybe_unused]] PyObject* self,                      \
                                         [[maybe_unused]] PyObject* const* a)

#define CX_ROUTINE(Name, signature, doc) CX_BIND(kRoutine, Routine, Name, signature, doc)
// Binds a routine that draws random numbers.
#define CX_DRAWING_ROUTINE(Name, signature, doc) \
    CX_BIND_AS(kRoutine, true, false, Routine, Name, signature, doc)
// Binds a routine that computes elementwise, but lacks the options of CX_ELEMENTWISE.
#define CX_ELEMENTWISE_ROUTINE(Name, signature, doc) \
    CX_BIND_AS(kRoutine, false, true, Routine, Name, signature, doc)
#define CX_ALIAS(Name, Routine) static const Alias Alias_##Name{Binding::kRoutine, #Name, #Routine};
// In the body, `self` is the ndarray object; Self(self) its array.
#define CX_METHOD(Name, signature, doc) CX_BIND(kMethod, Method, Name, signature, doc)
#define CX_RANDOM(Name, signature, doc) CX_BIND(kRandom, Random, Name, signature, doc)
// Binds a function of chainerx.random, whose `self` is null, and a method of its Generator.
#define CX_DRAW(Name, signature, doc) CX_BIND(kDraw, Draw, Name, signature, doc)
// Binds a method of Generator alone.
#define CX_GENERATOR(Name, signature, doc) CX_BIND(kGenerator, Generator, Name, signature, doc)
#define CX_RANDOM_ALIAS(Name, Routine) \
    static const Alias RandomAlias_##Name{Binding::kRandom, #Name, #Routine};
#define CX_LINALG(Name, signature, doc) CX_BIND(kLinalg, Linalg, Name, signature, doc)
#define CX_SPECIAL(Name, signature, doc) CX_BIND(kSpecial, Special, Name, signature, doc)
#define CX_ELEMENTWISE_SPECIAL(Name, signature, doc) \
    CX_BIND_AS(kSpecial, false, true, Special, Name, signature, doc)
#define CX_FFT(Name, signature, doc) CX_BIND(kFft, Fft, Name, signature, doc)
#define CX_SPECIAL_ALIAS(Name, Routine) \
    static const Alias SpecialAlias_##Name{Binding::kSpecial, #Name, #Routine};
#define CX_LINALG_ALIAS(Name, Routine) \
    static const Alias LinalgAlias_##Name{Binding::kLinalg, #Name, #Routine};

}  // namespace chainerx::python
