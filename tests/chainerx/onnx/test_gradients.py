"""Gradients through operators of the suite: along a random direction, against differences."""

import chainerx
import numpy as np
import pytest
from chainerx.onnx import load
from onnx_models import suite

#: One case for each way in which operators are composed.
NAMES = [
    'test_attention_4d_attn_mask_4d_causal',
    'test_averagepool_2d_ceil',
    'test_batchnorm_epsilon',
    'test_col2im_pads',
    'test_conv_with_strides_and_asymmetric_padding',
    'test_convtranspose_output_shape',
    'test_cumsum_1d_reverse_exclusive',
    'test_einsum_batch_matmul',
    'test_gathernd_example_float32',
    'test_gemm_all_attributes',
    'test_gridsample_bicubic_align_corners_0_additional_1',
    'test_gru_with_initial_bias',
    'test_instancenorm_example',
    'test_layer_normalization_4d_axis1',
    'test_linear_attention_gated_delta',
    'test_lrn',
    'test_lstm_with_peepholes',
    'test_maxpool_2d_dilations',
    'test_nllloss_NCd1_weight_ii',
    'test_reduce_l2_keep_dims_random',
    'test_resize_upsample_scales_cubic',
    'test_rms_normalization_4d_axis1',
    'test_rnn_seq_length',
    'test_roialign_aligned_true',
    'test_rotary_embedding',
    'test_scan9_sum',
    'test_scatter_elements_with_axis',
    'test_sce_mean_3d',
    'test_softmax_axis_1',
    'test_stft_with_window',
    'test_top_k',
]


@pytest.mark.parametrize('name', NAMES)
def test_gradients(name, device):
    case = suite()[name]
    model = load(case.model.SerializeToString(), device)
    rng = np.random.default_rng(0)
    inputs = [np.asarray(x) for x in case.data_sets[0][0]]
    weights = [rng.standard_normal(np.shape(y)) for y in case.data_sets[0][1]]

    def total(arrays):
        ys = model(*arrays)
        ys = ys if isinstance(ys, tuple) else (ys,)
        terms = [
            (y * chainerx.array(w, y.dtype, device=device)).sum()
            for y, w in zip(ys, weights, strict=True)
            if y.dtype.kind == 'f'
        ]
        return sum(terms[1:], terms[0])

    arrays = [chainerx.array(x, device=device) for x in inputs]
    for a in arrays:
        if a.dtype.kind == 'f':
            a.require_grad()
    total(arrays).backward()
    # Regions and scales have no gradients.
    directions = [
        rng.standard_normal(a.shape) if a.dtype.kind == 'f' and a.grad is not None else None
        for a in arrays
    ]
    found = sum(
        float((chainerx.to_numpy(a.grad) * d).sum())
        for a, d in zip(arrays, directions, strict=True)
        if d is not None
    )

    def at(shift):
        moved = [
            x if d is None else (x + shift * d).astype(x.dtype)
            for x, d in zip(inputs, directions, strict=True)
        ]
        return float(total(moved))

    eps = 1e-3
    assert found != 0
    assert found == pytest.approx((at(eps) - at(-eps)) / (2 * eps), rel=2e-2, abs=2e-2)
