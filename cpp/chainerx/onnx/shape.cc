// Operators that move elements without looking at them.
#include <algorithm>
#include <numeric>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/padding.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

Value Identity(const Call& call) { return call.In(0); }

Array Reshape(const Call& call) {
    const Array x = call.X(0);
    std::vector<int64_t> lengths = IntsOf(call, "shape", 1);
    const bool allows_zero = call.Int("allowzero", 0) != 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] != 0 || allows_zero) continue;
        if (static_cast<int64_t>(i) >= x.ndim()) {
            throw DimensionError{"shape is ", ToShape(lengths),         ", whose axis ",
                                 i,           " can't be copied from ", x.shape()};
        }
        lengths[i] = x.shape()[static_cast<int64_t>(i)];
    }
    return Reshape(x, ToShape(lengths));
}

Array Flatten(const Call& call) {
    const Array x = call.X(0);
    int64_t axis = call.Int("axis", 1);
    if (axis < 0) axis += x.ndim();
    if (axis < 0 || axis > x.ndim()) {
        throw DimensionError{"axis is ", call.Int("axis", 1), ", but there are ", x.ndim(),
                             " dimensions"};
    }
    int64_t rows = 1;
    int64_t columns = 1;
    for (int64_t i = 0; i < x.ndim(); ++i) (i < axis ? rows : columns) *= x.shape()[i];
    return Reshape(x, Shape{rows, columns});
}

Array Transpose(const Call& call) {
    const Array x = call.X(0);
    if (!call.HasAttribute("perm")) return Transpose(x);
    return Transpose(x, ToAxes(call, call.IntList("perm"), x.ndim()));
}

Array Squeeze(const Call& call) {
    const Array x = call.X(0);
    if (!call.HasAttribute("axes") && !call.Has(1)) return Squeeze(x);
    const std::vector<int64_t> axes = IntsOf(call, "axes", 1);
    return axes.empty() ? x : Squeeze(x, ToAxes(call, axes, x.ndim()));
}

Array Unsqueeze(const Call& call) {
    const Array x = call.X(0);
    const std::vector<int64_t> axes = IntsOf(call, "axes", 1);
    const int64_t ndim = x.ndim() + static_cast<int64_t>(axes.size());
    if (ndim > kMaxNdim) {
        throw DimensionError{"the result would have ", ndim, " dimensions, expected at most ",
                             int64_t{kMaxNdim}};
    }
    return ExpandDims(x, ToAxes(call, axes, static_cast<int8_t>(ndim)));
}

Array Concat(const Call& call) {
    const std::vector<Array> xs = call.All();
    return Concatenate(xs, call.Axis(call.Int("axis"), call.X(0).ndim()));
}

Values Split(const Call& call) {
    const Array x = call.X(0);
    const int8_t axis = call.Axis(call.Int("axis", 0), x.ndim());
    const int64_t length = x.shape()[axis];
    std::vector<int64_t> lengths = IntsOf(call, "split", 1);
    if (lengths.empty()) {  // equal parts; the last one may be shorter
        const int64_t n = call.Int("num_outputs", static_cast<int64_t>(call.n_outputs()));
        if (n < 1 || n > std::max(length, static_cast<int64_t>(call.n_outputs()))) {
            throw DimensionError{"axis ", int64_t{axis}, " of ", x.shape(), " can't be split in ",
                                 n,       " parts"};
        }
        const int64_t part = (length + n - 1) / n;
        for (int64_t i = 0; i < n; ++i) {
            lengths.push_back(std::clamp<int64_t>(length - i * part, 0, part));
        }
    }
    int64_t total = 0;
    for (const int64_t n : lengths) {
        if (n < 0 || n > length) throw DimensionError{"split has the length ", n};
        total += n;
    }
    if (total != length) {
        throw DimensionError{"split adds up to ", total,        ", expected the length ", length,
                             " of axis ",         int64_t{axis}};
    }
    std::vector<int64_t> starts;
    int64_t start = 0;
    for (size_t i = 0; i + 1 < lengths.size(); ++i) starts.push_back(start += lengths[i]);
    const std::vector<Array> parts = Split(x, starts, axis);
    return {parts.begin(), parts.end()};
}

Array Slice(const Call& call) {
    const Array x = call.X(0);
    const std::vector<int64_t> starts = IntsOf(call, "starts", 1);
    const std::vector<int64_t> ends = IntsOf(call, "ends", 2);
    std::vector<int64_t> axes = IntsOf(call, "axes", 3);
    std::vector<int64_t> steps = call.Has(4) ? call.Ints(4) : std::vector<int64_t>{};
    if (axes.empty()) {
        axes.resize(starts.size());
        std::iota(axes.begin(), axes.end(), 0);
    }
    if (steps.empty()) steps.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size()) {
        throw DimensionError{"starts, ends, axes and steps have ",
                             starts.size(),
                             ", ",
                             ends.size(),
                             ", ",
                             axes.size(),
                             " and ",
                             steps.size(),
                             " elements, expected as many"};
    }
    std::vector<ArrayIndex> items(static_cast<size_t>(x.ndim()), chainerx::Slice{});
    for (size_t i = 0; i < starts.size(); ++i) {
        const int8_t axis = call.Axis(axes[i], x.ndim());
        const int64_t length = x.shape()[axis];
        chainerx::Slice slice{starts[i], ends[i], steps[i]};
        // Backward, a start before the first element is that one.
        if (steps[i] < 0 && starts[i] < -length && length > 0) slice.start = 0;
        // An end before the first element: -1 would be the last one.
        if (steps[i] < 0 && ends[i] < -length) slice.stop = std::nullopt;
        items[static_cast<size_t>(axis)] = slice;
    }
    return At(x, items);
}

Array Expand(const Call& call) {
    const Array x = call.X(0);
    return BroadcastTo(x, BroadcastShapes("shape", x.shape(), ToShape(call.Ints(1))));
}

Array Tile(const Call& call) { return Tile(call.X(0), ToShape(call.Ints(1))); }

PadMode PadModeOf(std::string_view name) {
    if (name == "constant") return PadMode::kConstant;
    if (name == "reflect") return PadMode::kReflect;
    if (name == "edge") return PadMode::kEdge;
    if (name == "wrap") return PadMode::kWrap;
    throw ValueError{"attribute mode is \"", name, "\", expected constant, reflect, edge or wrap"};
}

Array Pad(const Call& call) {
    Array x = call.X(0);
    const PadMode mode = PadModeOf(call.String("mode", "constant"));
    const std::vector<int64_t> pads = IntsOf(call, "pads", 1);
    std::vector<int64_t> axes(static_cast<size_t>(x.ndim()));
    std::iota(axes.begin(), axes.end(), 0);
    if (call.Has(3)) axes = call.Ints(3);
    if (pads.size() != 2 * axes.size()) {
        throw DimensionError{"pads has ", pads.size(), " elements, expected ", 2 * axes.size()};
    }
    PadWidths widths(static_cast<size_t>(x.ndim()), {0, 0});
    std::vector<ArrayIndex> kept(static_cast<size_t>(x.ndim()), chainerx::Slice{});
    for (size_t i = 0; i < axes.size(); ++i) {
        const int8_t axis = call.Axis(axes[i], x.ndim());
        const int64_t before = pads[i];
        const int64_t after = pads[i + axes.size()];
        widths[static_cast<size_t>(axis)] = {std::max<int64_t>(before, 0),
                                             std::max<int64_t>(after, 0)};
        // Negative widths cut.
        if (before < 0 || after < 0) {
            const int64_t length = x.shape()[axis];
            const int64_t start = std::max<int64_t>(-std::max(before, -length), 0);
            const int64_t stop = std::max(start, length + std::min<int64_t>(after, 0));
            kept[static_cast<size_t>(axis)] = chainerx::Slice{start, stop};
        }
    }
    x = At(x, kept);
    if (mode == PadMode::kConstant && call.Has(2) && call.X(2).GetTotalSize() == 1) {
        const Array value = call.X(2);
        if (IsFloat(x.dtype())) return Pad(x, widths, mode, value.Item<double>());
        if (IsInt(x.dtype())) return Pad(x, widths, mode, value.Item<int64_t>());
        return Pad(x, widths, mode, value.Item<bool>());
    }
    return Pad(x, widths, mode, call.Float("value", 0) != 0 ? Scalar{call.Float("value")} : 0);
}

int64_t BlockSize(const Call& call) {
    const int64_t b = call.Int("blocksize");
    if (b < 1 || b > 1 << 20) {  // so that its square fits
        throw ValueError{"attribute blocksize is ", b, ", expected 1 to ", 1 << 20};
    }
    return b;
}

// Whether the block comes before the channels in the depth.
bool IsDepthFirst(const Call& call) {
    const std::string_view mode = call.String("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") {
        throw ValueError{"attribute mode is \"", mode, "\", expected DCR or CRD"};
    }
    return mode == "DCR";
}

Array DepthToSpace(const Call& call) {
    const Array x = call.X(0);
    const int64_t b = BlockSize(call);
    if (x.ndim() != 4 || x.shape()[1] % (b * b) != 0) {
        throw DimensionError{"the input has shape ", x.shape(),
                             ", expected 4 dimensions and a multiple of ", b, " squared channels"};
    }
    const Shape& s = x.shape();
    const int64_t c = s[1] / (b * b);
    const Array y =
        IsDepthFirst(call)
            ? Transpose(Reshape(x, {s[0], b, b, c, s[2], s[3]}), Axes{0, 3, 4, 1, 5, 2})
            : Transpose(Reshape(x, {s[0], c, b, b, s[2], s[3]}), Axes{0, 1, 4, 2, 5, 3});
    return Reshape(y, {s[0], c, s[2] * b, s[3] * b});
}

Array SpaceToDepth(const Call& call) {
    const Array x = call.X(0);
    const int64_t b = BlockSize(call);
    if (x.ndim() != 4 || x.shape()[2] % b != 0 || x.shape()[3] % b != 0) {
        throw DimensionError{"the input has shape ", x.shape(),
                             ", expected 4 dimensions and multiples of ", b, " rows and columns"};
    }
    const Shape& s = x.shape();
    const Axes axes = IsDepthFirst(call) ? Axes{0, 3, 5, 1, 2, 4} : Axes{0, 1, 3, 5, 2, 4};
    const Array y = Transpose(Reshape(x, {s[0], s[1], s[2] / b, b, s[3] / b, b}), axes);
    return Reshape(y, {s[0], s[1] * b * b, s[2] / b, s[3] / b});
}

Array Trilu(const Call& call) {
    const int64_t k = call.Has(1) ? call.IntAt(1) : 0;
    return call.Int("upper", 1) != 0 ? Triu(call.X(0), k) : Tril(call.X(0), k);
}

// Reverses the first elements along an axis, as many as an array says for each place of another.
Array ReverseSequence(const Call& call) {
    const Array x = call.X(0);
    const int8_t time = call.Axis(call.Int("time_axis", 0), x.ndim());
    const int8_t batch = call.Axis(call.Int("batch_axis", 1), x.ndim());
    const std::vector<int64_t> lengths = call.Ints(1);
    if (time == batch || static_cast<int64_t>(lengths.size()) != x.shape()[batch]) {
        throw DimensionError{"sequence_lens has ", lengths.size(), " elements, expected ",
                             x.shape()[batch]};
    }
    std::vector<Array> parts;
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] < 0 || lengths[i] > x.shape()[time]) {
            throw ValueError{"sequence_lens has ", lengths[i], ", expected 0 to ", x.shape()[time]};
        }
        std::vector<ArrayIndex> items(static_cast<size_t>(x.ndim()), chainerx::Slice{});
        const auto n = static_cast<int64_t>(i);
        items[static_cast<size_t>(batch)] = chainerx::Slice{n, n + 1};
        items[static_cast<size_t>(time)] = chainerx::Slice{std::nullopt, lengths[i]};
        const Array first = At(x, items);
        items[static_cast<size_t>(time)] = chainerx::Slice{lengths[i], std::nullopt};
        parts.push_back(Concatenate(std::vector{Flip(first, Axes{time}), At(x, items)}, time));
    }
    return parts.empty() ? x : Concatenate(parts, batch);
}

Array CenterCropPad(const Call& call) {
    Array x = call.X(0);
    const std::vector<int64_t> lengths = call.Ints(1);
    std::vector<int64_t> axes = call.IntList("axes");
    if (axes.empty()) {
        axes.resize(static_cast<size_t>(x.ndim()));
        std::iota(axes.begin(), axes.end(), 0);
    }
    if (axes.size() != lengths.size()) {
        throw DimensionError{"shape has ", lengths.size(), " elements, expected ", axes.size()};
    }
    PadWidths widths(static_cast<size_t>(x.ndim()), {0, 0});
    std::vector<ArrayIndex> kept(static_cast<size_t>(x.ndim()), chainerx::Slice{});
    for (size_t i = 0; i < axes.size(); ++i) {
        const int8_t axis = call.Axis(axes[i], x.ndim());
        const int64_t length = x.shape()[axis];
        if (lengths[i] < 0) throw ValueError{"shape has the negative length ", lengths[i]};
        if (lengths[i] > length) {
            const int64_t before = (lengths[i] - length) / 2;
            widths[static_cast<size_t>(axis)] = {before, lengths[i] - length - before};
        } else {
            const int64_t start = (length - lengths[i]) / 2;
            kept[static_cast<size_t>(axis)] = chainerx::Slice{start, start + lengths[i]};
        }
    }
    return Pad(At(x, kept), widths);
}

constexpr Operator kOperators[] = {
    CX_OPERATOR_SINCE(CenterCropPad, 18),
    CX_OPERATOR_SINCE(Concat, 4),
    CX_OPERATOR_SINCE(DepthToSpace, 1),
    CX_OPERATOR_SINCE(Expand, 8),
    CX_OPERATOR_SINCE(Flatten, 1),
    CX_OPERATOR_SINCE(Identity, 1),
    CX_OPERATOR_SINCE(Pad, 2),
    CX_OPERATOR_SINCE(Reshape, 1),
    CX_OPERATOR_SINCE(ReverseSequence, 10),
    CX_OPERATOR_SINCE(Slice, 1),
    CX_OPERATOR_SINCE(SpaceToDepth, 1),
    CX_OPERATOR_SINCE(Split, 2),
    CX_OPERATOR_SINCE(Squeeze, 1),
    CX_OPERATOR_SINCE(Tile, 6),
    CX_OPERATOR_SINCE(Transpose, 1),
    CX_OPERATOR_SINCE(Trilu, 14),
    CX_OPERATOR_SINCE(Unsqueeze, 1),
};

}  // namespace

std::span<const Operator> ShapeOperators() { return kOperators; }

}  // namespace chainerx::onnx
