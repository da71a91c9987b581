// Rotary position embedding.
#include "chainerx/ops/attention/rotary.h"

#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(
    rotary_embedding,
    "x: ndarray, positions: ndarray | None = None, base: float = 10000.0, interleaved: bool = "
    "False, offset: int = 0) -> ndarray",
    "Rotary position embedding: rotates pairs of elements by angles proportional to the "
    "position.\n\n"
    "Pair ``i`` of a row, ``(a, b)``, becomes ``(a cos t - b sin t, b cos t + a sin t)`` with\n"
    "``t = (position + offset) * base ** (-2 * i / depth)``. So the dot product of two rows "
    "depends\n"
    "only on the distance of their positions.\n\n"
    "Args:\n"
    "    x (ndarray): (..., length, depth), any float dtype; depth is even.\n"
    "    positions (ndarray): Integers that broadcast to (..., length); None means 0, 1, 2, ... "
    "along axis -2.\n"
    "    base (float): Positive; the longest period is about ``2 * pi * base``.\n"
    "    interleaved (bool): Pairs are ``(x[2 * i], x[2 * i + 1])``; otherwise, as in most "
    "models,\n"
    "        ``(x[i], x[i + depth / 2])``.\n"
    "    offset (int): Added to the positions, for sequences that continue ``offset`` earlier "
    "rows.\n"
    "Returns:\n"
    "    ndarray: Shape and dtype of ``x``. Differentiable in ``x``, any order; the gradient is "
    "rotated back.\n"
    "Raises:\n"
    "    DimensionError: If depth is odd, or the shape of ``positions`` does not fit.\n"
    "    DtypeError: If ``x`` is not of a real float dtype, or ``positions`` not of an integer "
    "one.\n"
    "    ValueError: If ``base`` is not positive.\n"
    "Note:\n"
    "    Angles are computed in float64.\n"
    "Source: Su et al., RoFormer, arXiv:2104.09864, 2021.") {
    constexpr const char* kOp = "rotary_embedding";
    std::optional<Array> positions;
    if (Given(a[1])) positions = ToArray(kOp, "positions", a[1]);
    return Wrap(RotaryEmbedding(
        ToArray(kOp, "x", a[0]), positions, a[2] == nullptr ? 10000.0 : ToDouble(kOp, "base", a[2]),
        ToBool(a[3], false), a[4] == nullptr ? 0 : ToInt(kOp, "offset", a[4])));
}

}  // namespace
}  // namespace chainerx::python
