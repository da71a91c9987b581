#include "chainerx/ops/rnn/recurrent.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "chainerx/ops/random/dropout.h"
#include "chainerx/ops/rnn/recurrent_recorded.h"
#include "chainerx/ops/routine.h"

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

// The name of an array in messages: xs[3], ws[0][2].
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
    // Avoids n_lists(), which may overflow.
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

// Returns the number of features of the first layer.
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

// Returns the biases of one layer: those that are added to the input, and that of a GRU's product.
std::pair<Array, Array> BiasesOf(RecurrentCell cell, const Arrays& bs, Dtype dtype) {
    const int64_t gates = CountGates(cell);
    if (cell != RecurrentCell::kGru) {
        return {Join(bs, 0, gates, dtype) + Join(bs, gates, 2 * gates, dtype), Array{}};
    }
    return {Join({bs[0] + bs[3], bs[1] + bs[4], bs[2]}, 0, gates, dtype),
            AsType(bs[5], dtype, false)};
}

bool IsInGraph(const Arrays& arrays) {
    return std::any_of(arrays.begin(), arrays.end(), internal::IsBackpropRequiredAny);
}

internal::RecurrentResult RunLayer(const NStep& n, const Array& sizes, const Array& x, int64_t i,
                                   const Array& h, const Array& c, Dtype dtype) {
    const internal::RecurrentParameters apart{n.ws[static_cast<size_t>(i)],
                                              n.bs[static_cast<size_t>(i)]};
    const bool is_step =
        internal::IsForStep(x.device(), sizes.GetTotalSize(), x.shape()[0], n.units());
    if (is_step && !IsInGraph(apart.ws) && !IsInGraph(apart.bs) && !IsInGraph({x, h}) &&
        (c.is_null() || !internal::IsBackpropRequiredAny(c))) {
        return internal::RunStep(n.cell, x, apart, h, c);
    }
    const int64_t gates = CountGates(n.cell);
    const auto [bias, b] = BiasesOf(n.cell, apart.bs, dtype);
    const bool reverse = n.options.is_bidirectional && i % 2 == 1;
    return internal::RecordedRecurrence(
        {n.cell, reverse, sizes},
        {x, Join(apart.ws, 0, gates, dtype), bias, Join(apart.ws, gates, 2 * gates, dtype), h, b, c,
         is_step ? &apart : nullptr});
}

// Returns the states of each layer and direction.
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

// All steps as one array, and the number of rows of each.
struct Steps {
    Array x;
    const std::vector<int64_t>& sizes;
};

// Returns the last states, and one array of all steps as `ys`. The arguments have been checked.
NStepResult RunSteps(const NStep& n, const Steps& steps, Dtype dtype) {
    // 16-bit floats are accumulated, and carried between steps, in float32.
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    const Arrays hs = StatesOf(n, &n.hx, wide);
    const Arrays cs = StatesOf(n, n.cx, wide);
    const Array sizes =
        Array::FromHost(steps.sizes, {static_cast<int64_t>(steps.sizes.size())}, n.hx.device());
    Array x = AsType(steps.x, wide, false);
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
            const internal::RecurrentResult y = RunLayer(n, sizes, x, i, hs[at], cs[at], wide);
            ys.push_back(y.ys);
            hys.push_back(y.h);
            cys.push_back(y.c);
        }
        x = ys.size() == 1 ? ys[0] : Concatenate(ys, 1);
    }
    return {Stacked(hys, n.hx.shape(), dtype),
            n.cx != nullptr ? Stacked(cys, n.hx.shape(), dtype) : Array{},
            {AsType(x, dtype, false)}};
}

// Splits x into parts of these numbers of rows.
Arrays SplitRows(const Array& x, const std::vector<int64_t>& sizes) {
    if (sizes.size() == 1) return {x};
    std::vector<int64_t> ends;
    for (int64_t size : sizes) ends.push_back((ends.empty() ? 0 : ends.back()) + size);
    ends.pop_back();
    return Split(x, ends, 0);
}

Array JoinRows(const Arrays& arrays) {
    return arrays.size() == 1 ? arrays[0] : Concatenate(arrays, 0);
}

NStepResult Run(const NStep& n) {
    Dtype dtype = n.hx.dtype();
    CheckStates(n, &dtype);
    CheckParameters(n, CheckSteps(n, &dtype), &dtype);
    if (n.xs.empty()) return {n.hx, n.cx != nullptr ? *n.cx : Array{}, {}};
    std::vector<int64_t> sizes;
    for (const Array& x : n.xs) sizes.push_back(x.shape()[0]);
    NStepResult y = RunSteps(n, {JoinRows(n.xs), sizes}, dtype);
    y.ys = SplitRows(y.ys[0], sizes);
    return y;
}

// ---- sequences instead of steps ----------------------------------------------------------------

int64_t CheckSequences(const NStep& n, Dtype* dtype) {
    if (static_cast<int64_t>(n.xs.size()) != n.hx.shape()[1]) {
        throw DimensionError{n.op,          ": hx.shape[1] is ", n.hx.shape()[1],
                             ", expected ", n.xs.size(),         ", the number of sequences"};
    }
    for (size_t i = 0; i < n.xs.size(); ++i) {
        const Array& x = n.xs[i];
        const Name name{"xs", static_cast<int64_t>(i)};
        CheckArray(n, name, x, dtype);
        if (x.ndim() != 2 || x.shape()[1] != n.xs[0].shape()[1]) {
            throw DimensionError{n.op,           ": ",
                                 name.text(),    ".shape is ",
                                 x.shape(),      ", expected (length, features), as xs[0], of ",
                                 n.xs[0].shape()};
        }
    }
    return n.xs[0].shape()[1];
}

// Maps the rows of sequences to those of steps.
class Order {
 public:
    explicit Order(const Arrays& xs) {
        for (const Array& x : xs) lengths_.push_back(x.shape()[0]);
        places_.resize(xs.size());
        std::iota(places_.begin(), places_.end(), int64_t{0});
        std::stable_sort(places_.begin(), places_.end(),
                         [this](int64_t a, int64_t b) { return length(a) > length(b); });
        is_sorted_ = std::is_sorted(places_.begin(), places_.end());
        auto active = static_cast<int64_t>(xs.size());
        for (int64_t t = 0; t < length(places_[0]); ++t) {
            while (length(places_[static_cast<size_t>(active) - 1]) <= t) --active;
            sizes_.push_back(active);
        }
        is_even_ = length(places_[0]) == length(places_.back());
    }
    const std::vector<int64_t>& sizes() const { return sizes_; }

    Array ToSteps(const Arrays& xs) const {
        const Array x = JoinRows(xs);
        if (xs.size() == 1) return x;
        return is_even_ ? Transposed(x, n(), length(0)) : Take(x, Rows(x.device(), false), 0);
    }
    Arrays ToSequences(const Array& y) const {
        if (n() == 1) return {y};
        return SplitRows(
            is_even_ ? Transposed(y, length(0), n()) : Take(y, Rows(y.device(), true), 0),
            lengths_);
    }
    // Sorts states by descending length of their sequences; `back` restores the order.
    Array Sorted(const Array& states, bool back) const {
        if (is_sorted_) return states;
        std::vector<int64_t> from = places_;
        if (back) {
            for (size_t k = 0; k < places_.size(); ++k) {
                from[static_cast<size_t>(places_[k])] = static_cast<int64_t>(k);
            }
        }
        return Take(states, Array::FromHost(from, {n()}, states.device()), 1);
    }

 private:
    int64_t n() const { return static_cast<int64_t>(lengths_.size()); }
    int64_t length(int64_t i) const { return lengths_[static_cast<size_t>(i)]; }

    static Array Transposed(const Array& x, int64_t n, int64_t m) {
        const int64_t width = x.shape()[1];
        return Reshape(Transpose(Reshape(x, {n, m, width}), Axes{1, 0, 2}), {n * m, width});
    }
    // Returns the index of the sequences' row for each row of the steps, or with `back` the
    // inverse.
    Array Rows(Device& device, bool back) const {
        std::vector<int64_t> begins{0};
        for (int64_t length : lengths_) begins.push_back(begins.back() + length);
        std::vector<int64_t> rows(static_cast<size_t>(begins.back()));
        int64_t row = 0;
        for (size_t t = 0; t < sizes_.size(); ++t) {
            for (int64_t k = 0; k < sizes_[t]; ++k, ++row) {
                const auto sequence = static_cast<size_t>(places_[static_cast<size_t>(k)]);
                const int64_t at = begins[sequence] + static_cast<int64_t>(t);
                if (back) {
                    rows[static_cast<size_t>(at)] = row;
                } else {
                    rows[static_cast<size_t>(row)] = at;
                }
            }
        }
        return Array::FromHost(rows, {begins.back()}, device);
    }

    std::vector<int64_t> lengths_;
    std::vector<int64_t> places_;  // indices of the sequences, the longest first
    std::vector<int64_t> sizes_;   // rows of each step
    bool is_sorted_;
    bool is_even_;
};

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

NStepResult NStepSequences(RecurrentCell cell, const NStepOptions& options, const Array& hx,
                           const Array* cx, const ArrayLists& ws, const ArrayLists& bs,
                           const std::vector<Array>& xs) {
    NStep n{"n_step_sequences", cell, options, hx, cx, ws, bs, xs};
    if (xs.empty()) throw DimensionError{n.op, ": there is no sequence, expected at least 1"};
    Dtype dtype = hx.dtype();
    CheckStates(n, &dtype);
    CheckParameters(n, CheckSequences(n, &dtype), &dtype);
    if (xs.size() == 1 && xs[0].shape()[0] != 0) {  // one sequence needs no sorting
        const std::vector<int64_t> sizes(static_cast<size_t>(xs[0].shape()[0]), 1);
        return RunSteps(n, {xs[0], sizes}, dtype);
    }
    const Order order{xs};
    if (order.sizes().empty()) {
        const Array y = Zeros({0, n.directions() * n.units()}, dtype, hx.device());
        return {hx, cx != nullptr ? *cx : Array{}, Arrays(xs.size(), y)};
    }
    const Array h = order.Sorted(hx, false);
    const Array c = cx != nullptr ? order.Sorted(*cx, false) : Array{};
    const NStep sorted{n.op, cell, options, h, cx != nullptr ? &c : nullptr, ws, bs, xs};
    NStepResult y = RunSteps(sorted, {order.ToSteps(xs), order.sizes()}, dtype);
    y.hy = order.Sorted(y.hy, true);
    if (cx != nullptr) y.cy = order.Sorted(y.cy, true);
    y.ys = order.ToSequences(y.ys[0]);
    return y;
}

}  // namespace chainerx
