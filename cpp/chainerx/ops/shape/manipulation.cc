#include "chainerx/ops/shape/manipulation.h"

#include <algorithm>
#include <utility>

#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"
#include "chainerx/ops/shape/concat_views.h"

namespace chainerx {
namespace {

constexpr OpInfo kConcatenate{"concatenate", &kernels::Concatenate::kInfo, Batching::kAxes};
constexpr OpInfo kSplit{"split", nullptr, Batching::kAxes};

using Refs = std::span<const ConstArrayRef>;

// A node counts no more outputs; more of them are made in groups.
constexpr size_t kMaxOutputs = 250;
// A node counts no more inputs; more of them are joined in groups.
constexpr size_t kMaxInputs = 32768;
// Nobody can hold more parts as arrays: each costs some hundred bytes.
constexpr int64_t kMaxSections = int64_t{1} << 26;

std::vector<ConstArrayRef> RefsOf(const std::vector<Array>& arrays) {
    return {arrays.begin(), arrays.end()};
}

// Returns the part [begin, end) of an axis.
Array Part(const Array& x, int8_t axis, int64_t begin, int64_t end) {
    Shape shape = x.shape();
    shape[axis] = end - begin;
    return internal::MakeView(x, shape, x.strides(), x.raw_data() + begin * x.strides()[axis]);
}

void CheckNotEmpty(const char* op, Refs arrays) {
    if (arrays.empty()) throw DimensionError{op, ": no arrays were given"};
}

Array ConcatenateOf(const char* op, const std::vector<Array>& arrays, int8_t axis) {
    return Concatenate(RefsOf(arrays), axis, op);
}

}  // namespace

Array Concatenate(Refs arrays, std::optional<int8_t> axis, const char* op) {
    CheckNotEmpty(op, arrays);
    if (!axis) {
        std::vector<Array> flat;
        for (const Array& x : arrays) flat.push_back(Ravel(x));
        return ConcatenateOf(op, flat, 0);
    }
    if (arrays.size() > kMaxInputs) {
        std::vector<Array> groups;
        for (size_t k = 0; k < arrays.size(); k += kMaxInputs) {
            const size_t n = std::min(kMaxInputs, arrays.size() - k);
            groups.push_back(Concatenate(arrays.subspan(k, n), axis, op));
        }
        return ConcatenateOf(op, groups, *axis);
    }
    const Array& first = arrays[0];
    if (first.ndim() == 0) throw DimensionError{op, ": arrays of shape () have no axis to join"};
    const int8_t a = NormalizeAxis(op, *axis, first.ndim());
    Shape shape = first.shape();
    Dtype dtype = first.dtype();
    bool same_dtype = true;
    for (size_t k = 1; k < arrays.size(); ++k) {
        const Array& x = arrays[k];
        CheckSameDevice(op, first.device(), x.device());
        bool match = x.ndim() == first.ndim();
        for (int8_t i = 0; match && i < x.ndim(); ++i) {
            match = i == a || x.shape()[i] == shape[i];
        }
        if (!match) {
            throw DimensionError{op,
                                 ": shape ",
                                 x.shape(),
                                 " of array ",
                                 k,
                                 " does not join shape ",
                                 first.shape(),
                                 " on axis ",
                                 int64_t{a}};
        }
        if (__builtin_add_overflow(shape[a], x.shape()[a], &shape[a])) {
            throw DimensionError{op, ": the joined arrays are too large to address"};
        }
        if (x.dtype() != dtype) {
            dtype = PromoteTypes(dtype, x.dtype());
            same_dtype = false;
        }
    }
    CheckedNBytes(op, shape, GetItemSize(dtype));
    Array y = EmptyUnchecked(shape, dtype, first.device());
    if (same_dtype) {
        CallOn<kernels::Concatenate>(y.device(), arrays, a, y);
    } else {
        std::vector<Array> cast;
        for (const Array& x : arrays) cast.push_back(AsType(internal::Detached(x), dtype, false));
        const std::vector<ConstArrayRef> refs = RefsOf(cast);
        CallOn<kernels::Concatenate>(y.device(), Refs{refs}, a, y);
    }
    if (Record rec{kConcatenate, arrays, std::span{&y, 1}}) {
        int64_t begin = 0;
        for (size_t k = 0; k < arrays.size(); ++k) {
            const int64_t end = begin + arrays[k].get().shape()[a];
            rec.Grad(static_cast<int>(k), [a, begin, end](const Array& gy) {
                return internal::PartAlong(gy, a, begin, end);
            });
            begin = end;
        }
    }
    return y;
}

Array Concatenate(const std::vector<Array>& arrays, std::optional<int8_t> axis) {
    return Concatenate(RefsOf(arrays), axis);
}

Array Stack(Refs arrays, int8_t axis) {
    CheckNotEmpty("stack", arrays);
    const Array& first = arrays[0];
    if (first.ndim() == kMaxNdim) {
        throw DimensionError{"stack: ", first.ndim() + 1, " dimensions, the maximum is ",
                             int64_t{kMaxNdim}};
    }
    const int8_t a = NormalizeAxis("stack", axis, first.ndim() + 1);
    std::vector<Array> expanded;
    expanded.reserve(arrays.size());
    for (size_t k = 0; k < arrays.size(); ++k) {
        const Array& x = arrays[k];
        if (x.shape() != first.shape()) {
            throw DimensionError{"stack: shape ", x.shape(),     " of array ",           k,
                                 " is not ",      first.shape(), " as that of the first"};
        }
        expanded.push_back(ExpandDims(x, {a}));
    }
    return ConcatenateOf("stack", expanded, a);
}

Array Stack(const std::vector<Array>& arrays, int8_t axis) { return Stack(RefsOf(arrays), axis); }

namespace {

Array StackAtLeast(const char* op, Refs arrays, Array (*at_least)(const Array&), int8_t axis) {
    CheckNotEmpty(op, arrays);
    std::vector<Array> expanded;
    for (const Array& x : arrays) expanded.push_back(at_least(x));
    return ConcatenateOf(op, expanded, axis);
}

}  // namespace

Array HStack(Refs arrays) {
    const int8_t axis = !arrays.empty() && arrays[0].get().ndim() >= 2 ? 1 : 0;
    return StackAtLeast("hstack", arrays, &AtLeast1D, axis);
}
Array VStack(Refs arrays) { return StackAtLeast("vstack", arrays, &AtLeast2D, 0); }
Array DStack(Refs arrays) { return StackAtLeast("dstack", arrays, &AtLeast3D, 2); }

std::vector<Array> Split(const Array& x, int64_t sections, int8_t axis, const char* op) {
    const int8_t a = NormalizeAxis(op, axis, x.ndim());
    if (sections < 1) throw DimensionError{op, ": the number of sections is ", sections};
    const int64_t n = x.shape()[a];
    if (n % sections != 0) {
        throw DimensionError{op,        ": axis ",  int64_t{a}, " of shape ",
                             x.shape(), " has no ", sections,   " equal parts"};
    }
    if (sections > kMaxSections) {
        throw DimensionError{op, ": ", sections, " sections are too many"};
    }
    std::vector<int64_t> indices;
    for (int64_t i = 1; i < sections; ++i) indices.push_back(n / sections * i);
    return Split(x, indices, a, op);
}

namespace {

// Splits into disjoint parts with these origins, of which the last is the end: first into groups of
// parts, so that no node has too many outputs, and each part of a gradient is copied only twice.
void SplitByGroups(const Array& x, const std::vector<int64_t>& begins, int8_t axis, const char* op,
                   std::vector<Array>* out) {
    const size_t n = begins.size() - 1;
    size_t size = kMaxOutputs;
    while ((n + size - 1) / size > kMaxOutputs) size *= kMaxOutputs;
    std::vector<int64_t> groups;
    for (size_t k = size; k < n; k += size) groups.push_back(begins[k]);
    const std::vector<Array> parts = Split(x, groups, axis, op);
    for (size_t g = 0; g < parts.size(); ++g) {
        std::vector<int64_t> indices;
        for (size_t k = g * size + 1; k < std::min(n, (g + 1) * size); ++k) {
            indices.push_back(begins[k] - begins[g * size]);
        }
        for (Array& part : Split(parts[g], indices, axis, op)) out->push_back(std::move(part));
    }
}

}  // namespace

std::vector<Array> Split(const Array& x, const std::vector<int64_t>& indices, int8_t axis,
                         const char* op) {
    const int8_t a = NormalizeAxis(op, axis, x.ndim());
    const int64_t n = x.shape()[a];
    bool ordered = true;  // the parts are disjoint and cover x
    std::vector<int64_t> begins{0};
    for (int64_t i : indices) {
        begins.push_back(std::clamp<int64_t>(i < 0 ? i + n : i, 0, n));
        ordered &= begins.back() >= begins[begins.size() - 2];
    }
    begins.push_back(n);
    std::vector<Array> out;
    out.reserve(begins.size() - 1);
    if (ordered && begins.size() - 1 > kMaxOutputs) {
        SplitByGroups(x, begins, a, op, &out);
        return out;
    }
    for (size_t k = 0; k + 1 < begins.size(); ++k) {
        const int64_t end = std::max(begins[k], begins[k + 1]);
        out.push_back(ordered ? Part(x, a, begins[k], end)
                              : internal::PartAlong(x, a, begins[k], end));
    }
    if (!ordered) return out;
    const ConstArrayRef in{x};
    if (Record rec{kSplit, std::span{&in, 1}, out}) {
        rec.GradAll([a](GradContext& context) {
            context.SetInputGrad(0, internal::JoinOutputGrads(context, a));
        });
    }
    return out;
}

namespace {

std::vector<Array> SplitOn(const char* op, const Array& x, const auto& parts, int8_t axis,
                           int8_t min_ndim) {
    if (x.ndim() < min_ndim) {
        throw DimensionError{
            op, ": shape ", x.shape(), " has fewer than ", int64_t{min_ndim}, " dimensions"};
    }
    return Split(x, parts, x.ndim() == 1 ? int8_t{0} : axis, op);
}

}  // namespace

std::vector<Array> HSplit(const Array& x, int64_t sections) {
    return SplitOn("hsplit", x, sections, 1, 1);
}
std::vector<Array> HSplit(const Array& x, const std::vector<int64_t>& indices) {
    return SplitOn("hsplit", x, indices, 1, 1);
}
std::vector<Array> VSplit(const Array& x, int64_t sections) {
    return SplitOn("vsplit", x, sections, 0, 2);
}
std::vector<Array> VSplit(const Array& x, const std::vector<int64_t>& indices) {
    return SplitOn("vsplit", x, indices, 0, 2);
}
std::vector<Array> DSplit(const Array& x, int64_t sections) {
    return SplitOn("dsplit", x, sections, 2, 3);
}
std::vector<Array> DSplit(const Array& x, const std::vector<int64_t>& indices) {
    return SplitOn("dsplit", x, indices, 2, 3);
}

std::vector<Array> ArraySplit(const Array& x, int64_t sections, int8_t axis) {
    const int8_t a = NormalizeAxis("array_split", axis, x.ndim());
    if (sections < 1) throw DimensionError{"array_split: the number of sections is ", sections};
    if (sections > kMaxSections) {
        throw DimensionError{"array_split: ", sections, " sections are too many"};
    }
    const int64_t n = x.shape()[a];
    std::vector<int64_t> indices;
    for (int64_t i = 1; i < sections; ++i) {
        indices.push_back(n / sections * i + std::min(i, n % sections));
    }
    return Split(x, indices, a, "array_split");
}

namespace {

// Returns the shape {before, length, after} around an axis.
Shape Around(const Shape& shape, int8_t axis) {
    Shape out{1, shape[axis], 1};
    for (int8_t i = 0; i < axis; ++i) out[0] *= shape[i];
    for (int8_t i = axis + 1; i < shape.ndim(); ++i) out[2] *= shape[i];
    return out;
}

}  // namespace

Array Repeat(const Array& x, int64_t repeats, std::optional<int8_t> axis) {
    if (repeats < 0) throw DimensionError{"repeat: repeats is ", repeats, ", less than 0"};
    if (!axis || internal::IsNumberAlong(x, *axis)) return Repeat(Ravel(x), repeats, int8_t{0});
    const int8_t a = NormalizeAxis("repeat", *axis, x.ndim());
    Shape shape = x.shape();
    if (__builtin_mul_overflow(shape[a], repeats, &shape[a])) {
        throw DimensionError{"repeat: ", repeats, " repeats of shape ", x.shape(),
                             " are too large to address"};
    }
    CheckedNBytes("repeat", shape, x.GetItemSize());
    const Shape around = Around(x.shape(), a);
    if (x.GetTotalSize() == 0) return Reshape(x, shape);
    const Array apart = Reshape(x, {around[0], around[1], 1, around[2]});
    const Array y = Reshape(BroadcastTo(apart, {around[0], around[1], repeats, around[2]}), shape);
    return y.buffer() == x.buffer() ? Copy(y) : y;
}

Array Repeat(const Array& x, const std::vector<int64_t>& repeats, std::optional<int8_t> axis) {
    if (!axis || internal::IsNumberAlong(x, *axis)) return Repeat(Ravel(x), repeats, int8_t{0});
    const int8_t a = NormalizeAxis("repeat", *axis, x.ndim());
    if (repeats.size() == 1) return Repeat(x, repeats[0], a);
    const int64_t n = x.shape()[a];
    if (static_cast<int64_t>(repeats.size()) != n) {
        throw DimensionError{"repeat: ", repeats.size(), " repeats for axis ",
                             int64_t{a}, " of shape ",   x.shape()};
    }
    Shape total{0};
    for (int64_t r : repeats) {
        if (r < 0) throw DimensionError{"repeat: repeats contain ", r, ", less than 0"};
        if (__builtin_add_overflow(total[0], r, &total[0])) total[0] = INT64_MAX;
    }
    Shape shape = x.shape();
    shape[a] = total[0];
    CheckedNBytes("repeat", shape, x.GetItemSize());
    CheckedNBytes("repeat", total, 8);
    return internal::TakeBy("repeat", x, a, [repeats, total, device = &x.device()] {
        // Builds the indices on the host, allocated by the device's allocator, which reports
        // failures.
        const Array indices = EmptyUnchecked(total, Dtype::kInt64,
                                             device->context()->GetNativeBackend().GetDevice(0));
        auto* to = reinterpret_cast<int64_t*>(indices.raw_data());
        for (size_t i = 0; i < repeats.size(); ++i) {
            to = std::fill_n(to, repeats[i], static_cast<int64_t>(i));
        }
        return indices.ToDevice(*device);
    });
}

}  // namespace chainerx
