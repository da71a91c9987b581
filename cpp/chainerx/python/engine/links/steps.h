// Steps of recurrent links as compositions in C++: rows of the table in native.cc.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/ops/rnn/recurrent.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/small_array.h"

namespace chainerx::python::engine {

// Inputs are x, the states, and a weight and a bias of each layer, in the order of the links in
// python/chainer/links/rnn. The number of inputs fits; states that may be None are named below.
using StepInputs = SmallArray<Array>;

Array GruStep(const StepInputs& inputs, PyObject* const*);
Array MguStep(const StepInputs& inputs, PyObject* const*);
LstmState LstmStep(const StepInputs& inputs, PyObject* const*);
// Parameters are the ratios for cells and for outputs.
LstmState ZoneoutStep(const StepInputs& inputs, PyObject* const* params);
// Parameters of the following are the number of units.
LstmState PeepholeStep(const StepInputs& inputs, PyObject* const* params);
// States are the cells of the children and their outputs; a null array stands for zeros.
LstmState ChildSumStep(const StepInputs& inputs, PyObject* const* params);
LstmState NaryStep(const StepInputs& inputs, PyObject* const* params);

}  // namespace chainerx::python::engine
