// chainerx.random: normal and uniform numbers, integers, permutations; routines_distributions.cc
// and routines_choices.cc have the others.
#include "chainerx/ops/random/random.h"

#include <cstdint>
#include <vector>

#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/random/dropout.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/generator.h"

namespace chainerx::python {
namespace {

double ToDoubleOr(const char* op, const char* name, PyObject* o, double fallback) {
    return o == nullptr ? fallback : ToDouble(op, name, o);
}

// A key replaces the generator.
random::Options ToKeyedOptions(const char* op, PyObject* self, PyObject* const* a) {
    random::Options options = ToDrawOptions(op, self, a);
    if (const auto key = ToKey(op, "key", a[3])) options.source = *key;
    return options;
}

#define CX_KEYED_SIGNATURE                                            \
    "size: ShapeLike | None = None, dtype: DtypeLike | None = None, " \
    "device: DeviceLike | None = None, key: int | None = None) -> ndarray"
#define CX_KEYED_ARGS                                                                      \
    CX_DRAW_ARGS                                                                           \
    "    key (int): 0 to 2**64 - 1. The numbers depend on it alone, and the state of the " \
    "generator does not change.\n"

CX_DRAW(normal, "loc: float | ndarray = 0.0, scale: float | ndarray = 1.0, " CX_KEYED_SIGNATURE,
        "Samples from a normal distribution.\n\n"
        "Args:\n"
        "    loc (float or ndarray): Mean.\n"
        "    scale (float or ndarray): Standard deviation, at least 0.\n" CX_KEYED_ARGS
        "Returns:\n"
        "    ndarray: Independent samples. Differentiable in array parameters, any order.\n"
        "Raises:\n"
        "    ValueError: If a parameter is out of range.\n"
        "Source: Box, Muller, 1958, on Philox4x32-10 (Salmon et al., SC 2011).") {
    return Wrap(random::Normal(ToParameter("normal", "loc", a[0]),
                               ToParameter("normal", "scale", a[1], 1),
                               ToKeyedOptions("normal", self, a + 2)));
}

CX_DRAW(uniform, "low: float | ndarray = 0.0, high: float | ndarray = 1.0, " CX_KEYED_SIGNATURE,
        "Samples from the uniform distribution on ``low <= x < high``.\n\n"
        "Args:\n"
        "    low (float or ndarray): Start of the range.\n"
        "    high (float or ndarray): End of the range, excluded; it may be below ``low``. If one "
        "is an array, rounding may yield the end itself.\n" CX_KEYED_ARGS
        "Returns:\n"
        "    ndarray: Independent samples. Differentiable in array parameters, any order.\n"
        "Raises:\n"
        "    ValueError: If a parameter is not finite.") {
    return Wrap(random::Uniform(ToParameter("uniform", "low", a[0]),
                                ToParameter("uniform", "high", a[1], 1),
                                ToKeyedOptions("uniform", self, a + 2)));
}

CX_DRAW(random, CX_DRAW_OUT_SIGNATURE,
        "Samples from the uniform distribution on ``0 <= x < 1``.\n\n"
        "Args:\n" CX_DRAW_OUT_ARGS
        "Returns:\n"
        "    ndarray: Independent samples.") {
    return DrawInto("random", self, a,
                    [](const random::Options& options) { return random::Uniform(0, 1, options); });
}
CX_RANDOM_ALIAS(random_sample, random)

CX_DRAW(standard_normal, CX_DRAW_OUT_SIGNATURE,
        "Samples from the standard normal distribution.\n\n"
        "Args:\n" CX_DRAW_OUT_ARGS
        "Returns:\n"
        "    ndarray: Independent samples.") {
    return DrawInto("standard_normal", self, a,
                    [](const random::Options& options) { return random::Normal(0, 1, options); });
}

// The options of rand and randn: separate dimensions, followed by dtype and device.
random::Options ToListedOptions(const char* op, PyObject* const* a) {
    random::Options options;
    options.size = PyTuple_GET_SIZE(a[0]) == 0 ? Shape{} : ToShapeFromArgs(op, "dims", a[0]);
    if (Given(a[1])) options.dtype = ToDtype(a[1]);
    if (Given(a[2])) options.device = &ToDevice(a[2]);
    return options;
}

CX_RANDOM(rand,
          "*dims: int, dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> "
          "ndarray",
          "Samples from the uniform distribution on ``0 <= x < 1``.\n\n"
          "Args:\n"
          "    dims (int): Shape.\n"
          "    dtype: A real float dtype; None is float64.\n"
          "    device: Default: the default device.\n"
          "Returns:\n"
          "    ndarray: Independent samples.") {
    return Wrap(random::Uniform(0, 1, ToListedOptions("rand", a)));
}

CX_RANDOM(randn,
          "*dims: int, dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> "
          "ndarray",
          "Samples from the standard normal distribution.\n\n"
          "Args:\n"
          "    dims (int): Shape.\n"
          "    dtype: A real float dtype; None is float64.\n"
          "    device: Default: the default device.\n"
          "Returns:\n"
          "    ndarray: Independent samples.") {
    return Wrap(random::Normal(0, 1, ToListedOptions("randn", a)));
}

// An integer beside an array, as an array without dimensions.
Array ToIntegers(const char* op, const char* name, PyObject* o, Device& device) {
    if (IsNdArray(o)) return Self(o);
    const Scalar x = ToWideInt(op, name, o);
    return Full(Shape{}, x, x.kind() == DtypeKind::kUInt ? Dtype::kUInt64 : Dtype::kInt64, device);
}

PyObject* DrawIntegers(const char* op, PyObject* self, PyObject* const* a, bool closed) {
    const bool both = Given(a[1]);
    PyObject* const high = both ? a[1] : a[0];
    const char* const high_name = both ? "high" : "low";
    const random::Options options = ToDrawOptions(op, self, a + 2);
    if (IsNdArray(a[0]) || IsNdArray(high)) {
        Device& device = (IsNdArray(a[0]) ? Self(a[0]) : Self(high)).device();
        const Array from = both ? ToIntegers(op, "low", a[0], device)
                                : Full(Shape{}, Scalar{0}, Dtype::kInt64, device);
        const Array to = ToIntegers(op, high_name, high, device);
        return Wrap(closed ? random::IntegersUpTo(from, to, options)
                           : random::Integers(from, to, options));
    }
    const Scalar from = both ? ToWideInt(op, "low", a[0]) : Scalar{0};
    if (!closed) {
        const Scalar to = ToWideInt(op, high_name, high, 1);
        if (from.kind() == DtypeKind::kInt && to.kind() == DtypeKind::kInt &&
            to.To<int64_t>() < INT64_MAX) {
            return Wrap(random::Integers(from.To<int64_t>(), to.To<int64_t>() + 1, options));
        }
        return Wrap(random::IntegersUpTo(from, to, options));
    }
    return Wrap(random::IntegersUpTo(from, ToWideInt(op, high_name, high), options));
}

#define CX_INTEGERS_SIGNATURE                                                                \
    "low: int | ndarray, high: int | ndarray | None = None, size: ShapeLike | None = None, " \
    "dtype: DtypeLike | None = None, device: DeviceLike | None = None"
#define CX_INTEGERS_DOC(endpoint)                                                                 \
    "Uniformly distributed integers, ``low <= x < high``, or ``0 <= x < low`` without high.\n\n"  \
    "Args:\n"                                                                                     \
    "    low (int or ndarray): Smallest value.\n"                                                 \
    "    high (int or ndarray): End of the range, excluded; up to 2**64.\n"                       \
    "    size: Shape; None means that of the arrays, broadcast.\n"                                \
    "    dtype: An integer dtype that holds the range; None is int64.\n"                          \
    "    device: Default: that of the arrays, else the default device.\n" endpoint                \
    "Returns:\n"                                                                                  \
    "    ndarray: Independent integers.\n"                                                        \
    "Raises:\n"                                                                                   \
    "    ValueError: If the range is empty or beyond the dtype.\n"                                \
    "Note:\n"                                                                                     \
    "    Ranges up to 2**20, and others that nearly divide 2**32, take 32 random bits, and all\n" \
    "    numbers are equally likely. Others take 64, with a bias of at most range / 2**64. "      \
    "Arrays\n"                                                                                    \
    "    of bounds take 64, unless they have one element."

CX_DRAW(integers, CX_INTEGERS_SIGNATURE ", *, endpoint: bool = False) -> ndarray",
        CX_INTEGERS_DOC("    endpoint (bool): Whether ``high`` is included.\n")) {
    return DrawIntegers("integers", self, a, ToBool(a[5], false));
}
CX_RANDOM(randint, CX_INTEGERS_SIGNATURE ") -> ndarray", CX_INTEGERS_DOC("")) {
    return DrawIntegers("randint", nullptr, a, false);
}

CX_DRAW(permutation,
        "x: ndarray | int, axis: int = 0, device: DeviceLike | None = None) -> ndarray",
        "A random permutation.\n\n"
        "Args:\n"
        "    x: A length n, to permute 0 ... n-1; or an ndarray, whose slices along an axis are "
        "permuted.\n"
        "    axis (int): The axis of an ndarray.\n"
        "    device: Device of the result if ``x`` is a length. Default: that of ``x``, else the "
        "default device.\n"
        "Returns:\n"
        "    ndarray: int64, or a permuted copy of ``x``. Differentiable.\n"
        "Raises:\n"
        "    DimensionError: If ``x`` is 0-d, a negative length, or has no such axis.\n"
        "    DeviceError: If an ndarray is on another device than ``device``.") {
    const random::Generator& generator = GeneratorOf(self);
    if (!IsNdArray(a[0])) {
        const int64_t n = ToInt("permutation", "x", a[0]);
        if (n < 0) throw DimensionError{"permutation: x is ", n, ", expected at least 0"};
        return Wrap(random::Permutation(n, ToDevice(a[2]), generator));
    }
    const Array& x = Self(a[0]);
    if (Given(a[2])) CheckSameDevice("permutation", ToDevice(a[2]), x.device());
    if (x.ndim() == 0) throw DimensionError{"permutation: x is 0-dimensional"};
    const int8_t axis = NormalizeAxis(
        "permutation", a[1] == nullptr ? 0 : ToAxis("permutation", "axis", a[1]), x.ndim());
    return Wrap(x.Take(random::Permutation(x.shape()[axis], x.device(), generator), axis));
}

CX_DRAW(
    permuted, "x: ndarray, axis: int | None = None, out: ndarray | None = None) -> ndarray",
    "Permutes elements at random, in an independent order for each position on the other axes.\n\n"
    "Args:\n"
    "    x (ndarray): Any shape and dtype.\n"
    "    axis (int): The axis to permute; None permutes all elements.\n"
    "    out (ndarray): Written to and returned. It has the shape of ``x`` and a dtype of no lower "
    "kind; it may be ``x``.\n"
    "Returns:\n"
    "    ndarray: A copy. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there is no such axis.") {
    return Finish("permuted",
                  random::Permuted(ToArray("permuted", "x", a[0]),
                                   ToOptionalAxis("permuted", "axis", a[1]), GeneratorOf(self)),
                  a[2]);
}

CX_DRAW(bytes, "length: int) -> builtins.bytes",
        "Random bytes.\n\n"
        "Args:\n"
        "    length (int): The number of bytes.\n"
        "Returns:\n"
        "    bytes: Independent and uniformly distributed.\n"
        "Raises:\n"
        "    DimensionError: If ``length`` is negative.") {
    const int64_t length = ToInt("bytes", "length", a[0]);
    if (length < 0) throw DimensionError{"bytes: length is ", length, ", expected at least 0"};
    const Array y = random::Integers(
        0, 256, {.size = Shape{length}, .dtype = Dtype::kUInt8, .source = GeneratorOf(self)});
    const std::vector<uint8_t> bytes = y.ToHost<uint8_t>();
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                     static_cast<Py_ssize_t>(bytes.size()));
}

CX_DRAWING_ROUTINE(dropout, "x: ndarray, ratio: float = 0.5, key: int | None = None) -> ndarray",
                   "Dropout: sets each element to 0 with a probability, and scales the others to "
                   "keep the mean.\n\n"
                   "Args:\n"
                   "    x (ndarray): Any shape, a float dtype.\n"
                   "    ratio (float): The probability, in [0, 1).\n"
                   "    key (int): 0 to 2**64 - 1. The numbers depend on it alone, and the state "
                   "of chainerx.random does not change.\n"
                   "Returns:\n"
                   "    ndarray: Shape and dtype of ``x``, C-contiguous: ``x / (1 - ratio)``, or "
                   "``x * 0``. Differentiable, any order.\n"
                   "Raises:\n"
                   "    DtypeError: If ``x`` is not of a float dtype.\n"
                   "    ValueError: If ``ratio`` is out of range.\n"
                   "Note:\n"
                   "    No mask is kept: backward draws the numbers again.\n"
                   "Source: Srivastava et al., JMLR 2014.") {
    return Wrap(Dropout(ToArray("dropout", "x", a[0]), ToDoubleOr("dropout", "ratio", a[1], 0.5),
                        ToKey("dropout", "key", a[2])));
}

}  // namespace
}  // namespace chainerx::python
