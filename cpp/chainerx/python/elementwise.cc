#include "chainerx/python/elementwise.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/ops/elementwise/out_argument.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/binary.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

constexpr int kMaxOperands = 3;

// The name of an operand, by the signature: "x1: ndarray, x2: ...".
std::string NameOf(const ElementwiseFn& f, int i) {
    std::string_view rest = f.spec.signature();
    for (; i > 0; --i) rest.remove_prefix(rest.find(", ") + 2);
    return std::string{rest.substr(0, rest.find(':'))};
}

// Unpacks a tuple of one array, which NumPy accepts for `out`.
PyObject* OnlyOf(const char* op, PyObject* out) {
    if (!PyTuple_Check(out)) return out;
    if (PyTuple_GET_SIZE(out) != 1) {
        throw TypeError{op, ": out has ", int64_t{PyTuple_GET_SIZE(out)}, " arrays, expected 1"};
    }
    return PyTuple_GET_ITEM(out, 0);
}

Device& DeviceOf(PyObject* const* operands, int n) {
    for (int i = 0; i < n; ++i) {
        if (IsNdArray(operands[i])) return Self(operands[i]).device();
    }
    return GetDefaultDevice();
}

// The operands cast to a dtype.
struct CastOperands {
    Ref held[kMaxOperands];
    PyObject* objects[kMaxOperands];

    CastOperands(const ElementwiseFn& f, PyObject* const* given,
                 const std::optional<Dtype>& dtype) {
        if (dtype && f.op != nullptr) internal::CheckComputesIn(f.op(), *dtype);
        for (int i = 0; i < f.n_operands; ++i) {
            objects[i] = given[i];
            if (!dtype || given[i] == Py_None) continue;
            const std::string held_name = NameOf(f, i);
            const char* name = held_name.c_str();
            if (IsNdArray(given[i])) {
                held[i] =
                    Ref(Wrap(internal::OperandAs(f.spec.name(), name, Self(given[i]), *dtype)));
                objects[i] = held[i].get();
            } else {
                internal::CheckOperandAs(f.spec.name(), name,
                                         ToNumberBeside(f.spec.name(), name, given[i]), *dtype);
            }
        }
    }
};

// False if the kernel of the operation can't be used: without arrays, or if it does not compute in
// their dtype.
bool ComputeKnownInto(const ElementwiseFn& f, PyObject* const* objects, const Array& out,
                      const Array* where) {
    if (f.op == nullptr) return false;
    std::optional<Scalar> scalars[kMaxOperands];
    std::optional<Operand> operands[kMaxOperands];
    bool has_array = false;
    for (int i = 0; i < f.n_operands; ++i) {
        if (objects[i] == Py_None) return false;
        if (IsNdArray(objects[i])) {
            if (!ComputesIn(f.op().rule, Self(objects[i]).dtype())) return false;
            operands[i].emplace(Self(objects[i]));
            has_array = true;
        } else {
            scalars[i] = ToNumberBeside(f.spec.name(), NameOf(f, i).c_str(), objects[i]);
            operands[i].emplace(*scalars[i]);
        }
    }
    if (!has_array) return false;
    std::vector<Operand> all;
    for (int i = 0; i < f.n_operands; ++i) all.push_back(*operands[i]);
    internal::ComputeInto(f.op(), all, out, where);
    return true;
}

void CheckSameShape(const char* op, const Array& y, const Array& out) {
    if (y.shape() == out.shape()) return;
    throw DimensionError{op, ": out.shape is ", out.shape(), ", expected ", y.shape()};
}

}  // namespace

const Array* ToOut(const char* op, PyObject* o) {
    if (!Given(o)) return nullptr;
    PyObject* only = OnlyOf(op, o);
    return only == Py_None ? nullptr : &ToArray(op, "out", only);
}

std::optional<Array> ToMask(const char* op, PyObject* o, Device& device) {
    if (o == nullptr || o == Py_True) return std::nullopt;
    if (IsNdArray(o)) return Self(o);
    if (const auto scalar = TryScalar(o)) {
        if (scalar->kind() != DtypeKind::kBool) ThrowNotArray(op, "where", o);
        if (scalar->To<bool>()) return std::nullopt;
        return Zeros(Shape{}, Dtype::kBool, device);
    }
    return ToCondition(op, "where", o, device);
}

PyObject* CallWithOptions(const ElementwiseFn& f, PyObject* const* args, Py_ssize_t n,
                          PyObject* keywords) {
    PyObject* bound[kMaxArgs] = {};
    f.spec.Bind(args, n, keywords, bound);
    const char* op = f.spec.name();
    for (int i = 0; i < f.n_operands; ++i) {
        if (bound[i] == nullptr) bound[i] = Py_None;  // an optional one
    }
    PyObject* const* options = bound + f.n_operands;
    const bool has_dtype = f.spec.count() > f.n_operands + 2 && Given(options[2]);
    if (!Given(options[0]) && options[1] == nullptr && !has_dtype) return f.compute(bound);
    const Array* out = ToOut(op, options[0]);
    std::optional<Array> where = ToMask(op, options[1], DeviceOf(bound, f.n_operands));
    std::optional<Dtype> dtype;
    if (has_dtype) dtype = ToDtype(options[2]);
    const CastOperands operands{f, bound, dtype};
    const Array* mask = where ? &*where : nullptr;
    if (out != nullptr) {
        if (!ComputeKnownInto(f, operands.objects, *out, mask)) {
            const Ref y = Ref(f.compute(operands.objects));
            internal::StoreInto(op, Self(y.get()), *out, mask);
        }
        return Py_NewRef(OnlyOf(op, options[0]));
    }
    Ref y = Ref(f.compute(operands.objects));
    if (dtype && Self(y.get()).dtype() != *dtype) {
        throw DtypeError{op, ": dtype is ", *dtype, ", in which it is not computed"};
    }
    return mask == nullptr ? y.Release() : Wrap(internal::OrZero(op, Self(y.get()), *mask));
}

PyObject* TryWithOptions(const ElementwiseFn& f, PyObject* const* args, Py_ssize_t n,
                         PyObject* keywords) noexcept {
    try {
        return CallWithOptions(f, args, n, keywords);
    } catch (...) {
        return FailOrConvert(f.spec, nullptr, args, n, keywords);
    }
}

bool ToKeepdims(const char* op, PyObject* o) {
    if (o == nullptr || o == Py_False) return false;
    if (o == Py_True) return true;
    const std::optional<Scalar> number = TryScalar(o);
    if (number && number->kind() < DtypeKind::kFloat) return number->To<bool>();
    throw TypeError{op, ": keepdims must be a bool, got ", Py_TYPE(o)->tp_name,
                    "; give axis, dtype and out of NumPy by their names"};
}

PyObject* Finish(const char* op, Array y, PyObject* out) {
    const Array* to = ToOut(op, out);
    if (to == nullptr) return Wrap(std::move(y));
    CheckSameShape(op, y, *to);
    internal::StoreInto(op, y, *to);
    return Py_NewRef(OnlyOf(op, out));
}

PyObject* FinishPair(const char* op, const Array& y1, const Array& y2, PyObject* out,
                     PyObject* where) {
    PyObject* const none[] = {nullptr, nullptr};
    PyObject* const* outs = none;
    if (Given(out)) {
        if (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != 2) {
            throw TypeError{op, ": out is no tuple of two arrays"};
        }
        outs = &PyTuple_GET_ITEM(out, 0);
    }
    const std::optional<Array> mask = ToMask(op, where, y1.device());
    const auto finish = [&](const Array& y, PyObject* to) {
        if (!Given(to)) return Ref(Wrap(mask ? internal::OrZero(op, y, *mask) : y));
        internal::StoreInto(op, y, ToArray(op, "out", to), mask ? &*mask : nullptr);
        return Ref(Py_NewRef(to));
    };
    const Ref first = finish(y1, outs[0]);
    const Ref second = finish(y2, outs[1]);
    return PyTuple_Pack(2, first.get(), second.get());
}

}  // namespace chainerx::python
