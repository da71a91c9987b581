#include "chainerx/ops/recurrent.h"

#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/dropout.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/recurrent_recorded.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

using Arrays = std::vector<Array>;

struct NStep {
    const char* op;
    RecurrentCell cell;
    NStepOptions options;
    const Array& hx;
    const Array* cx;
    const ArrayLists& ws;
    const ArrayLists& bs;
    const Arrays& xs;

    int64_t directions() const { return options.is_bidirectional ? 2 : 1; }
    int64_t n_lists() const { return options.n_layers * directions(); }
    int64_t units() const { return hx.shape()[2]; }
};

// ---- checks ------------------------------------------------------------------------------------

// What an array is called: xs[3], ws[0][2].
struct Name {
    const char* list;
    int64_t i{-1};
    int64_t j{-1};

    std::string text() const {
        std::string s{list};
        for (int64_t k : {i, j}) {
            if (k >= 0) s += "[" + std::to_string(k) + "]";
        }
        return s;
    }
};

void CheckArray(const NStep& n, const Name& name, const Array& x, Dtype* dtype) {
    CheckSameDevice(n.op, n.hx.device(), x.device());
    if (!IsFloat(x.dtype())) {
        throw DtypeError{n.op,          ": ",      name.text(),
                         " has dtype ", x.dtype(), ", expected a real float"};
    }
    *dtype = PromoteTypes(*dtype, x.dtype());
}

void CheckShape(const NStep& n, const Name& name, const Array& x, const Shape& expected) {
    if (x.shape() == expected) return;
    throw DimensionError{n.op, ": ", name.text(), ".shape is ", x.shape(), ", expected ", expected};
}

void CheckLength(const NStep& n, const Name& name, size_t length, int64_t expected,
                 const char* what) {
    if (static_cast<int64_t>(length) == expected) return;
    throw DimensionError{n.op, ": ", name.text(),   " has ", length,
                         " ",  what, ", expected ", expected};
}

void CheckStates(const NStep& n, Dtype* dtype) {
    if (n.options.n_layers < 1) {
        throw DimensionError{n.op, ": n_layers is ", n.options.n_layers, ", expected at least 1"};
    }
    CheckArray(n, {"hx"}, n.hx, dtype);
    const Shape& shape = n.hx.shape();
    // Not n_lists(), which may overflow.
    if (shape.ndim() != 3 || shape[0] % n.directions() != 0 ||
        shape[0] / n.directions() != n.options.n_layers) {
        throw DimensionError{n.op,
                             ": hx.shape is ",
                             shape,
                             ", expected (n, sequences, units), where n is ",
                             n.options.n_layers,
                             " layers times ",
                             n.directions(),
                             " directions"};
    }
    if (n.cx != nullptr) {
        CheckArray(n, {"cx"}, *n.cx, dtype);
        if (n.cx->shape() != shape) {
            throw DimensionError{n.op,  ": cx.shape is ", n.cx->shape(), ", expected ",
                                 shape, ", that of hx"};
        }
    }
}

// The features of the first layer.
int64_t CheckSteps(const NStep& n, Dtype* dtype) {
    int64_t most = n.hx.shape()[1];
    for (size_t t = 0; t < n.xs.size(); ++t) {
        const Array& x = n.xs[t];
        const Name name{"xs", static_cast<int64_t>(t)};
        CheckArray(n, name, x, dtype);
        if (x.ndim() != 2) {
            throw DimensionError{n.op,         ": ",      name.text(),
                                 ".shape is ", x.shape(), ", expected (sequences, features)"};
        }
        if (x.shape()[0] > most) {
            throw DimensionError{
                n.op,         ": ",
                name.text(),  ".shape[0] is ",
                x.shape()[0], ", expected at most ",
                most,         t == 0 ? ", that of hx.shape[1]" : ", as in the step before"};
        }
        if (x.shape()[1] != n.xs[0].shape()[1]) {
            throw DimensionError{
                n.op,         ": ",          name.text(),        ".shape[1] is ",
                x.shape()[1], ", expected ", n.xs[0].shape()[1], ", that of xs[0]"};
        }
        most = x.shape()[0];
    }
    if (!n.xs.empty()) return n.xs[0].shape()[1];
    const bool known = !n.ws.empty() && !n.ws[0].empty() && n.ws[0][0].ndim() == 2;
    return known ? n.ws[0][0].shape()[1] : 0;
}

void CheckParameters(const NStep& n, int64_t features, Dtype* dtype) {
    const int64_t gates = CountGates(n.cell);
    const int64_t units = n.units();
    CheckLength(n, {"ws"}, n.ws.size(), n.n_lists(), "lists");
    CheckLength(n, {"bs"}, n.bs.size(), n.n_lists(), "lists");
    for (int64_t i = 0; i < n.n_lists(); ++i) {
        const Arrays& ws = n.ws[static_cast<size_t>(i)];
        const Arrays& bs = n.bs[static_cast<size_t>(i)];
        CheckLength(n, {"ws", i}, ws.size(), 2 * gates, "arrays");
        CheckLength(n, {"bs", i}, bs.size(), 2 * gates, "arrays");
        const int64_t ins = i < n.directions() ? features : n.directions() * units;
        for (int64_t j = 0; j < 2 * gates; ++j) {
            const Array& w = ws[static_cast<size_t>(j)];
            const Array& b = bs[static_cast<size_t>(j)];
            CheckArray(n, {"ws", i, j}, w, dtype);
            CheckShape(n, {"ws", i, j}, w, {units, j < gates ? ins : units});
            CheckArray(n, {"bs", i, j}, b, dtype);
            CheckShape(n, {"bs", i, j}, b, {units});
        }
    }
}

// ---- layers ------------------------------------------------------------------------------------

Array Join(const Arrays& arrays, int64_t begin, int64_t end, Dtype dtype) {
    if (end - begin == 1) return AsType(arrays[static_cast<size_t>(begin)], dtype, false);
    std::vector<ConstArrayRef> refs{arrays.begin() + begin, arrays.begin() + end};
    return AsType(Concatenate(refs, 0), dtype, false);
}

// Biases of one layer: those that are added to the input, and that of a GRU's product.
std::pair<Array, Array> BiasesOf(RecurrentCell cell, const Arrays& bs, Dtype dtype) {
    const int64_t gates = CountGates(cell);
    if (cell != RecurrentCell::kGru) {
        return {Join(bs, 0, gates, dtype) + Join(bs, gates, 2 * gates, dtype), Array{}};
    }
    return {Join({bs[0] + bs[3], bs[1] + bs[4], bs[2]}, 0, gates, dtype),
            AsType(bs[5], dtype, false)};
}

internal::RecurrentResult RunLayer(const NStep& n, const Array& sizes, const Array& x, int64_t i,
                                   const Array& h, const Array& c, Dtype dtype) {
    const Arrays& ws = n.ws[static_cast<size_t>(i)];
    const int64_t gates = CountGates(n.cell);
    const auto [bias, b] = BiasesOf(n.cell, n.bs[static_cast<size_t>(i)], dtype);
    const bool reverse = n.options.is_bidirectional && i % 2 == 1;
    return internal::RecordedRecurrence(
        {n.cell, reverse, sizes},
        {x, Join(ws, 0, gates, dtype), bias, Join(ws, gates, 2 * gates, dtype), h, b, c});
}

// The states of each layer and direction.
Arrays StatesOf(const NStep& n, const Array* x, Dtype dtype) {
    if (x == nullptr) return Arrays(static_cast<size_t>(n.n_lists()));
    const Array wide = AsType(*x, dtype, false);
    const Shape shape{x->shape()[1], x->shape()[2]};
    if (n.n_lists() == 1) return {Reshape(wide, shape)};
    Arrays states;
    for (const Array& part : Split(wide, n.n_lists(), 0)) states.push_back(Reshape(part, shape));
    return states;
}

Array Stacked(const Arrays& states, const Shape& shape, Dtype dtype) {
    const Array all = states.size() == 1 ? states[0] : Concatenate(states, 0);
    return AsType(Reshape(all, shape), dtype, false);
}

NStepResult Run(const NStep& n) {
    Dtype dtype = n.hx.dtype();
    CheckStates(n, &dtype);
    CheckParameters(n, CheckSteps(n, &dtype), &dtype);

    // Sums of 16-bit floats are made, and kept from step to step, in float32.
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    std::vector<int64_t> sizes;
    std::vector<int64_t> ends;
    for (const Array& x : n.xs) {
        sizes.push_back(x.shape()[0]);
        ends.push_back((ends.empty() ? 0 : ends.back()) + sizes.back());
    }
    const Arrays hs = StatesOf(n, &n.hx, wide);
    const Arrays cs = StatesOf(n, n.cx, wide);
    NStepResult result{n.hx, n.cx != nullptr ? *n.cx : Array{}, {}};
    if (n.xs.empty()) return result;

    const Array steps = Array::FromHost(sizes, {static_cast<int64_t>(sizes.size())}, n.hx.device());
    Array x = n.xs.size() == 1 ? n.xs[0] : Concatenate(n.xs, 0);
    x = AsType(x, wide, false);
    Arrays hys;
    Arrays cys;
    for (int64_t layer = 0; layer < n.options.n_layers; ++layer) {
        if (layer != 0 && n.options.dropout > 0) {
            std::optional<uint64_t> key = n.options.key;
            if (key) *key += static_cast<uint64_t>(layer);
            x = Dropout(x, n.options.dropout, key);
        }
        Arrays ys;
        for (int64_t i = layer * n.directions(); i < (layer + 1) * n.directions(); ++i) {
            const auto at = static_cast<size_t>(i);
            const internal::RecurrentResult y = RunLayer(n, steps, x, i, hs[at], cs[at], wide);
            ys.push_back(y.ys);
            hys.push_back(y.h);
            cys.push_back(y.c);
        }
        x = ys.size() == 1 ? ys[0] : Concatenate(ys, 1);
    }
    result.hy = Stacked(hys, n.hx.shape(), dtype);
    if (n.cx != nullptr) result.cy = Stacked(cys, n.hx.shape(), dtype);
    ends.pop_back();
    result.ys = Split(AsType(x, dtype, false), ends, 0);
    return result;
}

}  // namespace

NStepResult NStepLstm(const NStepOptions& options, const Array& hx, const Array& cx,
                      const ArrayLists& ws, const ArrayLists& bs, const std::vector<Array>& xs) {
    const char* op = options.is_bidirectional ? "n_step_bilstm" : "n_step_lstm";
    return Run({op, RecurrentCell::kLstm, options, hx, &cx, ws, bs, xs});
}

NStepResult NStepGru(const NStepOptions& options, const Array& hx, const ArrayLists& ws,
                     const ArrayLists& bs, const std::vector<Array>& xs) {
    const char* op = options.is_bidirectional ? "n_step_bigru" : "n_step_gru";
    return Run({op, RecurrentCell::kGru, options, hx, nullptr, ws, bs, xs});
}

NStepResult NStepRnn(const NStepOptions& options, const Array& hx, const ArrayLists& ws,
                     const ArrayLists& bs, const std::vector<Array>& xs, RnnActivation activation) {
    const char* op = options.is_bidirectional ? "n_step_birnn" : "n_step_rnn";
    const RecurrentCell cell =
        activation == RnnActivation::kTanh ? RecurrentCell::kTanh : RecurrentCell::kRelu;
    return Run({op, cell, options, hx, nullptr, ws, bs, xs});
}

}  // namespace chainerx
