// Recurrent networks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/rnn/recurrent_cell.h"

namespace chainerx {

using ArrayLists = std::vector<std::vector<Array>>;

struct NStepOptions {
    int64_t n_layers;
    bool is_bidirectional{false};
    double dropout{0};  // probability of dropout between layers
    std::optional<uint64_t> key{};
};

// The last states of all layers, and the last layer's outputs for each step. cy is a null array for
// cells without such a state.
struct NStepResult {
    Array hy;
    Array cy;
    std::vector<Array> ys;
};

// Stacked layers. hx, and cx of an LSTM, are (layers * directions, sequences, units); the
// directions of a layer are adjacent. ws[i] and bs[i] are the weights and biases of layer and
// direction i: those of the input for each gate, then those of the state for each gate. xs[t] is
// (sequences that have step t, features); their number never increases. Differentiable, any order.
CX_API NStepResult NStepLstm(const NStepOptions& options, const Array& hx, const Array& cx,
                             const ArrayLists& ws, const ArrayLists& bs,
                             const std::vector<Array>& xs);
CX_API NStepResult NStepGru(const NStepOptions& options, const Array& hx, const ArrayLists& ws,
                            const ArrayLists& bs, const std::vector<Array>& xs);
enum class RnnActivation : int8_t { kTanh, kRelu };
CX_API NStepResult NStepRnn(const NStepOptions& options, const Array& hx, const ArrayLists& ws,
                            const ArrayLists& bs, const std::vector<Array>& xs,
                            RnnActivation activation = RnnActivation::kTanh);

// Takes whole sequences (length, features) in any order, hx.shape[1] of them, at least one, and
// returns as many in the same order. cx is null for cells without such a state. For chainer.
CX_API NStepResult NStepSequences(RecurrentCell cell, const NStepOptions& options, const Array& hx,
                                  const Array* cx, const ArrayLists& ws, const ArrayLists& bs,
                                  const std::vector<Array>& xs);

// ---- recurrent_steps.cc: single steps ----

struct LstmState {
    Array c;
    Array h;
};

// Gates a, i, f, o of a unit are adjacent in x (rows, 4 units, ...), which may have fewer rows than
// c: the other cells stay unchanged. Differentiable, any order, as all functions here.
CX_API LstmState Lstm(const Array& c, const Array& x);
// Adds two cells, which share their output gate.
CX_API LstmState SLstm(const Array& c1, const Array& c2, const Array& x1, const Array& x2);
// Gates a, i, o, and a forget gate for each cell, follow each other along axis 1 of x.
CX_API LstmState TreeLstm(const std::vector<Array>& cs, const Array& x);

}  // namespace chainerx
