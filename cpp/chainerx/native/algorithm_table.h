// Tables of algorithms, such as that of conv/conv_algorithms.cc: rows with a name, in order of
// preference, of which a call takes the first that prefers it, or the one that is forced.
#pragma once

#include <array>
#include <cstddef>

#include "chainerx/core/error.h"
#include "chainerx/kernels/algorithm.h"

namespace chainerx::native {

// The names of the rows, for an AlgorithmChoice.
template <typename Row, size_t kCount>
constexpr std::array<const char*, kCount> NamesOf(const Row (&rows)[kCount]) {
    std::array<const char*, kCount> names{};
    for (size_t i = 0; i < kCount; ++i) names[i] = rows[i].name;
    return names;
}

// Throws that a forced algorithm can't compute a call, which `problem` describes.
template <typename... Parts>
[[noreturn, gnu::cold]] void ThrowCannotCompute(const char* name, const Parts&... problem) {
    throw ValueError{"algorithm '", name, "', which is forced, can't compute the ", problem...};
}

// Returns the row that is forced for a call, or -1 if the call shall choose by itself: none is
// forced, or the environment forces one that can't compute the call (can(row) is false). If a
// thread forces such a row, this calls refuse(name), which must throw.
template <typename Can, typename Refuse>
int FindForcedRow(const AlgorithmChoice& choice, const Can& can, const Refuse& refuse) {
    if (!choice.MayBeForced()) [[likely]]
        return -1;
    const AlgorithmChoice::Forced forced = choice.forced();
    if (forced.row < 0 || can(forced.row)) return forced.row;
    if (forced.is_strict) refuse(choice.names()[forced.row]);
    return -1;
}

}  // namespace chainerx::native
