// Assembling an array from nested lists of blocks.
#include <algorithm>

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/shape/rearrange.h"

namespace chainerx {
namespace {

constexpr OpInfo kBlock{"block"};

using internal::Join;
using internal::WithLeadingAxes;

// Returns the depth of the lists, which must be the same everywhere.
int DepthOf(const Blocks& blocks) {
    if (!blocks.array.is_null()) return 0;
    if (blocks.parts.empty()) throw ValueError{"block: arrays holds an empty list"};
    const int depth = DepthOf(blocks.parts[0]);
    for (const Blocks& part : blocks.parts) {
        if (const int other = DepthOf(part); other != depth) {
            throw ValueError{"block: lists in arrays are ", other, " and ", depth,
                             " deep, expected one depth"};
        }
    }
    return depth + 1;
}

int MostDimensions(const Blocks& blocks) {
    if (!blocks.array.is_null()) return blocks.array.ndim();
    int most = 0;
    for (const Blocks& part : blocks.parts) most = std::max(most, MostDimensions(part));
    return most;
}

// A block and its origin in the whole array.
struct Placed {
    Array array;
    Shape begin;
};

// The array that the blocks form.
struct Whole {
    Shape shape;
    Dtype dtype;
};

// Places each array of `blocks`, whose origin is `begin`.
Whole Lay(const Blocks& blocks, int depth, int ndim, Shape begin, std::vector<Placed>& placed) {
    if (depth == 0) {
        const Array x = WithLeadingAxes(blocks.array, ndim);
        placed.push_back({x, begin});
        return {x.shape(), x.dtype()};
    }
    const auto axis = static_cast<int8_t>(ndim - depth);
    Whole whole{{}, Dtype::kBool};
    for (size_t k = 0; k < blocks.parts.size(); ++k) {
        const Whole part = Lay(blocks.parts[k], depth - 1, ndim, begin, placed);
        const int64_t length = part.shape[axis];
        if (k == 0) {
            whole = part;
        } else {
            if (internal::WithLength(part.shape, axis, whole.shape[axis]) != whole.shape) {
                throw DimensionError{
                    "block: shape ",         part.shape,  " of array ", k,
                    " does not join shape ", whole.shape, " on axis ",  int64_t{axis}};
            }
            if (__builtin_add_overflow(whole.shape[axis], length, &whole.shape[axis])) {
                throw DimensionError{"block: the joined arrays are too large to address"};
            }
            whole.dtype = PromoteTypes(whole.dtype, part.dtype);
        }
        begin[axis] += length;
    }
    return whole;
}

// Joins axis by axis, which copies each array several times.
Array JoinBlocks(const Blocks& blocks, int depth, int ndim) {
    if (depth == 0) return WithLeadingAxes(blocks.array, ndim);
    std::vector<Array> arrays;
    for (const Blocks& part : blocks.parts) arrays.push_back(JoinBlocks(part, depth - 1, ndim));
    return Join(arrays, static_cast<int8_t>(ndim - depth), "block");
}

// Returns the part of `whole` with origin `begin`; outside all graphs.
Array PartAt(const Array& whole, const Shape& begin, const Shape& shape) {
    char* data = whole.raw_data();
    for (int8_t i = 0; i < begin.ndim(); ++i) data += begin[i] * whole.strides()[i];
    return internal::MakeView(whole, shape, whole.strides(), data);
}

}  // namespace

Array Block(const Blocks& blocks) {
    const int depth = DepthOf(blocks);
    if (depth == 0) return Copy(blocks.array);
    const int ndim = std::max(depth, MostDimensions(blocks));
    if (ndim > kMaxNdim) internal::ThrowTooManyDims(ndim);
    std::vector<Placed> placed;
    Shape origin;
    origin.resize(ndim, 0);
    const Whole whole = Lay(blocks, depth, ndim, origin, placed);
    constexpr size_t kMaxInputs = 32768;  // of a node
    if (placed.size() > kMaxInputs) return JoinBlocks(blocks, depth, ndim);
    Device& device = placed[0].array.device();
    for (const Placed& p : placed) CheckSameDevice("block", device, p.array.device());
    CheckedNBytes("block", whole.shape, GetItemSize(whole.dtype));
    Array y = EmptyUnchecked(whole.shape, whole.dtype, device);
    std::vector<ConstArrayRef> arrays;
    for (const Placed& p : placed) {
        arrays.emplace_back(p.array);
        if (p.array.GetTotalSize() == 0) continue;
        CallOn<kernels::AsType>(device, p.array, PartAt(y, p.begin, p.array.shape()));
    }
    if (Record rec{kBlock, arrays, std::span{&y, 1}}) {
        for (size_t k = 0; k < placed.size(); ++k) {
            rec.Grad(static_cast<int>(k),
                     [begin = placed[k].begin, shape = placed[k].array.shape()](const Array& gy) {
                         std::vector<ArrayIndex> index;
                         for (int8_t i = 0; i < shape.ndim(); ++i) {
                             index.emplace_back(Slice{begin[i], begin[i] + shape[i]});
                         }
                         return At(gy, index);
                     });
        }
    }
    return y;
}

}  // namespace chainerx
