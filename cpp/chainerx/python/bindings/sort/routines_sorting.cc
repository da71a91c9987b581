// Sorting, partial sorting and searching.
#include <new>
#include <vector>

#include "chainerx/core/interrupt.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/sort/sorting.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

// -1 if it is omitted, nullopt for None.
std::optional<int8_t> ToSortAxis(const char* op, PyObject* o) {
    if (o == nullptr) return -1;
    return ToOptionalAxis(op, "axis", o);
}

int8_t ToMethodAxis(const char* op, PyObject* o) {
    return o == nullptr ? -1 : ToAxis(op, "axis", o);
}

// All of NumPy's kinds have the same result here.
void CheckKind(const char* op, PyObject* kind, PyObject* stable) {
    if (!Given(kind)) return;
    const std::string_view name = ToString(op, "kind", kind);
    if (name == "quicksort" || name == "mergesort" || name == "heapsort" || name == "stable") {
        if (!Given(stable)) return;
        throw ValueError{op,
                         ": kind is '",
                         name,
                         "' and stable is ",
                         ToBool(stable, false) ? "True" : "False",
                         ", expected one of the two"};
    }
    throw ValueError{op, ": kind must be 'quicksort', 'mergesort', 'heapsort' or 'stable', got '",
                     name, "'"};
}

void CheckSelect(const char* op, PyObject* kind) {
    if (!Given(kind)) return;
    const std::string_view name = ToString(op, "kind", kind);
    if (name != "introselect") {
        throw ValueError{op, ": kind must be 'introselect', got '", name, "'"};
    }
}

std::vector<int64_t> ToPlaces(const char* op, PyObject* o) {
    if (std::optional<std::vector<int64_t>> places = TryInts(op, "kth", o)) return *places;
    return {ToIntNotBool(op, "kth", o)};
}

bool ToSide(PyObject* o) {
    if (o == nullptr) return false;
    const std::string_view side = ToString("searchsorted", "side", o);
    if (side == "left") return false;
    if (side == "right") return true;
    throw ValueError{"searchsorted: side must be 'left' or 'right', got '", side, "'"};
}

// Unlike elsewhere, a number has its own dtype: 2.5 can be searched for among integers, too.
Array ToSearched(const Array& a, PyObject* o) {
    if (!TryScalar(o)) return ToValues("searchsorted", "v", a, o);
    return FromNumpy(o, std::nullopt, Sharing::kUnlessOddBools, a.device());
}

PyObject* CallSearchSorted(const Array& a, PyObject* const* rest) {
    std::optional<Array> sorter;
    if (Given(rest[2])) sorter = ToIndices("searchsorted", "sorter", rest[2], a.device());
    return Wrap(SearchSorted(a, ToSearched(a, rest[0]), ToSide(rest[1]), sorter));
}

#define CX_SORT_SIGNATURE \
    "axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None, "
#define CX_SORT_ARGS                                                       \
    "    axis (int): The axis, or None for the flattened array.\n"         \
    "    kind (str): Any kind of NumPy's; all are the same stable sort.\n" \
    "    stable (bool): Instead of ``kind``; it has no effect, either.\n"  \
    "    descending (bool): Whether to sort from large to small; stable, too.\n"
#define CX_ORDER                                                                               \
    "Note:\n"                                                                                  \
    "    NaN is above all numbers, and -0.0 equals 0.0. Complex numbers are ordered by their " \
    "real parts, then by their imaginary ones."
#define CX_BAD_AXIS "    DimensionError: If there is no such axis.\n"
#define CX_BAD_KIND "    ValueError: If ``kind`` is unknown, or ``stable`` is given as well.\n"

CX_ROUTINE(sort, "a: ndarray, " CX_SORT_SIGNATURE "descending: bool = False) -> ndarray",
           "Sorted copy of an array.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape but (), any dtype.\n" CX_SORT_ARGS
           "Returns:\n"
           "    ndarray: Shape and dtype of ``a``; without an axis, of one dimension. "
           "Differentiable, any order.\n"
           "Raises:\n" CX_BAD_AXIS CX_BAD_KIND CX_ORDER) {
    CheckKind("sort", a[2], a[3]);
    return Wrap(Sort(ToArray("sort", "a", a[0]), ToSortAxis("sort", a[1]), ToBool(a[4], false)));
}

CX_ROUTINE(
    sort_complex, "a: ndarray) -> ndarray",
    "Sorted copy of an array along the last axis, as complex numbers: by real parts, then by\n"
    "imaginary ones.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape but (), any dtype.\n"
    "Returns:\n"
    "    ndarray: complex128 for float64 and complex128, else complex64. Differentiable, any "
    "order.\n"
    "Raises:\n"
    "    DimensionError: If ``a`` is 0-d.") {
    return Wrap(SortComplex(ToArray("sort_complex", "a", a[0])));
}

CX_ROUTINE(argsort, "a: ndarray, " CX_SORT_SIGNATURE "descending: bool = False) -> ndarray",
           "Indices of the elements in sorted order.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape but (), any dtype.\n" CX_SORT_ARGS
           "Returns:\n"
           "    ndarray: int64, the shape of ``a``; without an axis, of one dimension. No "
           "gradient.\n"
           "Raises:\n" CX_BAD_AXIS CX_BAD_KIND CX_ORDER) {
    CheckKind("argsort", a[2], a[3]);
    return Wrap(
        ArgSort(ToArray("argsort", "a", a[0]), ToSortAxis("argsort", a[1]), ToBool(a[4], false)));
}

CX_METHOD(sort, CX_SORT_SIGNATURE "descending: bool = False) -> None",
          "Sorts the array in place. See chainerx.sort().\n\n"
          "Raises:\n    ChainerxError: If the array is in a graph, or read-only.") {
    CheckKind("sort", a[1], a[2]);
    internal::SortInPlace(Self(self), ToMethodAxis("sort", a[0]), ToBool(a[3], false));
    return Py_NewRef(Py_None);
}

CX_METHOD(argsort, CX_SORT_SIGNATURE "descending: bool = False) -> ndarray",
          "See chainerx.argsort().") {
    CheckKind("argsort", a[1], a[2]);
    return Wrap(ArgSort(Self(self), ToSortAxis("argsort", a[0]), ToBool(a[3], false)));
}

#define CX_KTH "kth: int | Sequence[int], axis: int | None = -1, kind: str = 'introselect') -> "
#define CX_KTH_ARGS                                                                              \
    "    kth (int or sequence of int): Indices on the axis; negative ones count from the end.\n" \
    "    axis (int): The axis, or None for the flattened array.\n"                               \
    "    kind (str): 'introselect'.\n"
#define CX_KTH_RAISES       \
    "Raises:\n" CX_BAD_AXIS \
    "    ValueError: If an index is out of range, or ``kind`` is unknown.\n" CX_ORDER
#define CX_PARTED                                                                                  \
    "the elements at indices ``kth`` are those of the sorted array, smaller ones come before and " \
    "larger ones after them"

CX_ROUTINE(partition, "a: ndarray, " CX_KTH "ndarray",
           "Partially sorted copy of an array: " CX_PARTED
           ".\n\n"
           "Args:\n    a (ndarray): Any shape but (), any dtype.\n" CX_KTH_ARGS
           "Returns:\n"
           "    ndarray: Shape and dtype of ``a``; without an axis, of one dimension. "
           "Differentiable, any order.\n" CX_KTH_RAISES) {
    CheckSelect("partition", a[3]);
    return Wrap(Partition(ToArray("partition", "a", a[0]), ToPlaces("partition", a[1]),
                          ToSortAxis("partition", a[2])));
}

CX_ROUTINE(argpartition, "a: ndarray, " CX_KTH "ndarray",
           "Indices of the elements in partially sorted order: " CX_PARTED
           ".\n\n"
           "Args:\n    a (ndarray): Any shape but (), any dtype.\n" CX_KTH_ARGS
           "Returns:\n"
           "    ndarray: int64, the shape of ``a``; without an axis, of one dimension. No "
           "gradient.\n" CX_KTH_RAISES) {
    CheckSelect("argpartition", a[3]);
    return Wrap(ArgPartition(ToArray("argpartition", "a", a[0]), ToPlaces("argpartition", a[1]),
                             ToSortAxis("argpartition", a[2])));
}

CX_METHOD(partition, CX_KTH "None",
          "Partitions the array in place. See chainerx.partition().\n\n"
          "Raises:\n    ChainerxError: If the array is in a graph, or read-only.") {
    CheckSelect("partition", a[2]);
    internal::PartitionInPlace(Self(self), ToPlaces("partition", a[0]),
                               ToMethodAxis("partition", a[1]));
    return Py_NewRef(Py_None);
}

CX_METHOD(argpartition, CX_KTH "ndarray", "See chainerx.argpartition().") {
    CheckSelect("argpartition", a[2]);
    return Wrap(
        ArgPartition(Self(self), ToPlaces("argpartition", a[0]), ToSortAxis("argpartition", a[1])));
}

CX_ROUTINE(topk,
           "x: ndarray, k: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> "
           "tuple[ndarray, ndarray]",
           "The ``k`` largest or smallest elements along an axis.\n\n"
           "Args:\n"
           "    x (ndarray): Any shape but (), any dtype but complex ones.\n"
           "    k (int): The number of elements, from 0 to the length of the axis.\n"
           "    axis (int): The axis.\n"
           "    largest (bool): Whether to return the largest ones, or the smallest.\n"
           "    sorted (bool): Whether the result is sorted; otherwise it is in the order of the "
           "indices.\n"
           "Returns:\n"
           "    tuple of ndarray: Values, in the dtype of ``x``, differentiable, any order; and "
           "their indices on the axis, int64.\n"
           "Raises:\n" CX_BAD_AXIS
           "    ValueError: If ``k`` is negative, or above the length of the axis.\n"
           "    DtypeError: If ``x`` is complex.\n"
           "Note:\n"
           "    NaN is the largest. Among equal elements, the first ones are taken.") {
    auto [values, places] =
        TopK(ToArray("topk", "x", a[0]), ToIntNotBool("topk", "k", a[1]),
             ToMethodAxis("topk", a[2]), ToBool(a[3], true), ToBool(a[4], true));
    const Ref first = Check(Wrap(std::move(values)));
    const Ref second = Check(Wrap(std::move(places)));
    return Check(PyTuple_Pack(2, first.get(), second.get())).Release();
}

CX_ROUTINE(lexsort, "keys: ndarray | Sequence[ndarray], axis: int = -1) -> ndarray",
           "Indices that sort by several keys.\n\n"
           "Args:\n"
           "    keys (sequence of ndarray): Of one shape, any dtypes; or an array of keys along "
           "its first axis. The last key is the primary one, ties are broken by the one before.\n"
           "    axis (int): The axis.\n"
           "Returns:\n"
           "    ndarray: int64, the shape of a key. No gradient.\n"
           "Raises:\n"
           "    ValueError: If there are no keys.\n"
           "    DimensionError: If their shapes differ, or there is no such axis.") {
    std::vector<Array> keys;
    if (IsNdArray(a[0])) {
        const Array& all = Self(a[0]);
        if (all.ndim() == 0) {
            throw DimensionError{"lexsort: keys have shape (), expected one or more dimensions"};
        }
        const int64_t n = all.shape()[0];
        // Fails early, and not in the allocator, where sanitizers would stop the process.
        if (n >= int64_t{1} << 32) throw std::bad_alloc{};
        keys.reserve(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) {
            if (i % 1024 == 1023) internal::CheckInterrupt();
            keys.push_back(At(all, i));
        }
    } else {
        keys = ToArrays("lexsort", "keys", a[0]);
    }
    const std::vector<ConstArrayRef> refs = Refs(keys);
    return Wrap(LexSort(refs, ToMethodAxis("lexsort", a[1])));
}

CX_ROUTINE(searchsorted,
           "a: ndarray, v: ArrayLike, side: str = 'left', sorter: ndarray | Sequence[int] | None "
           "= None) -> ndarray",
           "Indices at which to insert elements into a sorted array, to keep its order.\n\n"
           "Args:\n"
           "    a (ndarray): (n,), any dtype, in the order of :func:`sort`.\n"
           "    v (ndarray or numbers): The elements to insert; any shape and dtype.\n"
           "    side (str): 'left': before equal elements; 'right': after them.\n"
           "    sorter (ndarray): (n,), integers: indices that sort ``a``, if it is not sorted.\n"
           "Returns:\n"
           "    ndarray: int64, the shape of ``v``, from 0 to n. No gradient.\n"
           "Raises:\n"
           "    DimensionError: If ``a`` is not 1-d, or ``sorter`` has another shape.\n"
           "    DtypeError: If ``sorter`` is not of an integer dtype.\n"
           "    IndexError: If one of its indices is out of range.\n"
           "    ValueError: If ``side`` is unknown.") {
    return CallSearchSorted(ToArray("searchsorted", "a", a[0]), a + 1);
}

CX_METHOD(searchsorted,
          "v: ArrayLike, side: str = 'left', sorter: ndarray | Sequence[int] | None = None) -> "
          "ndarray",
          "See chainerx.searchsorted().") {
    return CallSearchSorted(Self(self), a);
}

}  // namespace
}  // namespace chainerx::python
