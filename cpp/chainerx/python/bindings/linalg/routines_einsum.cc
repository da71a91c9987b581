// Einstein summation.
#include "chainerx/ops/linalg/einsum.h"

#include <string_view>

#include "chainerx/ops/elementwise/out_argument.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/array_likes.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

struct Call {
    EinsumSubscripts subscripts;
    std::vector<Array> operands;
};

// Parses labels such as [0, 1, Ellipsis].
EinsumLabels ToLabels(PyObject* o) {
    const Ref sequence = TrySequence(o);
    if (!sequence) {
        throw TypeError{"einsum: subscripts are a ", Py_TYPE(o)->tp_name,
                        ", expected a list of integers"};
    }
    EinsumLabels labels;
    const Items items{sequence.get()};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (items[i] == Py_Ellipsis) {
            labels.push_back(kEinsumEllipsis);
            continue;
        }
        const int64_t label = ToIntNotBool("einsum", "subscripts", items[i]);
        if (label < 0 || label >= kEinsumLetters) {
            throw ValueError{"einsum: a subscript is ", label, ", expected 0 to ",
                             kEinsumLetters - 1};
        }
        labels.push_back(static_cast<int>(label));
    }
    return labels;
}

Array ToOperand(PyObject* args, Py_ssize_t i) {
    PyObject* const o = PyTuple_GET_ITEM(args, i);
    if (IsNdArray(o)) [[likely]]
        return Self(o);
    ArraysBeside beside;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) beside.See(PyTuple_GET_ITEM(args, k));
    return beside.Make("einsum", "operands", o);
}

// Parses "ij,jk", a, b; or a, [0, 1], b, [1, 2], followed by the labels of the output.
Call ToCall(PyObject* args) {
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n == 0) throw TypeError{"einsum() missing required argument: subscripts"};
    Call call;
    PyObject* first = PyTuple_GET_ITEM(args, 0);
    if (PyUnicode_Check(first)) {
        call.subscripts = EinsumSubscripts{ToString("einsum", "subscripts", first)};
        for (Py_ssize_t i = 1; i < n; ++i) {
            call.operands.push_back(ToOperand(args, i));
        }
        return call;
    }
    for (Py_ssize_t i = 0; i + 1 < n; i += 2) {
        call.operands.push_back(ToOperand(args, i));
        call.subscripts.inputs.push_back(ToLabels(PyTuple_GET_ITEM(args, i + 1)));
    }
    if (n % 2 == 1) call.subscripts.output = ToLabels(PyTuple_GET_ITEM(args, n - 1));
    return call;
}

EinsumOrder::Search ToSearch(PyObject* o) {
    const std::string_view name = ToString("einsum", "optimize", o);
    if (name == "greedy") return EinsumOrder::Search::kGreedy;
    if (name == "optimal") return EinsumOrder::Search::kOptimal;
    throw ValueError{"einsum: optimize is '", name, "', expected greedy or optimal"};
}

// Parses True, False, a name, a name with a number of elements, or a path that begins with its
// name.
EinsumOrder ToOrder(PyObject* o, EinsumOrder::Search fallback) {
    EinsumOrder order{fallback};
    if (!Given(o)) return order;
    if (PyBool_Check(o)) {
        order.search =
            o == Py_True ? EinsumOrder::Search::kGreedy : EinsumOrder::Search::kLeftToRight;
        return order;
    }
    if (PyUnicode_Check(o)) {
        order.search = ToSearch(o);
        return order;
    }
    const Ref sequence = TrySequence(o);
    if (!sequence) {
        throw TypeError{"einsum: optimize is a ", Py_TYPE(o)->tp_name,
                        ", expected a bool, a name or a path"};
    }
    const Items items{sequence.get()};
    const bool is_named = items.size() > 0 && PyUnicode_Check(items[0]) != 0;
    const std::string_view name = is_named ? ToString("einsum", "optimize", items[0]) : "";
    if (items.size() == 2 && is_named && name != "einsum_path") {
        order.search = ToSearch(items[0]);
        order.most_elements = ToDouble("einsum", "optimize", items[1]);
        return order;
    }
    if (name != "einsum_path") {
        throw ValueError{"einsum: optimize begins with '", name,
                         "', expected a path that begins with 'einsum_path'"};
    }
    order.search = EinsumOrder::Search::kGiven;
    for (Py_ssize_t i = 1; i < items.size(); ++i) {
        std::optional<std::vector<int64_t>> step = TryInts("einsum", "optimize", items[i]);
        if (!step) {
            throw TypeError{"einsum: a step of the path is a ", Py_TYPE(items[i])->tp_name,
                            ", expected integers"};
        }
        order.path.push_back(std::move(*step));
    }
    return order;
}

#define CX_OPERANDS                                                                                \
    "    *operands: Subscripts, a str such as ``'ij,jk->ik'`` or ``'...i,i'``, followed by the "   \
    "arrays; or arrays, each followed by a list of integers for its axes, and optionally one for " \
    "the output.\n"

CX_ROUTINE(
    einsum,
    "*operands: Any, optimize: Any = False, dtype: DtypeLike | None = None, " CX_RESULT_OUT
    ") -> ndarray",
    "Sums of products in Einstein's notation, like ``numpy.einsum``.\n\n"
    "Args:\n" CX_OPERANDS
    "    optimize (bool, str, tuple or list): The order of contractions: from left to right "
    "(False), a\n"
    "        good one (True or ``'greedy'``), the one of least work (``'optimal'``), or a path of\n"
    "        :func:`einsum_path`.\n"
    "    dtype (dtype): The dtype to compute in, of no lower kind than those of the operands; by "
    "default the promoted one.\n" CX_RESULT_OUT_ARG
    "Returns:\n"
    "    ndarray: The axes of the output; a view if a single operand is not summed. "
    "Differentiable in all operands, any order.\n"
    "Raises:\n"
    "    ValueError: If subscripts are malformed.\n"
    "    DimensionError: If they do not fit the arrays.\n"
    "    DtypeError: If ``dtype`` is of a lower kind than an operand.\n"
    "Note:\n"
    "    Operands are contracted two at a time as matrix products; sums are in the dtype of "
    "the result.") {
    Call call = ToCall(a[0]);
    if (Given(a[2])) {
        const Dtype dtype = ToDtype(a[2]);
        for (Array& x : call.operands) x = internal::OperandAs("einsum", "operands", x, dtype);
    }
    return Finish(
        "einsum",
        Einsum(call.subscripts, call.operands, ToOrder(a[1], EinsumOrder::Search::kLeftToRight)),
        a[3]);
}

CX_ROUTINE(
    einsum_path, "*operands: Any, optimize: Any = 'greedy') -> tuple[list[Any], str]",
    "The order in which :func:`einsum` contracts its operands, for its argument ``optimize``.\n\n"
    "Args:\n" CX_OPERANDS
    "    optimize (bool, str, tuple or list): As for :func:`einsum`; ``(name, n)`` allows "
    "intermediate results of at most n elements.\n"
    "Returns:\n"
    "    tuple: The path, ``['einsum_path', (i, j), ...]``, the positions of the operands to "
    "contract, whose product is appended; and a description.\n"
    "Raises:\n"
    "    ValueError: If subscripts or a path are malformed.\n"
    "    DimensionError: If they do not fit the arrays.") {
    const Call call = ToCall(a[0]);
    const EinsumPlan plan =
        PlanEinsum(call.subscripts, call.operands, ToOrder(a[1], EinsumOrder::Search::kGreedy));
    const Ref path = Check(PyList_New(0));
    const auto append = [&path](const Ref& item) {
        if (PyList_Append(path.get(), item.get()) < 0) throw PythonError{};
    };
    append(Check(PyUnicode_FromString("einsum_path")));
    for (const std::vector<int64_t>& step : plan.path) {
        append(Check(FromInts(step.data(), static_cast<int64_t>(step.size()))));
    }
    const Ref report = Check(PyUnicode_FromString(plan.report.c_str()));
    return Check(PyTuple_Pack(2, path.get(), report.get())).Release();
}

}  // namespace
}  // namespace chainerx::python
