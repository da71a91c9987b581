// The table of cells.
#pragma once

#include <cstddef>
#include <span>

#include "chainerx/python/engine/links/link_cells.h"
#include "chainerx/python/engine/links/link_ops.h"

namespace chainerx::python::engine {

inline constexpr size_t kMostStates = 2;
inline constexpr size_t kMostLayers = 6;

struct StepCell {
    const char* name;
    std::span<const char* const> states;
    std::span<const LayerOfCell> layers;
    std::span<const CellFunction> functions;
    std::span<const char* const> ratios;
    void (*of_arrays)(const ArrayOps& ops, Array* states, const Array& x);
    void (*of_variables)(const VariableOps& ops, Ref* states, const Ref& x);
};

template <typename T>
constexpr std::span<const char* const> RatiosOf() {
    if constexpr (requires { T::kRatios; }) {
        return T::kRatios;
    } else {
        return {};
    }
}

template <typename T>
constexpr StepCell CellOf() {
    static_assert(T::kStates.size() <= kMostStates && T::kLayers.size() <= kMostLayers);
    return {T::kName,
            T::kStates,
            T::kLayers,
            T::kFunctions,
            RatiosOf<T>(),
            &T::template Run<ArrayOps>,
            &T::template Run<VariableOps>};
}

inline constexpr StepCell kCells[] = {CellOf<LstmCell>(), CellOf<GruCell>(), CellOf<MguCell>(),
                                      CellOf<PeepholeCell>(), CellOf<ZoneoutCell>()};

}  // namespace chainerx::python::engine
