"""A row per link, for `test_link_rows.py` and `serializers/test_v7_links.py`."""

from links.cases import activation, attention, connection, loss, model, normalization, rnn

ROWS = [
    *activation.ROWS, *attention.ROWS, *connection.ROWS, *loss.ROWS, *model.ROWS,
    *normalization.ROWS, *rnn.ROWS,
]  # fmt: skip
# Too large to store; test_links_vision.py compares their values with those of Chainer v7.
MODELS = {
    'GoogLeNet', 'ResNet50Layers', 'ResNet101Layers', 'ResNet152Layers', 'VGG16Layers',
    'VGG19Layers',
}  # fmt: skip
# Names of links that Chainer v7 does not have.
NEW = {
    'MultiHeadAttention', 'ONNXFunction', 'RMSNorm', 'TransformerEncoder',
    'TransformerEncoderLayer',
}  # fmt: skip
# Links without a row: what they depend on is no longer available.
GONE = {'TheanoFunction'}
