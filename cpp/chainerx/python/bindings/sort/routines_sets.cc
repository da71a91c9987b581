// Set routines.
#include "chainerx/ops/sort/sets.h"

#include <vector>

#include "chainerx/python/convert.h"
#include "chainerx/python/named_tuple.h"

namespace chainerx::python {
namespace {

PyStructSequence_Field g_all_fields[] = {
    {"values", "The unique values."},
    {"indices", "Index of the first occurrence of each value."},
    {"inverse_indices", "Index of the value of each element."},
    {"counts", "Number of occurrences of each value."},
    {nullptr, nullptr}};
PyStructSequence_Field g_counts_fields[] = {{"values", "The unique values."},
                                            {"counts", "Number of occurrences of each value."},
                                            {nullptr, nullptr}};
PyStructSequence_Field g_inverse_fields[] = {
    {"values", "The unique values."},
    {"inverse_indices", "Index of the value of each element."},
    {nullptr, nullptr}};
NamedTuple g_all{"chainerx.UniqueAllResult", "Result of unique_all.", g_all_fields};
NamedTuple g_counts{"chainerx.UniqueCountsResult", "Result of unique_counts.", g_counts_fields};
NamedTuple g_inverse{"chainerx.UniqueInverseResult", "Result of unique_inverse.", g_inverse_fields};

// The elements to search for: an array, or numbers.
Array ToElements(const char* op, const char* name, PyObject* o, Device& device) {
    if (IsNdArray(o)) return Self(o);
    if (!TryScalar(o) && !PyList_Check(o) && !PyTuple_Check(o) &&
        !PyObject_TypeCheck(o, Numpy().ndarray)) {
        throw TypeError{op, ": ", name, " must be an array or numbers, got ", Py_TYPE(o)->tp_name};
    }
    return FromNumpy(o, std::nullopt, Sharing::kUnlessOddBools, device);
}

#define CX_NO_GRADIENT "No gradient."
#define CX_X "\n\nArgs:\n    x (ndarray): Any shape and dtype; it is flattened.\n"
#define CX_TWO                                                   \
    "\n\n"                                                       \
    "Args:\n"                                                    \
    "    ar1 (ndarray): Any shape and dtype; it is flattened.\n" \
    "    ar2 (ndarray): Likewise.\n"
#define CX_ASSUMED                                                                                 \
    "    assume_unique (bool): Whether the caller knows that neither has an element twice, which " \
    "saves the search.\n"
#define CX_SET "    ndarray: Sorted, of one dimension, in the promoted dtype. " CX_NO_GRADIENT

CX_ROUTINE(
    unique,
    "ar: ndarray, return_index: bool = False, return_inverse: bool = False, return_counts: "
    "bool = False, axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True) "
    "-> ndarray | tuple[ndarray, ...]",
    "The unique elements, sorted.\n\n"
    "Args:\n"
    "    ar (ndarray): Any shape and dtype.\n"
    "    return_index (bool): Whether to return the indices of their first occurrences.\n"
    "    return_inverse (bool): Whether to return, for each element, the index of its value.\n"
    "    return_counts (bool): Whether to return the numbers of their occurrences.\n"
    "    axis (int): Finds unique slices along this axis, instead of elements.\n"
    "    equal_nan (bool): Whether all NaN count as one element; slices with NaN are always "
    "distinct.\n"
    "    sorted (bool): It has no effect: results are always sorted.\n"
    "Returns:\n"
    "    ndarray or tuple of ndarray: The values, in the dtype of ``ar``; then the requested "
    "indices and counts, int64. " CX_NO_GRADIENT
    "\n"
    "Raises:\n"
    "    DimensionError: If there is no such axis.\n"
    "Note:\n"
    "    Indices are those in the flattened array, or on the axis; the inverse has the shape of "
    "``ar``, or the length of the axis.") {
    UniqueOptions options;
    options.indices = ToBool(a[1], false);
    options.inverse = ToBool(a[2], false);
    options.counts = ToBool(a[3], false);
    options.axis = ToOptionalAxis("unique", "axis", a[4]);
    options.equal_nan = ToBool(a[5], true);
    const UniqueResult result = Unique(ToArray("unique", "ar", a[0]), options);
    std::vector<Ref> items;
    for (const Array* y : {&result.values, &result.indices, &result.inverse, &result.counts}) {
        if (!y->is_null()) items.push_back(Check(Wrap(*y)));
    }
    if (items.size() == 1) return items[0].Release();
    Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; i < items.size(); ++i) {
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), items[i].Release());
    }
    return tuple.Release();
}

CX_ROUTINE(unique_all, "x: ndarray) -> UniqueAllResult",
           "The unique elements, their indices, and their counts." CX_X
           "Returns:\n"
           "    UniqueAllResult: A tuple: values, indices, inverse_indices, counts; as in "
           ":func:`unique`, but no NaN equals another. " CX_NO_GRADIENT) {
    const UniqueResult y = UniqueAll(ToArray("unique_all", "x", a[0]));
    const Ref values = Check(Wrap(y.values));
    const Ref indices = Check(Wrap(y.indices));
    const Ref inverse = Check(Wrap(y.inverse));
    const Ref counts = Check(Wrap(y.counts));
    return g_all.Make({values.get(), indices.get(), inverse.get(), counts.get()});
}

CX_ROUTINE(unique_counts, "x: ndarray) -> UniqueCountsResult",
           "The unique elements, and their counts." CX_X
           "Returns:\n"
           "    UniqueCountsResult: A tuple: values, counts; as in :func:`unique`, but no NaN "
           "equals another. " CX_NO_GRADIENT) {
    const UniqueResult y = UniqueCounts(ToArray("unique_counts", "x", a[0]));
    return g_counts.Make({y.values, y.counts});
}

CX_ROUTINE(unique_inverse, "x: ndarray) -> UniqueInverseResult",
           "The unique elements, and for each element the index of its value." CX_X
           "Returns:\n"
           "    UniqueInverseResult: A tuple: values, inverse_indices; as in :func:`unique`, but "
           "no NaN equals another. " CX_NO_GRADIENT) {
    const UniqueResult y = UniqueInverse(ToArray("unique_inverse", "x", a[0]));
    return g_inverse.Make({y.values, y.inverse});
}

CX_ROUTINE(unique_values, "x: ndarray) -> ndarray",
           "The unique elements, sorted." CX_X
           "Returns:\n"
           "    ndarray: As in :func:`unique`, but no NaN equals another. " CX_NO_GRADIENT) {
    return Wrap(UniqueValues(ToArray("unique_values", "x", a[0])));
}

CX_ROUTINE(
    isin,
    "element: ndarray | Scalar, test_elements: ArrayLike, assume_unique: bool = False, "
    "invert: bool = False, *, kind: str | None = None) -> ndarray",
    "Whether each element is among the test elements.\n\n"
    "Args:\n"
    "    element (ndarray or scalar): Any shape and dtype.\n"
    "    test_elements (ndarray or numbers): Any shape and dtype; an array beside a scalar.\n"
    "    assume_unique (bool): It has no effect.\n"
    "    invert (bool): Whether to invert the result.\n"
    "    kind (str): 'sort' or 'table', without effect on the result; 'table' does not accept "
    "floats.\n"
    "Returns:\n"
    "    ndarray: bool, the shape of ``element``. " CX_NO_GRADIENT
    "\n"
    "Raises:\n"
    "    ValueError: If ``kind`` is unknown, or does not accept the dtypes.\n"
    "Note:\n"
    "    NaN is never found.") {
    const bool is_number = IsNdArray(a[1]) && TryScalar(a[0]).has_value();
    const Array x = is_number ? ToElements("isin", "element", a[0], Self(a[1]).device())
                              : ToArray("isin", "element", a[0]);
    if (Given(a[4])) {
        const std::string_view kind = ToString("isin", "kind", a[4]);
        if (kind != "sort" && kind != "table") {
            throw ValueError{"isin: kind must be 'sort' or 'table', got '", kind, "'"};
        }
    }
    const Array test = ToElements("isin", "test_elements", a[1], x.device());
    if (Given(a[4]) && ToString("isin", "kind", a[4]) == "table") {
        for (const Array* given : {&x, &test}) {
            if (!IsDifferentiable(given->dtype())) continue;
            throw ValueError{"isin: kind is 'table' and ",
                             given == &x ? "element" : "test_elements", " has dtype ",
                             given->dtype(), ", expected bool or an integer dtype"};
        }
    }
    return Wrap(Isin(x, test, ToBool(a[3], false)));
}

CX_ROUTINE(intersect1d,
           "ar1: ndarray, ar2: ndarray, assume_unique: bool = False, return_indices: bool = False) "
           "-> ndarray | tuple[ndarray, ndarray, ndarray]",
           "Set intersection: the unique elements that are in both arrays." CX_TWO CX_ASSUMED
           "    return_indices (bool): Whether to return the indices of their first occurrences in "
           "each, int64.\n"
           "Returns:\n"
           "    ndarray or tuple of ndarray: Sorted, of one dimension, in the promoted dtype; then "
           "the indices in the flattened arrays. " CX_NO_GRADIENT) {
    const Array& x1 = ToArray("intersect1d", "ar1", a[0]);
    const Array& x2 = ToArray("intersect1d", "ar2", a[1]);
    const bool assume_unique = ToBool(a[2], false);
    if (!ToBool(a[3], false)) return Wrap(Intersect1D(x1, x2, assume_unique));
    const Intersection y = IntersectWithIndices(x1, x2, assume_unique);
    const Ref values = Check(Wrap(y.values));
    const Ref indices1 = Check(Wrap(y.indices1));
    const Ref indices2 = Check(Wrap(y.indices2));
    return Check(PyTuple_Pack(3, values.get(), indices1.get(), indices2.get())).Release();
}

CX_ROUTINE(union1d, "ar1: ndarray, ar2: ndarray) -> ndarray",
           "Set union: the unique elements that are in either array." CX_TWO "Returns:\n" CX_SET) {
    return Wrap(Union1D(ToArray("union1d", "ar1", a[0]), ToArray("union1d", "ar2", a[1])));
}

CX_ROUTINE(setdiff1d, "ar1: ndarray, ar2: ndarray, assume_unique: bool = False) -> ndarray",
           "Set difference: the unique elements of one array that are not in the other." CX_TWO
           "    assume_unique (bool): Whether ``ar1`` has no element twice; the result then keeps "
           "its order.\n"
           "Returns:\n"
           "    ndarray: Sorted, of one dimension, in the dtype of ``ar1``. " CX_NO_GRADIENT) {
    return Wrap(SetDiff1D(ToArray("setdiff1d", "ar1", a[0]), ToArray("setdiff1d", "ar2", a[1]),
                          ToBool(a[2], false)));
}

CX_ROUTINE(setxor1d, "ar1: ndarray, ar2: ndarray, assume_unique: bool = False) -> ndarray",
           "Symmetric difference: the unique elements that are in exactly one of two "
           "arrays." CX_TWO CX_ASSUMED "Returns:\n" CX_SET) {
    return Wrap(SetXor1D(ToArray("setxor1d", "ar1", a[0]), ToArray("setxor1d", "ar2", a[1]),
                         ToBool(a[2], false)));
}

}  // namespace
}  // namespace chainerx::python
