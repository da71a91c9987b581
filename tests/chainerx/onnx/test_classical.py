"""Linear models, as onnxruntime computes them, and their gradients."""

import chainerx
import numpy as np
import onnxruntime
import pytest
from chainerx.onnx import load
from onnx import helper
from onnx_models import info, make, node

X = np.array([[1, 2, -1], [-3, 1, 0.5], [0, 0, 0], [0.5, -0.75, 0]], 'f')
TWO_ROWS = [0.5, 0.25, -1.0, 0.75, -0.5, 0.125]
LABELS = {'classlabels_ints': [5, 7]}
TRANSFORMS = ('NONE', 'LOGISTIC', 'SOFTMAX', 'SOFTMAX_ZERO')

CASES = [
    *(('LinearClassifier', X, LABELS | {'coefficients': TWO_ROWS, 'intercepts': [0.5, 0.0],
       'post_transform': t}) for t in TRANSFORMS),
    *(('LinearClassifier', X, LABELS | {'coefficients': TWO_ROWS[:3], 'intercepts': [-1.0],
       'post_transform': t}) for t in TRANSFORMS[:2]),
    ('LinearClassifier', X[0], LABELS | {'coefficients': TWO_ROWS, 'intercepts': [0.5, 0.0]}),
    *(('LinearRegressor', X, {'coefficients': TWO_ROWS, 'intercepts': [0.5, 0.0], 'targets': 2,
       'post_transform': t}) for t in TRANSFORMS),
    ('LinearRegressor', X, {'coefficients': TWO_ROWS[:3]}),
    *(('Normalizer', X, {'norm': n}) for n in ('MAX', 'L1', 'L2')),
    ('Normalizer', X[0], {'norm': 'L1'}),
    ('Scaler', X, {'offset': [1.0, 2.0, 3.0], 'scale': [2.0, 0.5, 1.0]}),
    ('Scaler', X.astype('i8'), {'offset': [1.0], 'scale': [2.0]}),
    ('Imputer', X, {'imputed_value_floats': [9.0, 8.0, 7.0], 'replaced_value_float': 0.0}),
    ('Imputer', np.where(X == 0, np.nan, X), {'imputed_value_floats': [9.0],
     'replaced_value_float': np.nan}),
    ('Imputer', X.astype('i8'), {'imputed_value_int64s': [9], 'replaced_value_int64': 0}),
]  # fmt: skip


def model(op, x, attributes):
    names = ['y', 'scores'][: 1 + (op == 'LinearClassifier')]
    step = node(op, ['x'], names, 'n', domain='ai.onnx.ml', **attributes)
    inputs = [info('x', None, helper.np_dtype_to_tensor_dtype(x.dtype))]
    outputs = [helper.make_empty_tensor_value_info(n) for n in names]
    return make([step], inputs, outputs, opsets=[helper.make_opsetid('ai.onnx.ml', 1)])


@pytest.mark.parametrize(('op', 'x', 'attributes'), CASES)
def test_results(op, x, attributes, device):
    proto = model(op, x, attributes)
    expected = onnxruntime.InferenceSession(proto).run(None, {'x': x})
    found = load(proto, device)(x)
    for y, v in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        assert (y.shape, y.dtype) == (v.shape, v.dtype)
        np.testing.assert_allclose(chainerx.to_numpy(y), v, rtol=1e-6, atol=1e-6)


def test_gradients(device):
    attributes = {'coefficients': TWO_ROWS, 'intercepts': [0.5, 0.0]} | LABELS
    x = chainerx.array(X, device=device).require_grad()
    load(model('LinearClassifier', X, attributes), device)(x)[1].sum().backward()
    np.testing.assert_allclose(
        chainerx.to_numpy(x.grad), np.tile(np.reshape(TWO_ROWS, (2, 3)).sum(0), (4, 1)), rtol=1e-6
    )


def test_outputs_before_a_zip_map():
    """As skl2onnx ends classifiers: with dictionaries, which no array holds."""
    attributes = LABELS | {'coefficients': TWO_ROWS, 'intercepts': [0.5, 0.0]}
    nodes = [
        node('LinearClassifier', ['x'], ['label', 'scores'], domain='ai.onnx.ml', **attributes),
        node('ZipMap', ['scores'], ['maps'], domain='ai.onnx.ml', classlabels_int64s=[5, 7]),
    ]
    outputs = [helper.make_empty_tensor_value_info(n) for n in ('label', 'maps')]
    opsets = [helper.make_opsetid('ai.onnx.ml', 1)]
    proto = make(nodes, [info('x', [None, 3])], outputs, opsets=opsets)
    with pytest.raises(NotImplementedError, match='ZipMap'):
        load(proto)
    label, scores = load(proto, outputs=['label', 'scores'])(X)
    assert label.tolist() == [5 if a > b else 7 for a, b in scores.tolist()]


@pytest.mark.parametrize(
    ('op', 'attributes', 'error', 'message'),
    [
        ('LinearClassifier', {'classlabels_strings': ['a', 'b']}, NotImplementedError, 'strings'),
        ('LinearClassifier', LABELS | {'coefficients': [1.0]}, chainerx.DimensionError,
         r'"n" \(ai.onnx.ml.LinearClassifier\): attribute coefficients has 1 elements, expected 6'),
        ('LinearRegressor', {'coefficients': TWO_ROWS[:3], 'post_transform': 'PROBIT'},
         NotImplementedError, 'post_transform is "PROBIT", expected NONE'),
        ('Scaler', {'offset': [1.0, 2.0], 'scale': [1.0]}, chainerx.DimensionError,
         r'attribute offset has 2 elements, but X has shape \(4, 3\)'),
        ('Imputer', {'imputed_value_floats': [1.0, 2.0]}, chainerx.DimensionError,
         'imputed_value_floats has 2 elements'),
        ('Normalizer', {'norm': 'L3'}, ValueError, 'norm is "L3", expected MAX, L1 or L2'),
    ],
)  # fmt: skip
def test_errors(op, attributes, error, message):
    with pytest.raises(error, match=message):
        load(model(op, X, attributes))(X)
