// Poolings and their inverses.
#include "chainerx/ops/pool/pooling.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/per_axis.h"

namespace chainerx::python {
namespace {

// Returns (y, indices), or (y, None).
PyObject* WrapPair(const std::pair<Array, Array>& pair) {
    const Ref y{Wrap(pair.first)};
    const Ref indices{pair.second.is_null() ? Py_NewRef(Py_None) : Wrap(pair.second)};
    return PyTuple_Pack(2, y.get(), indices.get());
}

AveragePoolPadMode ToPoolPadMode(PyObject* o) {
    if (o == nullptr) return AveragePoolPadMode::kIgnore;
    const std::string_view mode = ToString("average_pool", "pad_mode", o);
    if (mode == "zero") return AveragePoolPadMode::kZero;
    if (mode == "ignore") return AveragePoolPadMode::kIgnore;
    throw ValueError{"average_pool: pad_mode is '", mode, "', expected 'zero' or 'ignore'"};
}

CX_ROUTINE(
    max_pool,
    "x: ndarray, ksize: int | Sequence[int], stride: int | Sequence[int] | None = None, "
    "pad: int | Sequence[int] | Sequence[Sequence[int]] = 0, cover_all: bool = False, "
    "return_indices: bool = False) -> Any",
    "Max pooling: the maximum of each window over the spatial axes.\n\n"
    "Args:\n"
    "    x (ndarray): (batch, channels, ...) with 1 to 8 spatial axes, any dtype but complex.\n"
    "    ksize (int or tuple of int): The size of the window, for all axes or for each.\n"
    "    stride (int or tuple of int): The step of the window; None means ``ksize``.\n"
    "    pad (int, tuple of int, or tuple of pairs): Padding at both ends of each axis, or before "
    "and after it. It is never the maximum.\n"
    "    cover_all (bool): Whether to add a window where some of the input would otherwise be left "
    "out.\n"
    "    return_indices (bool): Whether to return the indices as well.\n"
    "Returns:\n"
    "    ndarray, or a tuple of it and the indices: (batch, channels, ...) of the dtype of ``x``. "
    "Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If the window is larger than the padded input, the stride is below 1, or "
    "the number of values is not that of the spatial axes.\n"
    "    DtypeError: If ``x`` is complex.\n"
    "Note:\n"
    "    The indices are int64: positions of the maxima within their windows, in C order.\n"
    "    NaN is the maximum. Among equal elements the first one gets the gradient. A window of "
    "padding alone gives -inf, or the smallest integer, and index 0.") {
    constexpr const char* kOp = "max_pool";
    const Array& x = ToArray(kOp, "x", a[0]);
    const PerAxis ksize = ToPerAxis(kOp, "ksize", a[1]);
    const std::optional<PerAxis> stride = ToOptionalPerAxis(kOp, "stride", a[2]);
    const AxisPads pad = ToAxisPads(kOp, a[3]);
    const bool cover_all = ToBool(a[4], false);
    if (ToBool(a[5], false)) return WrapPair(MaxPoolWithIndices(x, ksize, stride, pad, cover_all));
    return Wrap(MaxPool(x, ksize, stride, pad, cover_all));
}

CX_ROUTINE(_max_pool_kept,
           "x: ndarray, ksize: Any, stride: Any, pad: Any, cover_all: bool, "
           "indices: bool) -> Any",
           "Same as :func:`max_pool`, but also returns the indices that backward keeps, or None if "
           "nothing needs them.") {
    constexpr const char* kOp = "max_pool";
    return WrapPair(internal::MaxPoolKept(ToArray(kOp, "x", a[0]), ToPerAxis(kOp, "ksize", a[1]),
                                          ToOptionalPerAxis(kOp, "stride", a[2]),
                                          ToAxisPads(kOp, a[3]), ToBool(a[4], false),
                                          ToBool(a[5], false)));
}

CX_ROUTINE(average_pool,
           "x: ndarray, ksize: int | Sequence[int], stride: int | Sequence[int] | None = None, "
           "pad: int | Sequence[int] | Sequence[Sequence[int]] = 0, pad_mode: str = 'ignore', "
           "cover_all: bool = False) -> ndarray",
           "Average pooling: the mean of each window over the spatial axes.\n\n"
           "Args:\n"
           "    x (ndarray): (batch, channels, ...) with 1 to 8 spatial axes, a float dtype.\n"
           "    ksize (int or tuple of int): The size of the window, for all axes or for each.\n"
           "    stride (int or tuple of int): The step of the window; None means ``ksize``.\n"
           "    pad (int, tuple of int, or tuple of pairs): Padding at both ends of each axis, or "
           "before and after it.\n"
           "    pad_mode (str): 'zero' includes the padding in the mean, 'ignore' does not.\n"
           "    cover_all (bool): Whether to add a window where some of the input would otherwise "
           "be left out.\n"
           "Returns:\n"
           "    ndarray: (batch, channels, ...) of the dtype of ``x``. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If the window is larger than the padded input, the stride is below "
           "1, or the number of values is not that of the spatial axes.\n"
           "    DtypeError: If ``x`` is not of a float dtype.\n"
           "    ValueError: If there is no such ``pad_mode``.\n"
           "Note:\n"
           "    16-bit floats are accumulated in float32. A window of padding alone gives 0.") {
    constexpr const char* kOp = "average_pool";
    return Wrap(AveragePool(ToArray(kOp, "x", a[0]), ToPerAxis(kOp, "ksize", a[1]),
                            ToOptionalPerAxis(kOp, "stride", a[2]), ToAxisPads(kOp, a[3]),
                            ToPoolPadMode(a[4]), ToBool(a[5], false)));
}

CX_ROUTINE(unpool,
           "x: ndarray, ksize: int | Sequence[int], stride: int | Sequence[int] | None = None, "
           "pad: int | Sequence[int] | Sequence[Sequence[int]] = 0, "
           "outsize: int | Sequence[int] | None = None, cover_all: bool = False) -> ndarray",
           "Unpooling: copies each element to all positions of its window; the gradient of sum "
           "pooling.\n\n"
           "Args:\n"
           "    x (ndarray): (batch, channels, ...) with 1 to 8 spatial axes, a float dtype.\n"
           "    ksize (int or tuple of int): The size of the window, for all axes or for each.\n"
           "    stride (int or tuple of int): The step of the window; None means ``ksize``.\n"
           "    pad (int, tuple of int, or tuple of pairs): Number of elements cropped at both "
           "ends of each axis, or before and after it.\n"
           "    outsize (int or tuple of int): The spatial lengths of the result; None means the "
           "smallest that a pooling maps to the shape of ``x``.\n"
           "    cover_all (bool): Whether that pooling has ``cover_all``.\n"
           "Returns:\n"
           "    ndarray: (batch, channels, ...) of the dtype of ``x``; overlapping windows are "
           "added. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``outsize`` does not fit the shape of ``x``, the stride is "
           "below 1, or the number of values is not that of the spatial axes.\n"
           "    DtypeError: If ``x`` is not of a float dtype.") {
    constexpr const char* kOp = "unpool";
    return Wrap(Unpool(ToArray(kOp, "x", a[0]), ToPerAxis(kOp, "ksize", a[1]),
                       ToOptionalPerAxis(kOp, "stride", a[2]), ToAxisPads(kOp, a[3]),
                       ToOptionalPerAxis(kOp, "outsize", a[4]), ToBool(a[5], false)));
}

CX_ROUTINE(
    max_unpool,
    "x: ndarray, indices: ndarray, ksize: int | Sequence[int], "
    "stride: int | Sequence[int] | None = None, "
    "pad: int | Sequence[int] | Sequence[Sequence[int]] = 0, "
    "outsize: int | Sequence[int] | None = None, cover_all: bool = False) -> ndarray",
    "Max unpooling: writes each element to one position of its window, zeros elsewhere.\n\n"
    "Args:\n"
    "    x (ndarray): (batch, channels, ...) with 1 to 8 spatial axes, a float dtype.\n"
    "    indices (ndarray): Integers of the shape of ``x``: positions within the windows, as "
    ":func:`max_pool` returns them.\n"
    "    ksize (int or tuple of int): The size of the window, for all axes or for each.\n"
    "    stride (int or tuple of int): The step of the window; None means ``ksize``.\n"
    "    pad (int, tuple of int, or tuple of pairs): Number of elements cropped at both ends of "
    "each axis, or before and after it.\n"
    "    outsize (int or tuple of int): The spatial lengths of the result; None means the smallest "
    "that a pooling maps to the shape of ``x``.\n"
    "    cover_all (bool): Whether that pooling has ``cover_all``.\n"
    "Returns:\n"
    "    ndarray: (batch, channels, ...) of the dtype of ``x``; elements at the same position are "
    "added. Differentiable in ``x``, any order.\n"
    "Raises:\n"
    "    DimensionError: If ``outsize`` or ``indices`` do not fit the shape of ``x``, the stride "
    "is below 1, or the number of values is not that of the spatial axes.\n"
    "    DtypeError: If ``x`` is not of a float dtype, or ``indices`` not of an integer dtype.\n"
    "    IndexError: If an index is out of its window.") {
    constexpr const char* kOp = "max_unpool";
    return Wrap(MaxUnpool(ToArray(kOp, "x", a[0]), ToArray(kOp, "indices", a[1]),
                          ToPerAxis(kOp, "ksize", a[2]), ToOptionalPerAxis(kOp, "stride", a[3]),
                          ToAxisPads(kOp, a[4]), ToOptionalPerAxis(kOp, "outsize", a[5]),
                          ToBool(a[6], false)));
}

// `dtypes`: those of `x`; `is_other`: that it has another one.
#define CX_ADAPTIVE_POOL(name, Name, kind, dtypes, is_other)                                       \
    CX_ROUTINE(                                                                                    \
        name, "x: ndarray, output_size: int | Sequence[int]) -> ndarray",                          \
        "Adaptive " kind                                                                           \
        " of a given number of parts of the spatial axes.\n\n"                                     \
        "Args:\n"                                                                                  \
        "    x (ndarray): (batch, channels, ...) with 1 to 8 spatial axes, " dtypes                \
        ".\n"                                                                                      \
        "    output_size (int or tuple of int): The number of parts, for all axes or for each.\n"  \
        "Returns:\n"                                                                               \
        "    ndarray: (batch, channels, *output_size) of the dtype of ``x``. Differentiable, any " \
        "order.\n"                                                                                 \
        "Raises:\n"                                                                                \
        "    DimensionError: If an axis is empty, or the number of values is not that of the "     \
        "spatial "                                                                                 \
        "axes.\n"                                                                                  \
        "    DtypeError: If ``x`` is " is_other                                                    \
        ".\n"                                                                                      \
        "Note:\n"                                                                                  \
        "    Part ``i`` of ``m`` of an axis of length ``n`` covers ``floor(i * n / m)`` up to "    \
        "``ceil((i + 1) * n / m)``, excluded.") {                                                  \
        return Wrap(Name(ToArray(#name, "x", a[0]), ToPerAxis(#name, "output_size", a[1])));       \
    }
#define CX_GLOBAL_POOL(name, Name, kind, dtypes, is_other)                                      \
    CX_ROUTINE(name, "x: ndarray) -> ndarray",                                                  \
               "Global " kind                                                                   \
               " of each channel.\n\n"                                                          \
               "Args:\n"                                                                        \
               "    x (ndarray): (batch, channels, ...) with 1 to 8 spatial axes, " dtypes      \
               ".\n"                                                                            \
               "Returns:\n"                                                                     \
               "    ndarray: (batch, channels, 1, ...) of the dtype of ``x``. Differentiable, " \
               "any order.\n"                                                                   \
               "Raises:\n"                                                                      \
               "    DimensionError: If there is no spatial axis, or an empty one.\n"            \
               "    DtypeError: If ``x`` is " is_other ".") {                                   \
        return Wrap(Name(ToArray(#name, "x", a[0])));                                           \
    }
CX_ADAPTIVE_POOL(adaptive_max_pool, AdaptiveMaxPool, "max pooling: the maxima",
                 "any dtype but complex", "complex")
CX_ADAPTIVE_POOL(adaptive_average_pool, AdaptiveAveragePool, "average pooling: the means",
                 "a float dtype", "not of a float dtype")
CX_GLOBAL_POOL(global_max_pool, GlobalMaxPool, "max pooling: the maximum", "any dtype but complex",
               "complex")
CX_GLOBAL_POOL(global_average_pool, GlobalAveragePool, "average pooling: the mean", "a float dtype",
               "not of a float dtype")
#undef CX_ADAPTIVE_POOL
#undef CX_GLOBAL_POOL

}  // namespace
}  // namespace chainerx::python
