// Attention.
#include "chainerx/ops/attention/attention.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(
    scaled_dot_product_attention,
    "query: ndarray, key: ndarray, value: ndarray, attn_mask: ndarray | None = None, "
    "dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, "
    "enable_gqa: bool = False, dropout_key: int | None = None) -> ndarray",
    "Attention: ``softmax(scale * query @ key.T + attn_mask) @ value``, over the last two axes.\n\n"
    "Args:\n"
    "    query (ndarray): (..., queries, width), a float dtype; leading axes of all broadcast.\n"
    "    key (ndarray): (..., keys, width).\n"
    "    value (ndarray): (..., keys, width of values).\n"
    "    attn_mask (ndarray): Broadcasts to (..., queries, keys). bool: a key takes part for a "
    "query where it is True. A float dtype: added to the scores; -inf is possible.\n"
    "    dropout_p (float): The probability, from 0 to below 1, with which a weight becomes 0; "
    "others are divided by ``1 - dropout_p``. It always applies.\n"
    "    is_causal (bool): Query ``i`` sees keys ``0`` to ``i``, of those that the mask leaves.\n"
    "    scale (float): Of the scores; None for ``1 / sqrt(width)``.\n"
    "    enable_gqa (bool): Axis -3 counts heads; ``query`` has a multiple of those of ``key`` "
    "and ``value``, each of which serves as many adjacent ones.\n"
    "    dropout_key (int): As ``key`` of `dropout`.\n"
    "Returns:\n"
    "    ndarray: (..., queries, width of values), of the dtype that those of ``query``, ``key`` "
    "and ``value`` promote to.\n"
    "    A query for which no key takes part gives zeros. Differentiable in all floats, any "
    "order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit.\n"
    "    DtypeError: If a dtype is neither a real float nor, of ``attn_mask``, bool.\n"
    "    ValueError: If ``dropout_p`` is out of range.\n"
    "Note:\n"
    "    The scores are never all in memory: backward computes them again, block by block, and "
    "draws what was dropped again.\n"
    "    Only a backward with ``enable_double_backprop`` makes several arrays of all scores.\n"
    "    16-bit floats are summed in float32. A weight of 0 hides any value but inf and nan.\n"
    "    Heads may be views of one matrix, ``x.reshape(n, length, heads, -1).swapaxes(1, 2)``: "
    "nothing is copied, and the result is laid out as ``query``, so going back is a view.\n"
    "Source: Vaswani et al., NIPS 2017; Dao et al., NeurIPS 2022.") {
    constexpr const char* kOp = "scaled_dot_product_attention";
    std::optional<Array> mask;
    if (Given(a[3])) mask = ToArray(kOp, "attn_mask", a[3]);
    AttentionSettings settings;
    if (a[4] != nullptr) settings.dropout = ToDouble(kOp, "dropout_p", a[4]);
    settings.is_causal = ToBool(a[5], false);
    if (Given(a[6])) settings.scale = ToDouble(kOp, "scale", a[6]);
    settings.is_grouped = ToBool(a[7], false);
    settings.key = ToKey(kOp, "dropout_key", a[8]);
    return Wrap(ScaledDotProductAttention(ToArray(kOp, "query", a[0]), ToArray(kOp, "key", a[1]),
                                          ToArray(kOp, "value", a[2]), mask, settings));
}

}  // namespace
}  // namespace chainerx::python
