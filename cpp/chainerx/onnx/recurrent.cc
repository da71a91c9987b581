// LSTM, GRU and RNN.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/rnn/recurrent_cell.h"
#include "chainerx/onnx/activation.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/fuse.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/onnx/quantize.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/elementwise/tables/hyperbolic.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/rnn/recurrent_recorded.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

// What 8 bits keep of x, of all inputs or of each state: so a sequence alone has the states that it
// has in a batch.
Array Rounded(const Array& x) {
    const OptionalAxes axes = x.ndim() == 2 ? OptionalAxes{Axes{1}} : std::nullopt;
    const Dynamic q = QuantizedDynamically(x, axes);
    return (ToFloat(q.x) - ToFloat(q.zero)) * q.scale;
}

// What is the same for all three, and one direction of it.
struct Layer {
    int64_t steps{0}, batch{0}, hidden{0};
    std::array<Activation, 3> f;
    double clip{0};  // 0 for none
    Array w, r;      // gates x inputs, gates x hidden
    Array wb, rb;    // biases of gates; null if there are none
    Array peepholes;
    Array lengths;              // of the sequences; null if all have all steps
    std::vector<int64_t> ends;  // the same on the host
    bool is_backward{false};
    bool quantizes{false};  // what products take, to 8 bits

    Array Clipped(const Array& x) const { return clip > 0 ? Clip(x, -clip, clip) : x; }
    // Gate i of all.
    Array Gate(const Array& gates, int64_t i) const {
        return gates.At({Ellipsis{}, Slice{i * hidden, (i + 1) * hidden}});
    }
    Array Input(const Array& x) const {
        const Array y = Matmul(quantizes ? Rounded(x) : x, Transpose(w));
        return wb.is_null() ? y : y + wb;
    }
    Array Hidden(const Array& h) const {
        const Array y = Matmul(quantizes ? Rounded(h) : h, Transpose(r));
        return rb.is_null() ? y : y + rb;
    }
};

// x reversed in time; of each sequence the steps that it has.
Array Reversed(const Layer& layer, const Array& x) {
    if (layer.lengths.is_null()) return Flip(x, Axes{0});
    const Array t = Reshape(Arange(Scalar{layer.steps}, Dtype::kInt64, x.device()), Shape{-1, 1});
    const Array place = Where(t < layer.lengths, layer.lengths - 1 - t, t);
    const Array batch = Arange(Scalar{layer.batch}, Dtype::kInt64, x.device());
    const std::vector<IndexItem> items{{NewAxis{}, place}, {NewAxis{}, batch}};
    return At(x, items);
}

struct States {
    Array ys;  // steps x batch x hidden
    Array h;
    Array c;  // null unless the cell has it
};

// Runs a cell: (gates of the input at a step, h, c) to the next h and c.
States RunSteps(const Layer& layer, const Array& given, Array h, Array c, auto cell) {
    const Array x = layer.is_backward ? Reversed(layer, given) : given;
    const Array gates = layer.Input(x);
    std::vector<Array> ys;
    for (int64_t t = 0; t < layer.steps; ++t) {
        auto [next_h, next_c] = cell(At(gates, t), h, c);
        Array y = next_h;
        if (!layer.lengths.is_null()) {  // sequences that have ended keep their states
            const Array goes_on = Reshape(layer.lengths > t, Shape{-1, 1});
            y = Where(goes_on, next_h, 0);
            next_h = Where(goes_on, next_h, h);
            if (!c.is_null()) next_c = Where(goes_on, next_c, c);
        }
        h = std::move(next_h);
        c = std::move(next_c);
        ys.push_back(std::move(y));
    }
    Array all = ys.empty() ? Zeros(Shape{0, layer.batch, layer.hidden}, h.dtype(), h.device())
                           : Stack(ys, 0);
    return {layer.is_backward ? Reversed(layer, all) : all, h, c};
}

// ---- all steps as one operation ----------------------------------------------------------------

// Whether copying the weights, which have the gates in another order, takes less than it saves:
// with a graph the nodes of the steps, without one the calls of their kernels.
bool IsWorthCopies(const Layer& l, std::initializer_list<ConstArrayRef> in) {
    const bool is_recorded = std::any_of(in.begin(), in.end(), [](const Array& a) {
        return !a.is_null() && internal::IsBackpropRequiredAny(a);
    });
    constexpr int64_t kFewSteps = 8;
    constexpr int64_t kWeightsPerStep = 4096;
    const int64_t n_weights = l.w.GetTotalSize() + l.r.GetTotalSize();
    return l.steps >= (is_recorded ? kFewSteps : std::max(kFewSteps, n_weights / kWeightsPerStep));
}

// The cell that is one operation, if this layer is of its kind: `order` has the places of the
// kernel's gates among those of ONNX.
struct OneOperation {
    RecurrentCell cell;
    std::vector<int64_t> order;
};

std::optional<OneOperation> FindOperation(const Call& call, const Layer& l, int64_t n_gates) {
    const bool is_usual = l.f[0].name == "sigmoid" && l.f[1].name == "tanh";
    if (l.clip > 0 || l.quantizes || !l.peepholes.is_null()) return std::nullopt;
    if (n_gates == 4) {
        if (!is_usual || l.f[2].name != "tanh" || call.Int("input_forget", 0) != 0) return {};
        return OneOperation{RecurrentCell::kLstm, {0, 2, 3, 1}};
    }
    if (n_gates == 3) {
        if (!is_usual || call.Int("linear_before_reset", 0) == 0) return {};
        return OneOperation{RecurrentCell::kGru, {1, 0, 2}};
    }
    if (l.f[0].name == "tanh") return OneOperation{RecurrentCell::kTanh, {0}};
    if (l.f[0].name == "relu") return OneOperation{RecurrentCell::kRelu, {0}};
    return std::nullopt;
}

// Rows of steps x batch without those after the end of their sequence: the longest sequence first,
// as the operation takes them.
struct Rows {
    std::vector<int64_t> sizes;  // of the steps
    Array sequences;             // their order; null if all are as long
    Array places;                // where each of them is now
    Array from;                  // rows of steps x batch
    Array back;                  // for each of those, its row here, or one behind the last

    explicit Rows(const Layer& l) {
        if (l.lengths.is_null()) {
            sizes.assign(static_cast<size_t>(l.steps), l.batch);
            return;
        }
        std::vector<int64_t> order(l.ends.size());
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&l](int64_t a, int64_t b) {
            return l.ends[static_cast<size_t>(a)] > l.ends[static_cast<size_t>(b)];
        });
        std::vector<int64_t> inverse(order.size());
        for (size_t i = 0; i < order.size(); ++i) {
            inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
        }
        std::vector<int64_t> rows;
        std::vector<int64_t> of_rows(static_cast<size_t>(l.steps * l.batch), -1);
        for (int64_t t = 0; t < l.steps; ++t) {
            int64_t size = 0;
            for (const int64_t i : order) {
                if (l.ends[static_cast<size_t>(i)] <= t) break;
                of_rows[static_cast<size_t>(t * l.batch + i)] = static_cast<int64_t>(rows.size());
                rows.push_back(t * l.batch + i);
                ++size;
            }
            if (size > 0) sizes.push_back(size);
        }
        std::replace(of_rows.begin(), of_rows.end(), int64_t{-1},
                     static_cast<int64_t>(rows.size()));
        Device& device = l.lengths.device();
        sequences = Array::FromHost(order, Shape{l.batch}, device);
        places = Array::FromHost(inverse, Shape{l.batch}, device);
        from = Array::FromHost(rows, Shape{static_cast<int64_t>(rows.size())}, device);
        back = Array::FromHost(of_rows, Shape{l.steps * l.batch}, device);
    }
};

Array Reordered(const Layer& l, const std::vector<int64_t>& order, const Array& gates) {
    if (order.size() == 1) return gates;
    std::vector<Array> parts;
    for (const int64_t i : order) {
        parts.push_back(gates.At({Slice{i * l.hidden, (i + 1) * l.hidden}}));
    }
    return Concatenate(parts, 0);
}

// The weights of a layer and its biases, as the operation takes them.
struct Joined {
    Array w;
    Array u;
    Array bias;
    Array b;     // null unless a GRU's
    Array kept;  // KeptWeights of u; null if it may change
};

Joined JoinedOf(const OneOperation& op, const Layer& l, Dtype wide) {
    const auto widened = [wide](const Array& a) { return AsType(a, wide, false); };
    const auto gates = [&](const Array& a) { return widened(Reordered(l, op.order, a)); };
    const bool is_gru = op.cell == RecurrentCell::kGru;
    Array bias = Zeros(Shape{l.w.shape()[0]}, wide, l.w.device());
    Array b = is_gru ? Zeros(Shape{l.hidden}, wide, l.w.device()) : Array{};
    if (!l.wb.is_null() && is_gru) {
        const Slice both{0, 2 * l.hidden};
        const Slice last{2 * l.hidden, 3 * l.hidden};
        bias = gates(
            Concatenate(std::vector<Array>{l.wb.At({both}) + l.rb.At({both}), l.wb.At({last})}, 0));
        b = widened(l.rb.At({last}));
    } else if (!l.wb.is_null()) {
        bias = gates(l.wb + l.rb);
    }
    return {gates(l.w), gates(l.r), bias, b, Array{}};
}

// The same for weights that don't change: computed in the first run.
Joined KeptOf(const Call& call, const OneOperation& op, const Layer& l, Dtype wide) {
    const Prepared* prepared = call.step().prepared.get();
    if (prepared == nullptr) return JoinedOf(op, l, wide);
    const int64_t key = 2 * l.is_backward + (wide == Dtype::kFloat64);
    return *std::static_pointer_cast<const Joined>(KeptWeights::In(prepared->kept)->Get(key, [&] {
        auto joined = std::make_shared<Joined>(JoinedOf(op, l, wide));
        joined->kept = KeptWeights::New(l.w.device());
        return joined;
    }));
}

States RunOperation(const Call& call, const OneOperation& op, const Layer& l, const Array& given,
                    const Array& h0, const Array& c0) {
    const Dtype dtype = given.dtype();
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    const Rows rows{l};
    const auto sorted = [](const Array& a, const Array& by) {
        return by.is_null() || a.is_null() ? a : Take(a, by, 0);
    };
    const auto widened = [wide](const Array& a) {
        return a.is_null() ? a : AsType(a, wide, false);
    };
    const auto [w, u, bias, b, kept] = KeptOf(call, op, l, wide);
    const Array x =
        sorted(Reshape(widened(given), Shape{l.steps * l.batch, given.shape()[2]}), rows.from);
    const Array h = sorted(widened(h0), rows.sequences);
    const Array c = sorted(widened(c0), rows.sequences);
    const Array sizes =
        Array::FromHost(rows.sizes, Shape{static_cast<int64_t>(rows.sizes.size())}, given.device());
    const auto made = internal::RecordedRecurrence({op.cell, l.is_backward, sizes},
                                                   {x, w, bias, u, h, b, c, nullptr, kept});
    Array ys = made.ys;
    if (!rows.back.is_null()) {
        const Array none = Zeros(Shape{1, l.hidden}, wide, given.device());
        ys = Take(Concatenate(std::vector<Array>{ys, none}, 0), rows.back, 0);
    }
    const auto narrowed = [&](const Array& a) { return a.is_null() ? a : AsType(a, dtype, false); };
    return {narrowed(Reshape(ys, Shape{l.steps, l.batch, l.hidden})),
            narrowed(sorted(made.h, rows.places)), narrowed(sorted(made.c, rows.places))};
}

// ---- layers -------------------------------------------------------------------------------------

using Cell = States (*)(const Call& call, const Layer& layer, const Array& x, const Array& h,
                        const Array& c);

struct Kind {
    int64_t n_gates;
    size_t n_activations;
    const char* activations[3];
    bool has_c;
    size_t peepholes;  // the input of them; 0 if there is none
    Cell run;
    bool quantizes{false};
};

// An operand of products, directions x gates x columns. Quantized, it is transposed, and has a
// scale and a zero point per direction, or per gate of it.
Array WeightsOf(const Call& call, const Kind& kind, size_t input, size_t scale) {
    const Array w = call.X(input);
    if (!kind.quantizes || w.ndim() != 3) return w;
    const auto spread = [&](size_t i) {
        const Array a = call.X(i);
        return a.ndim() == 1 ? Reshape(a, Shape{a.shape()[0], 1, 1}) : ExpandDims(a, Axes{1});
    };
    return Swapaxes((ToFloat(w) - ToFloat(spread(scale + 1))) * spread(scale), 1, 2);
}

// The activations of all directions; their numbers are given in order to those that have any.
std::vector<Activation> ActivationsOf(const Call& call, const Kind& kind, size_t n_directions) {
    std::vector<std::string> names = call.StringList("activations");
    const size_t n = kind.n_activations * n_directions;
    if (names.empty()) {
        for (size_t i = 0; i < n; ++i) names.emplace_back(kind.activations[i % kind.n_activations]);
    }
    if (names.size() != n) {
        throw DimensionError{"attribute activations has ", names.size(), " elements, expected ", n};
    }
    const std::vector<float> alphas = call.FloatList("activation_alpha");
    const std::vector<float> betas = call.FloatList("activation_beta");
    size_t alpha = 0;
    size_t beta = 0;
    std::vector<Activation> found;
    for (const std::string& name : names) {
        Activation f = DefaultActivation(name);
        if (f.has_alpha && alpha < alphas.size()) f.alpha = alphas[alpha++];
        if (f.has_beta && beta < betas.size()) f.beta = betas[beta++];
        found.push_back(std::move(f));
    }
    return found;
}

void CheckShape(const char* name, const Array& x, const Shape& expected) {
    if (!(x.shape() == expected)) {
        throw DimensionError{name, " has shape ", x.shape(), ", expected ", expected};
    }
}

// Of the sequences: how many steps each has, if not all have all.
void ReadLengths(const Call& call, Layer& layer) {
    layer.lengths = AsType(call.X(4), Dtype::kInt64, false);
    CheckShape("sequence_lens", layer.lengths, {layer.batch});
    layer.ends = call.Ints(4);
    for (const int64_t n : layer.ends) {
        if (n < 0 || n > layer.steps) {
            throw ValueError{"sequence_lens has ", n, ", expected 0 to ", layer.steps};
        }
    }
    if (std::all_of(layer.ends.begin(), layer.ends.end(),
                    [&layer](int64_t n) { return n == layer.steps; })) {
        layer.lengths = {};
    }
}

// The inputs of all directions, in ONNX's layout 0, which has the steps first.
struct Inputs {
    bool is_batch_first;
    std::string_view direction;
    int64_t n_directions;
    Array x, w, r;
    Array h;
    Array c;  // null unless the cell has it

    Inputs(const Call& call, const Kind& kind)
        : is_batch_first{call.Int("layout", 0) != 0},
          direction{call.String("direction", "forward")},
          n_directions{direction == "bidirectional" ? 2 : 1},
          x{call.X(0)},
          w{WeightsOf(call, kind, 1, 8)},
          r{WeightsOf(call, kind, 2, 10)} {
        if (x.ndim() != 3 || w.ndim() != 3 || r.ndim() != 3) {
            throw DimensionError{
                "X, W and R have shapes ", x.shape(), ", ", w.shape(), " and ", r.shape(),
                ", expected 3 dimensions"};
        }
        if (is_batch_first) x = Swapaxes(x, 0, 1);
        if (n_directions == 1 && direction != "forward" && direction != "reverse") {
            throw ValueError{"attribute direction is \"", direction,
                             "\", expected forward, reverse or bidirectional"};
        }
        h = State(call, 5, "initial_h");
        if (kind.has_c) c = State(call, 6, "initial_c");
    }

    bool IsBackward(int64_t d) const { return direction == "reverse" || d == 1; }

 private:
    Array State(const Call& call, size_t input, const char* name) const {
        const Shape shape{n_directions, x.shape()[1], r.shape()[2]};
        if (!call.Has(input)) return Zeros(shape, x.dtype(), x.device());
        Array state = call.X(input);
        if (is_batch_first && state.ndim() == 3) state = Swapaxes(state, 0, 1);
        CheckShape(name, state, shape);
        return state;
    }
};

// What is the same for all directions.
Layer LayerOf(const Call& call, const Kind& kind, const Inputs& in) {
    Layer layer;
    layer.steps = in.x.shape()[0];
    layer.batch = in.x.shape()[1];
    layer.hidden = in.r.shape()[2];
    layer.clip = call.Float("clip", 0);
    layer.quantizes = kind.quantizes;
    const int64_t gates = kind.n_gates * layer.hidden;
    CheckShape("W", in.w, {in.n_directions, gates, in.x.shape()[2]});
    CheckShape("R", in.r, {in.n_directions, gates, layer.hidden});
    if (call.Has(3)) CheckShape("B", call.X(3), {in.n_directions, 2 * gates});
    if (call.Has(4)) ReadLengths(call, layer);
    return layer;
}

// Direction d; `fs` has the activations of all.
States RunDirection(const Call& call, const Kind& kind, const Inputs& in,
                    const std::vector<Activation>& fs, int64_t d, Layer layer) {
    layer.is_backward = in.IsBackward(d);
    layer.w = At(in.w, d);
    layer.r = At(in.r, d);
    if (call.Has(3)) {
        const int64_t gates = kind.n_gates * layer.hidden;
        const Array b = At(call.X(3), d);
        layer.wb = b.At({Slice{0, gates}});
        layer.rb = b.At({Slice{gates, 2 * gates}});
    }
    if (kind.peepholes != 0 && call.Has(kind.peepholes)) {
        CheckShape("P", call.X(kind.peepholes), {in.n_directions, 3 * layer.hidden});
        layer.peepholes = At(call.X(kind.peepholes), d);
    }
    std::copy_n(fs.begin() + d * static_cast<int64_t>(kind.n_activations), kind.n_activations,
                layer.f.begin());
    const Array h = At(in.h, d);
    const Array c = kind.has_c ? At(in.c, d) : Array{};
    const bool is_one = call.step().prepared != nullptr ||
                        IsWorthCopies(layer, {in.x, in.w, in.r, layer.wb, in.h, c});
    const auto operation = is_one ? FindOperation(call, layer, kind.n_gates) : std::nullopt;
    return operation ? RunOperation(call, *operation, layer, in.x, h, c)
                     : kind.run(call, layer, in.x, h, c);
}

Values RunLayers(const Call& call, const Kind& kind) {
    const Inputs in{call, kind};
    const Layer layer = LayerOf(call, kind, in);
    const std::vector<Activation> fs =
        ActivationsOf(call, kind, static_cast<size_t>(in.n_directions));
    std::vector<Array> ys;
    std::vector<Array> hs;
    std::vector<Array> cs;
    for (int64_t d = 0; d < in.n_directions; ++d) {
        States states = RunDirection(call, kind, in, fs, d, layer);
        ys.push_back(std::move(states.ys));
        hs.push_back(std::move(states.h));
        if (kind.has_c) cs.push_back(std::move(states.c));
    }
    const int8_t axis = in.is_batch_first ? 1 : 0;
    Array y = Stack(ys, 1);  // steps, directions, batch, hidden
    if (in.is_batch_first) y = Transpose(y, Axes{2, 0, 1, 3});
    Values outputs{y, Stack(hs, axis)};
    if (kind.has_c) outputs.emplace_back(Stack(cs, axis));
    return outputs;
}

// Gates: input, output, forget, cell.
States LstmSteps(const Call& call, const Layer& l, const Array& x, const Array& h0,
                 const Array& c0) {
    const bool couples = call.Int("input_forget", 0) != 0;
    return RunSteps(l, x, h0, c0, [&](const Array& input, const Array& h, const Array& c) {
        const Array gates = input + l.Hidden(h);
        const auto gate = [&](int64_t i, const Array& cell, int64_t peephole) {
            Array g = l.Gate(gates, i);
            if (!l.peepholes.is_null()) g = g + cell * l.Gate(l.peepholes, peephole);
            return l.f[0](l.Clipped(g));
        };
        const Array i = gate(0, c, 0);
        const Array f = couples ? 1 - i : gate(2, c, 2);
        const Array next = f * c + i * l.f[1](l.Clipped(l.Gate(gates, 3)));
        return std::pair{gate(1, next, 1) * l.f[2](next), next};
    });
}

// Gates: update, reset, hidden.
States GruSteps(const Call& call, const Layer& l, const Array& x, const Array& h0, const Array&) {
    const bool resets_after = call.Int("linear_before_reset", 0) != 0;
    return RunSteps(l, x, h0, {}, [&](const Array& input, const Array& h, const Array&) {
        const Array hidden = l.Hidden(h);
        const Array z = l.f[0](l.Clipped(l.Gate(input, 0) + l.Gate(hidden, 0)));
        const Array r = l.f[0](l.Clipped(l.Gate(input, 1) + l.Gate(hidden, 1)));
        const Array own = resets_after ? r * l.Gate(hidden, 2) : l.Gate(l.Hidden(r * h), 2);
        const Array n = l.f[1](l.Clipped(l.Gate(input, 2) + own));
        return std::pair{(1 - z) * n + z * h, Array{}};
    });
}

States RnnSteps(const Call&, const Layer& l, const Array& x, const Array& h0, const Array&) {
    return RunSteps(l, x, h0, {}, [&](const Array& input, const Array& h, const Array&) {
        return std::pair{l.f[0](l.Clipped(input + l.Hidden(h))), Array{}};
    });
}

Values LSTM(const Call& call) {
    return RunLayers(call, {4, 3, {"Sigmoid", "Tanh", "Tanh"}, true, 7, &LstmSteps});
}
Values DynamicQuantizeLSTM(const Call& call) {
    return RunLayers(call, {4, 3, {"Sigmoid", "Tanh", "Tanh"}, true, 7, &LstmSteps, true});
}
Values GRU(const Call& call) {
    return RunLayers(call, {3, 2, {"Sigmoid", "Tanh", ""}, false, 0, &GruSteps});
}
Values RNN(const Call& call) {
    return RunLayers(call, {1, 1, {"Tanh", "", ""}, false, 0, &RnnSteps});
}

constexpr Operator kOperators[] = {
    {"DynamicQuantizeLSTM", 1, kNewestOpset, &Run<DynamicQuantizeLSTM>, true, kMicrosoft},
    CX_OPERATOR_SINCE(GRU, 7),
    CX_OPERATOR_SINCE(LSTM, 7),
    CX_OPERATOR_SINCE(RNN, 7),
};

}  // namespace

std::span<const Operator> RecurrentOperators() { return kOperators; }

}  // namespace chainerx::onnx
