// Nodes of tree-LSTMs, each written once: `Ops` computes it of variables by chainer's functions, or
// of arrays where nothing is recorded (link_tree.cc).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "chainerx/python/engine/few.h"
#include "chainerx/python/engine/links/link_cells.h"

namespace chainerx::python::engine {

template <typename Value>
struct TreeInputs {
    std::span<const Value> cells;  // of the children
    std::span<const Value> outputs;
    std::span<const bool> has_output;  // else it stands for zeros
    const Value& x;
    int64_t units;
};

// What each has: how many layers there are for n children, and which (a name that is followed by
// the number of the child, if it has one); the functions that it calls, in the order in which they
// are given; whether links say how many children there are; and Run.

struct ChildSumTree {
    static constexpr const char* kName = "child_sum";
    static constexpr bool kIsNary = false;
    static constexpr std::array kFunctions{CellFunction::kSplit, CellFunction::kConcat,
                                           CellFunction::kTreeLstm, CellFunction::kSigmoid,
                                           CellFunction::kTanh};

    static size_t CountLayers(size_t) { return 3; }
    static LayerOfCell LayerAt(size_t i, size_t) {
        constexpr LayerOfCell kLayers[] = {
            {"W_x", 4, 1, 0}, {"W_h_aio", 3, 0, 1}, {"W_h_f", 1, 0, 1}};
        return kLayers[i];
    }

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, const TreeInputs<Value>& node, Value& c, Value& h) {
        const auto [aio, forget] = ops.SplitAt(ops.Layer(0, node.x), 3 * node.units);
        if (node.outputs.empty()) {
            const auto [a, i, o] = ops.Thirds(aio);
            const Value fresh = ops.Tanh(a);
            c = ops.Multiply(fresh, ops.Sigmoid(i));
            const Value gate = ops.Sigmoid(o);
            h = ops.Multiply(gate, ops.Tanh(c));
            return;
        }
        Value sum = ops.Share(node.outputs[0]);
        for (const Value& output : node.outputs.subspan(1)) sum = ops.Add(sum, output);
        Few<Value> gates{node.outputs.size() + 1};
        gates[0] = ops.Add(aio, ops.Layer(1, sum));
        for (size_t k = 0; k < node.outputs.size(); ++k) {
            gates[k + 1] = ops.Add(forget, ops.Layer(2, node.outputs[k]));
        }
        ops.TreeLstm(node.cells, ops.ConcatAll({gates.data(), gates.size()}), c, h);
    }
};

struct NaryTree {
    static constexpr const char* kName = "n_ary";
    static constexpr bool kIsNary = true;
    static constexpr std::array kFunctions{CellFunction::kTreeLstm};

    static size_t CountLayers(size_t n) { return n + 1; }
    static LayerOfCell LayerAt(size_t i, size_t n) {
        const int outs = static_cast<int>(n) + 3;
        return i == 0 ? LayerOfCell{"W_x", outs, 1, 0} : LayerOfCell{"W_h", outs, 0, 1};
    }

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, const TreeInputs<Value>& node, Value& c, Value& h) {
        Value gates = ops.Layer(0, node.x);
        for (size_t k = 0; k < node.outputs.size(); ++k) {
            if (!node.has_output[k]) continue;
            gates = ops.Add(gates, ops.Layer(k + 1, node.outputs[k]));
        }
        ops.TreeLstm(node.cells, gates, c, h);
    }
};

}  // namespace chainerx::python::engine
