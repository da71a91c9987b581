// SIMD elementwise part of recurrent layers: gates, and their gradients.
#include "chainerx/native/rnn/recurrent_loops.h"

#include "chainerx/native/rnn/simd/lstm_cells.h"
#include "chainerx/native/rnn/simd/recurrent_steps.h"
#include "chainerx/native/rnn/simd/skinny_gemm.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
constexpr RecurrentLoops<T> kLoops{
    {&Lstm<T>, &Gru<T>, &Plain<T, true>, &Plain<T, false>},
    {&LstmGrad<T>, &GruGrad<T>, &PlainGrad<T, true>, &PlainGrad<T, false>},
    {&Cells<T, GateLayout::kAdjacent>, &Cells<T, GateLayout::kGroups>,
     &Cells<T, GateLayout::kRows>},
    {&CellsGrad<T, GateLayout::kAdjacent>, &CellsGrad<T, GateLayout::kGroups>,
     &CellsGrad<T, GateLayout::kRows>},
    &Dots<T>,
    &Row<T>};

}  // namespace

CX_EXPORT_LOOPS(RecurrentUnit){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
