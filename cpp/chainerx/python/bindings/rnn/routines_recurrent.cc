// Recurrent networks.
#include "chainerx/ops/rnn/recurrent.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

ArrayLists ToLists(const char* op, const char* name, PyObject* o) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        throw TypeError{op, ": ", name, " must be a list or tuple of lists, got ",
                        Py_TYPE(o)->tp_name};
    }
    ArrayLists lists;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n; ++i) {  // runs no Python code
        lists.push_back(ToArrays(op, name, PySequence_Fast_GET_ITEM(o, i)));
    }
    return lists;
}

NStepOptions ToOptions(const char* op, PyObject* n_layers, bool is_bidirectional) {
    return {ToInt(op, "n_layers", n_layers), is_bidirectional};
}

RnnActivation ToActivation(const char* op, PyObject* o) {
    if (o == nullptr) return RnnActivation::kTanh;
    const std::string_view name = ToString(op, "activation", o);
    if (name == "tanh") return RnnActivation::kTanh;
    if (name == "relu") return RnnActivation::kRelu;
    throw ValueError{op, ": activation is '", name, "', expected 'tanh' or 'relu'"};
}

PyObject* WrapResult(const NStepResult& y) {
    const bool has_cells = !y.cy.is_null();
    const Ref hy = Check(Wrap(y.hy));
    const Ref ys = Check(WrapList(y.ys));
    if (!has_cells) return Check(PyTuple_Pack(2, hy.get(), ys.get())).Release();
    const Ref cy = Check(Wrap(y.cy));
    return Check(PyTuple_Pack(3, hy.get(), cy.get(), ys.get())).Release();
}

PyObject* CallLstm(const char* op, PyObject* const* a, bool is_bidirectional) {
    return WrapResult(NStepLstm(ToOptions(op, a[0], is_bidirectional), ToArray(op, "hx", a[1]),
                                ToArray(op, "cx", a[2]), ToLists(op, "ws", a[3]),
                                ToLists(op, "bs", a[4]), ToArrays(op, "xs", a[5])));
}

PyObject* CallGru(const char* op, PyObject* const* a, bool is_bidirectional) {
    return WrapResult(NStepGru(ToOptions(op, a[0], is_bidirectional), ToArray(op, "hx", a[1]),
                               ToLists(op, "ws", a[2]), ToLists(op, "bs", a[3]),
                               ToArrays(op, "xs", a[4])));
}

PyObject* CallRnn(const char* op, PyObject* const* a, bool is_bidirectional) {
    return WrapResult(NStepRnn(ToOptions(op, a[0], is_bidirectional), ToArray(op, "hx", a[1]),
                               ToLists(op, "ws", a[2]), ToLists(op, "bs", a[3]),
                               ToArrays(op, "xs", a[4]), ToActivation(op, a[5])));
}

#define CX_LSTM_SIGNATURE                                                        \
    "n_layers: int, hx: ndarray, cx: ndarray, ws: Sequence[Sequence[ndarray]], " \
    "bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray]) -> "                \
    "tuple[ndarray, ndarray, list[ndarray]]"
#define CX_GRU_SIGNATURE                                            \
    "n_layers: int, hx: ndarray, ws: Sequence[Sequence[ndarray]], " \
    "bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray]) -> tuple[ndarray, list[ndarray]]"
#define CX_RNN_SIGNATURE                                                                    \
    "n_layers: int, hx: ndarray, ws: Sequence[Sequence[ndarray]], "                         \
    "bs: Sequence[Sequence[ndarray]], xs: Sequence[ndarray], activation: str = 'tanh') -> " \
    "tuple[ndarray, list[ndarray]]"

#define CX_N_LAYERS "Args:\n    n_layers (int): The number of layers.\n"
#define CX_STATE(name, what, directions)                               \
    "    " name " (ndarray): The first " what ", (n_layers" directions \
    ", sequences, units), any "                                        \
    "float dtype.\n"
#define CX_PARAMETERS(lists, count)                           \
    "    ws (list of lists of ndarray): " lists " the " count \
    " weights: of the input (units, "                         \
    "features), then of the state (units, units).\n"          \
    "    bs (list of lists of ndarray): The biases, (units,), in the same order.\n"
#define CX_STEPS                                                                                   \
    "    xs (list of ndarray): One array per step, (active sequences, features); sequences\n"      \
    "        are sorted by length, longest first, so that the number of active ones never rises. " \
    "Sequences without\n"                                                                          \
    "        steps keep their states.\n"
#define CX_ERRORS                                                                                  \
    "Raises:\n"                                                                                    \
    "    DimensionError: If lists or shapes don't fit, or a step has more sequences than the one " \
    "before.\n"                                                                                    \
    "    DtypeError: If a dtype is not a real float.\n"
#define CX_ONE "For each layer"
#define CX_TWO "For each layer, and in it for each direction,"
#define CX_REVERSED                                                                               \
    "The second direction of a layer starts from the last step; the next layer gets the outputs " \
    "of both, concatenated.\n\n"

#define CX_LSTM_DOC(first, directions, lists, width)                                            \
    first                                                                                       \
        "\n\n"                                                                                  \
        "With gates ``i``, ``f``, ``a``, ``o``, each ``w x + u h + b1 + b2``, a step is "       \
        "``c = sigmoid(f) * c + sigmoid(i) * tanh(a)``, ``h = sigmoid(o) * "                    \
        "tanh(c)``.\n\n" CX_N_LAYERS CX_STATE("hx", "outputs", directions)                      \
            CX_STATE("cx", "cells", directions) CX_PARAMETERS(lists, "8") CX_STEPS              \
        "Returns:\n"                                                                            \
        "    tuple: ``hy`` and ``cy``, the last states, as ``hx``; and the list of the last "   \
        "layer's "                                                                              \
        "outputs, (sequences, " width "). Differentiable in all arrays, any order.\n" CX_ERRORS \
        "Source: Hochreiter and Schmidhuber, Neural Computation 1997."

CX_ROUTINE(n_step_lstm, CX_LSTM_SIGNATURE,
           CX_LSTM_DOC("Stacked LSTM (long short-term memory) over sequences.", "", CX_ONE,
                       "units")) {
    return CallLstm("n_step_lstm", a, false);
}
CX_ROUTINE(
    n_step_bilstm, CX_LSTM_SIGNATURE,
    CX_LSTM_DOC(
        "Stacked bidirectional LSTM (long short-term memory) over sequences.\n\n" CX_REVERSED,
        " * 2", CX_TWO, "2 * units")) {
    return CallLstm("n_step_bilstm", a, true);
}

#define CX_GRU_DOC(first, directions, lists, width)                                                \
    first                                                                                          \
        "\n\n"                                                                                     \
        "With ``r = sigmoid(wr x + ur h + b1 + b4)``, ``z = sigmoid(wz x + uz h + b2 + b5)`` and " \
        "``n = tanh(wn x + b3 + r * (un h + b6))``, a step is ``h = (1 - z) * n + z * "            \
        "h``.\n\n" CX_N_LAYERS CX_STATE("hx", "outputs", directions) CX_PARAMETERS(lists, "6")     \
            CX_STEPS                                                                               \
        "Returns:\n"                                                                               \
        "    tuple: ``hy``, the last states, as ``hx``; and the list of the last layer's "         \
        "outputs, "                                                                                \
        "(sequences, " width "). Differentiable in all arrays, any order.\n" CX_ERRORS             \
        "Source: Cho et al., EMNLP 2014."

CX_ROUTINE(n_step_gru, CX_GRU_SIGNATURE,
           CX_GRU_DOC("Stacked GRU (gated recurrent units) over sequences.", "", CX_ONE, "units")) {
    return CallGru("n_step_gru", a, false);
}
CX_ROUTINE(
    n_step_bigru, CX_GRU_SIGNATURE,
    CX_GRU_DOC("Stacked bidirectional GRU (gated recurrent units) over sequences.\n\n" CX_REVERSED,
               " * 2", CX_TWO, "2 * units")) {
    return CallGru("n_step_bigru", a, true);
}

#define CX_RNN_DOC(first, directions, lists, width)                                        \
    first                                                                                  \
        "\n\n"                                                                             \
        "A step is ``h = f(w x + u h + b1 + b2)``.\n\n" CX_N_LAYERS CX_STATE(              \
            "hx", "outputs", directions) CX_PARAMETERS(lists, "2") CX_STEPS                \
        "    activation (str): ``f``, 'tanh' or 'relu'.\n"                                 \
        "Returns:\n"                                                                       \
        "    tuple: ``hy``, the last states, as ``hx``; and the list of the last layer's " \
        "outputs, "                                                                        \
        "(sequences, " width                                                               \
        "). Differentiable in all arrays, any order; the derivative of 'relu' "            \
        "at 0 is 0.\n" CX_ERRORS "    ValueError: If there is no such activation."

CX_ROUTINE(n_step_rnn, CX_RNN_SIGNATURE,
           CX_RNN_DOC("Stacked simple (Elman) recurrent layers over sequences.", "", CX_ONE,
                      "units")) {
    return CallRnn("n_step_rnn", a, false);
}
CX_ROUTINE(
    n_step_birnn, CX_RNN_SIGNATURE,
    CX_RNN_DOC(
        "Stacked bidirectional simple (Elman) recurrent layers over sequences.\n\n" CX_REVERSED,
        " * 2", CX_TWO, "2 * units")) {
    return CallRnn("n_step_birnn", a, true);
}

PyObject* WrapState(const LstmState& y) {
    const Ref c = Check(Wrap(y.c));
    const Ref h = Check(Wrap(y.h));
    return Check(PyTuple_Pack(2, c.get(), h.get())).Release();
}

CX_ROUTINE(lstm, "c: ndarray, x: ndarray) -> tuple[ndarray, ndarray]",
           "One step of an LSTM (long short-term memory).\n\n"
           "With gates ``a``, ``i``, ``f``, ``o`` taken from ``x``, it is ``c' = tanh(a) * "
           "sigmoid(i) + sigmoid(f) * c``, ``h = sigmoid(o) * tanh(c')``.\n\n"
           "Args:\n"
           "    c (ndarray): The previous cell states, (n, units, ...), any float dtype.\n"
           "    x (ndarray): (m, 4 * units, ...) with ``m <= n``; the gates of a unit are "
           "adjacent. Cells beyond the first ``m`` keep their states.\n"
           "Returns:\n"
           "    tuple: The new cell states, of the shape of ``c``, and ``h``, (m, units, ...). "
           "Differentiable in both, any order.\n"
           "Raises:\n"
           "    DimensionError: If shapes don't fit.\n"
           "    DtypeError: If a dtype is not a real float.\n"
           "Source: Hochreiter and Schmidhuber, Neural Computation 1997.") {
    return WrapState(Lstm(ToArray("lstm", "c", a[0]), ToArray("lstm", "x", a[1])));
}

CX_ROUTINE(
    slstm, "c1: ndarray, c2: ndarray, x1: ndarray, x2: ndarray) -> tuple[ndarray, ndarray]",
    "One step of an S-LSTM: an LSTM that joins two others.\n\n"
    "With gates ``a``, ``i``, ``f``, ``o`` taken from each ``x``, it is ``c = tanh(a1) * "
    "sigmoid(i1) + sigmoid(f1) * c1 + tanh(a2) * sigmoid(i2) + sigmoid(f2) * c2``, ``h = "
    "sigmoid(o1 + o2) * tanh(c)``.\n\n"
    "Args:\n"
    "    c1 (ndarray): The previous cell states of the first, (n, units, ...), any float dtype.\n"
    "    c2 (ndarray): Those of the second, in the same shape.\n"
    "    x1 (ndarray): (n, 4 * units, ...); the gates of a unit are adjacent.\n"
    "    x2 (ndarray): Likewise.\n"
    "Returns:\n"
    "    tuple: ``c`` and ``h``, (n, units, ...). Differentiable in all arrays, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit.\n"
    "    DtypeError: If a dtype is not a real float.\n"
    "Source: Zhu et al., ICML 2015.") {
    return WrapState(SLstm(ToArray("slstm", "c1", a[0]), ToArray("slstm", "c2", a[1]),
                           ToArray("slstm", "x1", a[2]), ToArray("slstm", "x2", a[3])));
}

CX_ROUTINE(
    tree_lstm, "*args: ndarray) -> tuple[ndarray, ndarray]",
    "One step of a Tree-LSTM, for a node with n children.\n\n"
    "With gates ``a``, ``i``, ``o``, ``f1``, ... taken from ``x``, it is ``c = tanh(a) * "
    "sigmoid(i) + sigmoid(f1) * c1 + ...``, ``h = sigmoid(o) * tanh(c)``.\n\n"
    "Args:\n"
    "    *args (ndarray): The cell states of the children, ``c1``, ..., ``cn``, (rows, units, "
    "...), any float dtype; then ``x``, (rows, (3 + n) * units, ...), with one gate after the "
    "other along axis 1.\n"
    "Returns:\n"
    "    tuple: ``c`` and ``h``, the shape of ``c1``. Differentiable in all arrays, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit, or there are fewer than two arrays.\n"
    "    DtypeError: If a dtype is not a real float.\n"
    "Source: Tai et al., ACL 2015.") {
    std::vector<Array> arrays = ToArrays("tree_lstm", "args", a[0]);
    if (arrays.empty()) {
        throw DimensionError{"tree_lstm: there are no arrays, expected at least 2"};
    }
    const Array x = arrays.back();
    arrays.pop_back();
    return WrapState(TreeLstm(arrays, x));
}

}  // namespace
}  // namespace chainerx::python
