// One call of a cell of links: its layers and what they get, whether these are the usual ones, and
// the same as arrays.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/few.h"
#include "chainerx/python/engine/links/link_cells.h"
#include "chainerx/python/engine/links/link_layers.h"
#include "chainerx/python/engine/links/link_ops.h"
#include "chainerx/python/engine/links/unrecorded.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/ref.h"

namespace chainerx::python::engine {

// Whether what computes a link can be left out: layers are what they were, and nobody looks.
bool AreCellsUsual();

// Whether what links of a class have by these names is in their dicts: the class itself has nothing
// of that name.
bool AreInDict(PyTypeObject* type, std::span<PyObject* const> names);

struct CellCall {
    CellCall(const char* name, size_t n_values, size_t n_layers)
        : op{name}, values{n_values}, layers{n_layers} {}

    // False where one is not the usual one.
    bool FindLayers(PyObject* dict, std::span<PyObject* const> names);
    // Whether a call of each layer comes to one of its function: others first look at the input.
    bool FitsFunctions() const;

    const char* op;
    Few<Ref> values;  // states, and last the input; null stands for zeros
    Array zeros;
    Kind kind_of_zeros{Kind::kNone};
    Few<LinearLayer> layers;
};

// Where nothing is recorded.
class CellArrays {
 public:
    explicit CellArrays(const CellCall& call)
        : values{call.values.size()}, unrecorded_{call.op}, layers_{call.layers.size()} {}

    // False where only functions can tell what it is, and what is wrong with it: the shapes have
    // to be those that the cell is made of.
    bool Take(const CellCall& call, std::span<const LayerOfCell> layers);
    ArrayOps ops(const double* ratios = nullptr) const { return {layers_.data(), ratios}; }
    Ref Wrap(Array y) const { return Ref{unrecorded_.Wrap(std::move(y))}; }

    Few<Array> values;

 private:
    bool Fits(std::span<const LayerOfCell> layers) const;

    UnrecordedCall unrecorded_;
    Few<ArrayOps::Parameters> layers_;
};

// Calls `run`. An error of the computation is that of Python's own way, which says in which layer
// it is: then it is false, too.
template <typename F>
bool RunOrForget(const F& run) {
    try {
        return run();
    } catch (...) {
        TranslateException();
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
        PyErr_Clear();
        return false;
    }
}

}  // namespace chainerx::python::engine
