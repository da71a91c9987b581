// chainerx.random.
#include "chainerx/ops/random.h"

#include "chainerx/ops/dropout.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

double ToDoubleOr(const char* op, const char* name, PyObject* o, double fallback) {
    return o == nullptr ? fallback : ToDouble(op, name, o);
}

// None is the shape of a number.
Shape ToSize(const char* op, PyObject* o) { return Given(o) ? ToShape(op, "size", o) : Shape{}; }

CX_RANDOM(seed, "seed: int | None = None) -> None",
          "Starts the random number generator anew.\n\n"
          "Args:\n"
          "    seed (int): 0 to 2**64 - 1; None takes the entropy of the system.\n"
          "Raises:\n"
          "    ValueError: If it is out of range.\n"
          "Note:\n"
          "    The same seed gives the same numbers on any number of threads.") {
    random::Seed(Given(a[0]) ? ToUint64("seed", "seed", a[0]) : random::MakeSeed());
    Py_RETURN_NONE;
}

CX_RANDOM(
    get_state, ") -> tuple[int, int]",
    "The state of the random number generator.\n\n"
    "Returns:\n"
    "    tuple of int: The seed and the number of draws since: what :func:`set_state` takes.") {
    const random::State s = random::GetState();
    return Py_BuildValue("KK", static_cast<unsigned long long>(s.seed),
                         static_cast<unsigned long long>(s.call));
}

CX_RANDOM(set_state, "state: tuple[int, int]) -> None",
          "Goes back to a state of the random number generator.\n\n"
          "Args:\n"
          "    state (tuple of int): What :func:`get_state` returned.\n"
          "Raises:\n"
          "    TypeError: If it is no tuple of two integers.") {
    if (!PyTuple_Check(a[0]) || PyTuple_GET_SIZE(a[0]) != 2) {
        throw TypeError{"set_state: state is of type ", Py_TYPE(a[0])->tp_name,
                        ", expected the tuple of two integers that get_state gave"};
    }
    random::SetState({ToUint64("set_state", "state[0]", PyTuple_GET_ITEM(a[0], 0)),
                      ToUint64("set_state", "state[1]", PyTuple_GET_ITEM(a[0], 1))});
    Py_RETURN_NONE;
}

CX_RANDOM(normal,
          "loc: float = 0.0, scale: float = 1.0, size: ShapeLike | None = None, "
          "dtype: DtypeLike = 'float64', device: DeviceLike | None = None, "
          "key: int | None = None) -> ndarray",
          "Numbers from a normal distribution.\n\n"
          "Args:\n"
          "    loc (float): Mean.\n"
          "    scale (float): Standard deviation, at least 0.\n"
          "    size: Shape; None gives a 0-dimensional array.\n"
          "    dtype: A real float dtype.\n"
          "    device: Default: the default device.\n"
          "    key (int): 0 to 2**64 - 1: the numbers then depend on it alone, and the generator "
          "stays as it is.\n"
          "Returns:\n    ndarray: Independent numbers.\n"
          "Source: Box, Muller, 1958, on Philox4x32-10 (Salmon et al., SC 2011).") {
    return Wrap(random::Normal(ToDoubleOr("normal", "loc", a[0], 0),
                               ToDoubleOr("normal", "scale", a[1], 1), ToSize("normal", a[2]),
                               ToDtypeOr(a[3], Dtype::kFloat64), ToDevice(a[4]),
                               ToKey("normal", "key", a[5])));
}

CX_RANDOM(uniform,
          "low: float = 0.0, high: float = 1.0, size: ShapeLike | None = None, "
          "dtype: DtypeLike = 'float64', device: DeviceLike | None = None, "
          "key: int | None = None) -> ndarray",
          "Numbers evenly distributed from ``low`` to ``high``.\n\n"
          "Args:\n"
          "    low (float): Start of the range.\n"
          "    high (float): End of the range, excluded; it may be below ``low``.\n"
          "    size: Shape; None gives a 0-dimensional array.\n"
          "    dtype: A real float dtype.\n"
          "    device: Default: the default device.\n"
          "    key (int): 0 to 2**64 - 1: the numbers then depend on it alone, and the generator "
          "stays as it is.\n"
          "Returns:\n    ndarray: Independent numbers.") {
    return Wrap(random::Uniform(ToDoubleOr("uniform", "low", a[0], 0),
                                ToDoubleOr("uniform", "high", a[1], 1), ToSize("uniform", a[2]),
                                ToDtypeOr(a[3], Dtype::kFloat64), ToDevice(a[4]),
                                ToKey("uniform", "key", a[5])));
}

PyObject* DrawIntegers(const char* op, PyObject* const* a) {
    const bool both = Given(a[1]);
    const int64_t low = both ? ToInt(op, "low", a[0]) : 0;
    const int64_t high = both ? ToInt(op, "high", a[1]) : ToInt(op, "low", a[0]);
    return Wrap(random::Integers(low, high, ToSize(op, a[2]), ToDtypeOr(a[3], Dtype::kInt64),
                                 ToDevice(a[4])));
}

CX_RANDOM(
    integers,
    "low: int, high: int | None = None, size: ShapeLike | None = None, "
    "dtype: DtypeLike = 'int64', device: DeviceLike | None = None) -> ndarray",
    "Integers evenly distributed in ``low <= x < high``, or ``0 <= x < low`` without high.\n\n"
    "Args:\n"
    "    low (int): Least value.\n"
    "    high (int): End of the range, excluded.\n"
    "    size: Shape; None gives a 0-dimensional array.\n"
    "    dtype: An integer dtype that holds the range.\n"
    "    device: Default: the default device.\n"
    "Returns:\n"
    "    ndarray: Independent integers.\n"
    "Raises:\n"
    "    ValueError: If the range is empty or beyond the dtype.") {
    return DrawIntegers("integers", a);
}

CX_RANDOM(
    randint,
    "low: int, high: int | None = None, size: ShapeLike | None = None, "
    "dtype: DtypeLike = 'int64', device: DeviceLike | None = None) -> ndarray",
    "Integers evenly distributed in ``low <= x < high``, or ``0 <= x < low`` without high.\n\n"
    "Args:\n"
    "    low (int): Least value.\n"
    "    high (int): End of the range, excluded.\n"
    "    size: Shape; None gives a 0-dimensional array.\n"
    "    dtype: An integer dtype that holds the range.\n"
    "    device: Default: the default device.\n"
    "Returns:\n"
    "    ndarray: Independent integers.\n"
    "Raises:\n"
    "    ValueError: If the range is empty or beyond the dtype.") {
    return DrawIntegers("randint", a);
}

CX_RANDOM(permutation, "x: ndarray | int, device: DeviceLike | None = None) -> ndarray",
          "A random order.\n\n"
          "Args:\n"
          "    x: A length n, for 0 ... n-1; or an ndarray, for its slices along the first axis.\n"
          "    device: Of the result for a length.\n"
          "Returns:\n    ndarray: int64, or a copy of ``x`` in another order. Differentiable.\n"
          "Raises:\n    DimensionError: If ``x`` is 0-dimensional, or a negative length.") {
    if (!IsNdArray(a[0])) {
        return Wrap(random::Permutation(ToInt("permutation", "x", a[0]), ToDevice(a[1])));
    }
    const Array& x = Self(a[0]);
    if (x.ndim() == 0) throw DimensionError{"permutation: x is 0-dimensional"};
    return Wrap(x.Take(random::Permutation(x.shape()[0], x.device()), 0));
}

CX_ROUTINE(dropout, "x: ndarray, ratio: float = 0.5, key: int | None = None) -> ndarray",
           "Each element is 0 with some probability, and scaled to keep the mean otherwise.\n\n"
           "Args:\n"
           "    x (ndarray): Any shape, a float dtype.\n"
           "    ratio (float): The probability, from 0 to below 1.\n"
           "    key (int): 0 to 2**64 - 1: the numbers then depend on it alone, and the generator "
           "of chainerx.random goes on as if it had not been asked.\n"
           "Returns:\n"
           "    ndarray: Shape and dtype of ``x``, C-contiguous: ``x / (1 - ratio)``, or "
           "``x * 0``. Differentiable, any order.\n"
           "Raises:\n    DtypeError: If ``x`` is not of a float dtype.\n"
           "    ValueError: If ``ratio`` is out of range.\n"
           "Note:\n    Backward keeps no mask: it draws the numbers again.\n"
           "Source: Srivastava et al., JMLR 2014.") {
    return Wrap(Dropout(ToArray("dropout", "x", a[0]), ToDoubleOr("dropout", "ratio", a[1], 0.5),
                        ToKey("dropout", "key", a[2])));
}

}  // namespace
}  // namespace chainerx::python
