// The cells of recurrent networks.
#pragma once

#include <cstdint>

namespace chainerx {

// Gates stand one after the other: (i, f, a, o), (r, z, n), or one.
enum class RecurrentCell : int8_t { kLstm, kGru, kTanh, kRelu };

constexpr int64_t CountGates(RecurrentCell cell) {
    return cell == RecurrentCell::kLstm ? 4 : cell == RecurrentCell::kGru ? 3 : 1;
}

// What backward needs of each unit besides outputs and cells: the gates, and of a GRU what its last
// gate is made of.
constexpr int64_t CountSaved(RecurrentCell cell) {
    return cell == RecurrentCell::kLstm || cell == RecurrentCell::kGru ? 4 : 0;
}

// Where the gates of cells are that get them ready: those of a unit side by side, (a, i, f, o), in
// as many arrays as there are cells before; or all of a kind, then all of the next one, in one
// array: a, i, o, and f for each cell before.
enum class GateOrder : int8_t { kByUnit, kByGate };

}  // namespace chainerx
