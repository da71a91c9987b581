// Tables of algorithms, such as that of conv/conv_algorithms.cc: rows with a name, in order of
// preference, of which a call takes the first that prefers it, or the one that is forced.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

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
int FindForcedRow(const AlgorithmChoice& choice, const auto& can, const auto& refuse) {
    if (!choice.MayBeForced()) [[likely]]
        return -1;
    const AlgorithmChoice::Forced forced = choice.forced();
    if (forced.row < 0 || can(forced.row)) return forced.row;
    if (forced.is_strict) refuse(choice.names()[forced.row]);
    return -1;
}

// Calls f(i) for the first of 0 to kCount - 1 for which prefers(i) is true, as an integral
// constant. All is inlined, since small calls take no longer than a search.
template <int kCount, typename Prefers, typename F>
[[gnu::always_inline]] inline void WithFirst(const Prefers& prefers, const F& f) {
    const auto try_row = [&](auto i) {
        if (!prefers(i)) return false;
        f(i);
        return true;
    };
    [&]<int... i>(std::integer_sequence<int, i...>) {
        (void)(try_row(std::integral_constant<int, i>{}) || ...);
    }(std::make_integer_sequence<int, kCount>{});
}

}  // namespace chainerx::native
