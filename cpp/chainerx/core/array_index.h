// One item of a basic index: an integer, a slice, a new axis, or "...".
#pragma once

#include <cstdint>
#include <optional>

namespace chainerx {

struct Slice {
    std::optional<int64_t> start;
    std::optional<int64_t> stop;
    int64_t step{1};
};
struct NewAxis {};
struct Ellipsis {};

// Treatment of an index outside [0, length). kDefault is kRaise where the device can raise.
enum class IndexBoundsMode : int8_t { kDefault, kRaise, kWrap, kClip };

class ArrayIndex {
 public:
    enum class Tag : int8_t { kSingle, kSlice, kNewAxis, kEllipsis };

    // Implicit, so that x.At({0, Slice{}, NewAxis{}}) reads as in Python.
    ArrayIndex(int64_t index) : tag_{Tag::kSingle}, index_{index} {}      // NOLINT
    ArrayIndex(const Slice& slice) : tag_{Tag::kSlice}, slice_{slice} {}  // NOLINT
    ArrayIndex(NewAxis) : tag_{Tag::kNewAxis} {}                          // NOLINT
    ArrayIndex(Ellipsis) : tag_{Tag::kEllipsis} {}                        // NOLINT

    Tag tag() const { return tag_; }
    int64_t index() const { return index_; }
    const Slice& slice() const { return slice_; }

 private:
    Tag tag_;
    int64_t index_{0};
    Slice slice_{};
};

}  // namespace chainerx
