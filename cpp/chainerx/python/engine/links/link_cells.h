// The steps of recurrent links, each written once: `Ops` computes it of variables by chainer's
// functions, or of arrays where nothing is recorded (link_step.cc).
#pragma once

#include <array>
#include <cstdint>

namespace chainerx::python::engine {

// A child of the link: its name, and the shape of its weight, (outs * units, features * those of
// the input + units * units).
struct LayerOfCell {
    const char* name;
    int outs;
    int features;
    int units;
};

// Functions of chainer that steps call.
enum class CellFunction : uint8_t {
    kLstm,
    kSigmoid,
    kTanh,
    kInterpolate,
    kConcat,
    kReshape,
    kSeparate,
    kZoneout,
    kSplit,
    kTreeLstm,
    kCount,
};

// What each has: names of the states, the last of which is the output; the layers; the functions
// that it calls, in the order in which they are given; and Run, which replaces the states, none of
// which is None. One that keeps states at random has the names of their ratios, too.

struct LstmCell {
    static constexpr const char* kName = "lstm";
    static constexpr std::array kStates{"c", "h"};
    static constexpr std::array kLayers{LayerOfCell{"upward", 4, 1, 0},
                                        LayerOfCell{"lateral", 4, 0, 1}};
    static constexpr std::array kFunctions{CellFunction::kLstm};

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, Value* states, const Value& x) {
        Value& c = states[0];
        Value& h = states[1];
        const Value gates = ops.Add(ops.Layer(0, x), ops.Layer(1, h));
        ops.Lstm(gates, c, h);
    }
};

struct ZoneoutCell : LstmCell {
    static constexpr const char* kName = "zoneout";
    static constexpr std::array kFunctions{CellFunction::kLstm, CellFunction::kZoneout};
    static constexpr std::array kRatios{"c_ratio", "h_ratio"};  // one for each state

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, Value* states, const Value& x) {
        const Value c = ops.Share(states[0]);
        const Value h = ops.Share(states[1]);
        LstmCell::Run(ops, states, x);
        states[0] = ops.Zoneout(0, c, states[0]);
        states[1] = ops.Zoneout(1, h, states[1]);
    }
};

struct GruCell {
    static constexpr const char* kName = "gru";
    static constexpr std::array kStates{"h"};
    static constexpr std::array kLayers{LayerOfCell{"W_r", 1, 1, 0}, LayerOfCell{"U_r", 1, 0, 1},
                                        LayerOfCell{"W_z", 1, 1, 0}, LayerOfCell{"U_z", 1, 0, 1},
                                        LayerOfCell{"W", 1, 1, 0},   LayerOfCell{"U", 1, 0, 1}};
    static constexpr std::array kFunctions{CellFunction::kSigmoid, CellFunction::kTanh,
                                           CellFunction::kInterpolate};

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, Value* states, const Value& x) {
        Value& h = states[0];
        const Value z_of_x = ops.Layer(2, x);
        const Value new_of_x = ops.Layer(4, x);
        const Value r = ops.Sigmoid(ops.Add(ops.Layer(0, x), ops.Layer(1, h)));
        const Value z = ops.Sigmoid(ops.Add(z_of_x, ops.Layer(3, h)));
        const Value fresh = ops.Tanh(ops.Add(new_of_x, ops.Layer(5, ops.Multiply(r, h))));
        h = ops.Interpolate(z, fresh, h);
    }
};

struct MguCell {
    static constexpr const char* kName = "mgu";
    static constexpr std::array kStates{"h"};
    static constexpr std::array kLayers{LayerOfCell{"W_f", 1, 1, 1}, LayerOfCell{"W_h", 1, 1, 1}};
    static constexpr std::array kFunctions{CellFunction::kSigmoid, CellFunction::kTanh,
                                           CellFunction::kInterpolate, CellFunction::kConcat};

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, Value* states, const Value& x) {
        Value& h = states[0];
        const Value f = ops.Sigmoid(ops.Layer(0, ops.Concat(h, x)));
        const Value fresh = ops.Tanh(ops.Layer(1, ops.Concat(ops.Multiply(f, h), x)));
        h = ops.Interpolate(f, fresh, h);
    }
};

struct PeepholeCell {
    static constexpr const char* kName = "peephole";
    static constexpr std::array kStates{"c", "h"};
    static constexpr std::array kLayers{
        LayerOfCell{"upward", 4, 1, 0}, LayerOfCell{"lateral", 4, 0, 1},
        LayerOfCell{"peep_i", 1, 0, 1}, LayerOfCell{"peep_f", 1, 0, 1},
        LayerOfCell{"peep_o", 1, 0, 1}};
    static constexpr std::array kFunctions{CellFunction::kSigmoid, CellFunction::kTanh,
                                           CellFunction::kReshape, CellFunction::kSeparate};

    template <typename Ops, typename Value = typename Ops::Value>
    static void Run(const Ops& ops, Value* states, const Value& x) {
        Value& c = states[0];
        Value& h = states[1];
        const auto [a, i, f, o] = ops.Gates(ops.Add(ops.Layer(0, x), ops.Layer(1, h)));
        const Value input = ops.Multiply(ops.Tanh(a), ops.Sigmoid(ops.Add(i, ops.Layer(2, c))));
        const Value kept = ops.Multiply(ops.Sigmoid(ops.Add(f, ops.Layer(3, c))), c);
        c = ops.Add(input, kept);
        h = ops.Multiply(ops.Sigmoid(ops.Add(o, ops.Layer(4, c))), ops.Tanh(c));
    }
};

}  // namespace chainerx::python::engine
