// Steps of recurrent networks: compositions.
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/hyperbolic.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/operators.h"
#include "chainerx/ops/recurrent.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

void CheckFloat(const char* op, const char* name, const Array& x, const Array& first) {
    CheckSameDevice(op, first.device(), x.device());
    if (!IsFloat(x.dtype())) {
        throw DtypeError{op, ": ", name, " has dtype ", x.dtype(), ", expected a real float"};
    }
}

[[noreturn]] CX_COLD void ThrowGates(const char* op, const char* name, const Array& x, int64_t n,
                                     const Array& c) {
    throw DimensionError{
        op,        ": ",          name, ".shape is ",
        x.shape(), ", expected ", n,    " gates of each unit on axis 1, where cells have shape ",
        c.shape()};
}

// That x has n gates of each unit of c, for no more rows than that, or as many.
void CheckGates(const char* op, const char* name, const Array& x, int64_t n, const Array& c,
                bool may_be_fewer) {
    bool fits = x.ndim() == c.ndim() && c.ndim() >= 2;
    if (!fits) ThrowGates(op, name, x, n, c);
    const int64_t rows = x.shape()[0];
    fits = may_be_fewer ? rows <= c.shape()[0] : rows == c.shape()[0];
    fits &= x.shape()[1] % n == 0 && x.shape()[1] / n == c.shape()[1];
    for (int8_t i = 2; i < c.ndim(); ++i) fits &= x.shape()[i] == c.shape()[i];
    if (!fits) ThrowGates(op, name, x, n, c);
}

void CheckSameShape(const char* op, const char* name, const Array& c, const Array& first) {
    if (c.shape() == first.shape()) return;
    throw DimensionError{op,        ": ",          name,          ".shape is ",
                         c.shape(), ", expected ", first.shape(), ", as that of the first"};
}

// Gates that stand side by side: those of a unit follow each other.
std::vector<Array> GatesOfUnits(const Array& x) {
    Shape shape{x.shape()[0], x.shape()[1] / 4, 4};
    for (int8_t i = 2; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    std::vector<Array> gates;
    for (const Array& gate : Split(Reshape(x, shape), 4, 2)) {
        gates.push_back(Squeeze(gate, Axes{2}));
    }
    return gates;
}

}  // namespace

LstmState Lstm(const Array& c, const Array& x) {
    constexpr const char* kOp = "lstm";
    CheckFloat(kOp, "c", c, c);
    CheckFloat(kOp, "x", x, c);
    CheckGates(kOp, "x", x, 4, c, true);
    const std::vector<Array> g = GatesOfUnits(x);
    const int64_t n = x.shape()[0];
    const bool is_all = n == c.shape()[0];
    const std::vector<Array> cells =
        is_all ? std::vector<Array>{c} : Split(c, std::vector<int64_t>{n}, 0);
    const Array next = Tanh(g[0]) * Sigmoid(g[1]) + Sigmoid(g[2]) * cells[0];
    const Array h = Sigmoid(g[3]) * Tanh(next);
    return {is_all ? next : Concatenate(std::vector<Array>{next, cells[1]}, 0), h};
}

LstmState SLstm(const Array& c1, const Array& c2, const Array& x1, const Array& x2) {
    constexpr const char* kOp = "slstm";
    CheckFloat(kOp, "c1", c1, c1);
    CheckFloat(kOp, "c2", c2, c1);
    CheckFloat(kOp, "x1", x1, c1);
    CheckFloat(kOp, "x2", x2, c1);
    CheckSameShape(kOp, "c2", c2, c1);
    CheckGates(kOp, "x1", x1, 4, c1, false);
    CheckGates(kOp, "x2", x2, 4, c1, false);
    const std::vector<Array> g1 = GatesOfUnits(x1);
    const std::vector<Array> g2 = GatesOfUnits(x2);
    const Array c = Tanh(g1[0]) * Sigmoid(g1[1]) + Sigmoid(g1[2]) * c1 +
                    Tanh(g2[0]) * Sigmoid(g2[1]) + Sigmoid(g2[2]) * c2;
    return {c, Sigmoid(g1[3] + g2[3]) * Tanh(c)};
}

LstmState TreeLstm(const std::vector<Array>& cs, const Array& x) {
    constexpr const char* kOp = "tree_lstm";
    if (cs.empty()) throw DimensionError{kOp, ": there is no cell, expected at least 1, and x"};
    for (const Array& c : cs) {
        CheckFloat(kOp, "a cell", c, cs[0]);
        CheckSameShape(kOp, "a cell", c, cs[0]);
    }
    CheckFloat(kOp, "x", x, cs[0]);
    const auto n = static_cast<int64_t>(cs.size()) + 3;
    CheckGates(kOp, "x", x, n, cs[0], false);
    const std::vector<Array> g = Split(x, n, 1);
    Array c = Tanh(g[0]) * Sigmoid(g[1]);
    for (size_t k = 0; k < cs.size(); ++k) c = c + Sigmoid(g[k + 3]) * cs[k];
    return {c, Sigmoid(g[2]) * Tanh(c)};
}

}  // namespace chainerx
