// Joining, splitting and repeating. All are differentiable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// nullopt joins the flattened arrays. Dtypes are promoted.
CX_API Array Concatenate(std::span<const ConstArrayRef> arrays, std::optional<int8_t> axis = 0,
                         const char* op = "concatenate");
CX_API Array Concatenate(const std::vector<Array>& arrays, std::optional<int8_t> axis = 0);
CX_API Array Stack(std::span<const ConstArrayRef> arrays, int8_t axis = 0);
CX_API Array Stack(const std::vector<Array>& arrays, int8_t axis = 0);
CX_API Array HStack(std::span<const ConstArrayRef> arrays);
CX_API Array VStack(std::span<const ConstArrayRef> arrays);
CX_API Array DStack(std::span<const ConstArrayRef> arrays);

// Returns views: equal parts, whose number divides the length, or parts that begin at `indices`.
CX_API std::vector<Array> Split(const Array& x, int64_t sections, int8_t axis = 0,
                                const char* op = "split");
CX_API std::vector<Array> Split(const Array& x, const std::vector<int64_t>& indices,
                                int8_t axis = 0, const char* op = "split");
// Split along axis 1 (0 for one dimension); along axis 0, for at least two; along axis 2, for at
// least three.
CX_API std::vector<Array> HSplit(const Array& x, int64_t sections);
CX_API std::vector<Array> HSplit(const Array& x, const std::vector<int64_t>& indices);
CX_API std::vector<Array> VSplit(const Array& x, int64_t sections);
CX_API std::vector<Array> VSplit(const Array& x, const std::vector<int64_t>& indices);
CX_API std::vector<Array> DSplit(const Array& x, int64_t sections);
CX_API std::vector<Array> DSplit(const Array& x, const std::vector<int64_t>& indices);

// Returns parts of nearly equal length: the first ones may be longer by one.
CX_API std::vector<Array> ArraySplit(const Array& x, int64_t sections, int8_t axis = 0);

// Repeats each element of an axis (of the flattened array for nullopt) `repeats` times.
CX_API Array Repeat(const Array& x, int64_t repeats, std::optional<int8_t> axis = std::nullopt);
CX_API Array Repeat(const Array& x, const std::vector<int64_t>& repeats,
                    std::optional<int8_t> axis = std::nullopt);

}  // namespace chainerx
