// Attention.
#include "chainerx/ops/attention/attention.h"

#include "chainerx/python/convert.h"

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
    "    attn_mask (ndarray): Broadcasts to (..., queries, keys). If bool, a query attends to the "
    "keys where it is True. If float, it is added to the scores and may be -inf.\n"
    "    dropout_p (float): The probability, in [0, 1), with which a weight becomes 0; the others "
    "are divided by ``1 - dropout_p``. It always applies: there is no evaluation mode.\n"
    "    is_causal (bool): Query ``i`` attends to keys ``0`` to ``i`` only, among those that the "
    "mask allows.\n"
    "    scale (float): Factor of the scores; None means ``1 / sqrt(width)``.\n"
    "    enable_gqa (bool): Grouped-query attention: axis -3 counts heads, and each head of "
    "``key`` and ``value`` serves several adjacent heads of ``query``.\n"
    "    dropout_key (int): The ``key`` of `dropout`.\n"
    "Returns:\n"
    "    ndarray: (..., queries, width of values), in the promoted dtype of ``query``, ``key`` and "
    "``value``.\n"
    "    Zeros for a query that attends to no key. Differentiable in all float arrays, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit.\n"
    "    DtypeError: If a dtype is not a real float; ``attn_mask`` may be bool.\n"
    "    ValueError: If ``dropout_p`` is out of range.\n"
    "Note:\n"
    "    The scores are never all in memory: backward recomputes them block by block, and redraws "
    "the dropout mask.\n"
    "    Only a backward with ``enable_double_backprop`` materializes them.\n"
    "    16-bit floats are accumulated in float32. A weight of 0 hides any value but inf and nan.\n"
    "    Heads may be views of one matrix, ``x.reshape(n, length, heads, -1).swapaxes(1, 2)``: "
    "nothing is copied, and the\n"
    "    result has the memory layout of ``query``, so that the inverse reshape is a view, too.\n"
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
