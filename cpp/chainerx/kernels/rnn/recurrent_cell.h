// Cells of recurrent networks.
#pragma once

#include <cstdint>

namespace chainerx {

// Order of gates: (i, f, a, o), (r, z, n), or a single one.
enum class RecurrentCell : int8_t { kLstm, kGru, kTanh, kRelu };

constexpr int64_t CountGates(RecurrentCell cell) {
    return cell == RecurrentCell::kLstm ? 4 : cell == RecurrentCell::kGru ? 3 : 1;
}

// Numbers per unit that backward needs besides outputs and cells: the gates, and for a GRU the
// input of its last gate.
constexpr int64_t CountSaved(RecurrentCell cell) {
    return cell == RecurrentCell::kLstm || cell == RecurrentCell::kGru ? 4 : 0;
}

// Layout of given gates. kByUnit: those of a unit are adjacent, (a, i, f, o), in as many arrays as
// there are previous cells. kByGate: gate by gate in one array: a, i, o, and an f for each previous
// cell.
enum class GateOrder : int8_t { kByUnit, kByGate };

}  // namespace chainerx
