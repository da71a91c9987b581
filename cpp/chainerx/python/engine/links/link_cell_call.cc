#include "chainerx/python/engine/links/link_cell_call.h"

#include <algorithm>
#include <cstdint>

#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/state.h"

namespace chainerx::python::engine {
namespace {

bool IsMatrix(const Array& a, int64_t n, int64_t m) {
    return a.ndim() == 2 && a.shape()[0] == n && a.shape()[1] == m;
}

}  // namespace

bool AreCellsUsual() { return IsLinearUsual() && !IsObserved(GetState()); }

bool AreInDict(PyTypeObject* type, std::span<PyObject* const> names) {
    return type->tp_getattro == PyObject_GenericGetAttr &&
           std::ranges::none_of(names, [type](PyObject* name) {
               return name != nullptr && _PyType_Lookup(type, name) != nullptr;
           });
}

bool CellCall::FindLayers(PyObject* dict, std::span<PyObject* const> names) {
    for (size_t i = 0; i < layers.size(); ++i) {
        if (!FindLinear(dict, names[i], layers[i])) return false;
    }
    return true;
}

bool CellCall::FitsFunctions() const {
    const int64_t rows = RowsOfMatrix(op, values[0].get());
    return rows >= 0 &&
           std::ranges::all_of(values,
                               [&](const Ref& v) { return RowsOfMatrix(op, v.get()) == rows; }) &&
           std::ranges::all_of(layers, [&](const LinearLayer& layer) {
               return RowsOfMatrix(op, layer.w.get()) >= 0;
           });
}

bool CellArrays::Take(const CellCall& call, std::span<const LayerOfCell> layers) {
    for (size_t i = 0; i < values.size(); ++i) {
        if (!call.values[i]) {
            values[i] = call.zeros;
            if (!unrecorded_.Add(call.kind_of_zeros, call.zeros, true)) return false;
        } else if (!unrecorded_.Take(call.values[i].get(), values[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < layers_.size(); ++i) {
        const auto& [w, b] = call.layers[i];
        if (!unrecorded_.Take(w.get(), layers_[i].w)) return false;
        if (b.get() == Py_None) continue;
        if (!unrecorded_.Take(b.get(), layers_[i].b.emplace())) return false;
    }
    return Fits(layers);
}

bool CellArrays::Fits(std::span<const LayerOfCell> layers) const {
    const Array& x = values[values.size() - 1];
    const Array& first = layers_[0].w;
    if (x.ndim() != 2 || first.ndim() != 2) return false;
    const int64_t rows = x.shape()[0];
    const int64_t features = x.shape()[1];
    const int64_t units = first.shape()[0] / layers[0].outs;
    for (size_t i = 0; i + 1 < values.size(); ++i) {
        if (!IsMatrix(values[i], rows, units)) return false;
    }
    for (size_t i = 0; i < layers_.size(); ++i) {
        const LayerOfCell& layer = layers[i];
        const int64_t outs = layer.outs * units;
        const auto& [w, b] = layers_[i];
        if (!IsMatrix(w, outs, layer.features * features + layer.units * units)) return false;
        if (b.has_value() && (b->ndim() != 1 || b->shape()[0] != outs)) return false;
    }
    return true;
}

}  // namespace chainerx::python::engine
