// Operators that run graphs, and those of sequences and optional values.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/dims.h"
#include "chainerx/core/error.h"
#include "chainerx/core/interrupt.h"
#include "chainerx/onnx/axes.h"
#include "chainerx/onnx/dtypes.h"
#include "chainerx/onnx/operator.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"

namespace chainerx::onnx {
namespace {

const Array& ArrayOf(const Value& value) {
    if (value.array.is_null()) throw TypeError{"a graph returned no tensor, where one is needed"};
    return value.array;
}

Values If(const Call& call) {
    const char* const name = call.IntAt(0) != 0 ? "then_branch" : "else_branch";
    const Block& branch = call.Graph(name);
    if (branch.outputs.size() < call.n_outputs()) {
        throw ValueError{name, " has ", branch.outputs.size(), " outputs, expected ",
                         call.n_outputs()};
    }
    return RunBlock(branch, {}, call.frame());
}

// What a loop of no steps gives. Axes of any length have length 0, as with onnxruntime.
Array EmptyScan(const Call& call, const Block& body, size_t output, int64_t axis) {
    const DeclaredOutput* const declared =
        output < body.declared.size() ? &body.declared[output] : nullptr;
    if (declared == nullptr || declared->elem_type == 0 || !declared->lengths) {
        throw NotImplementedError{
            "a loop of no steps has scan outputs, whose shape and dtype nothing says"};
    }
    std::vector<int64_t> lengths = *declared->lengths;
    for (int64_t& n : lengths) n = std::max<int64_t>(n, 0);
    const auto ndim = static_cast<int8_t>(std::min<size_t>(lengths.size() + 1, kMaxNdim));
    lengths.insert(lengths.begin() + call.Axis(axis, ndim), 0);
    return Empty(ToShape(lengths), ToDtype(declared->elem_type, "a scan output"), call.device());
}

// Stacks what each step of a loop gave.
Array Stacked(const Call& call, const Block& body, size_t output, const std::vector<Array>& parts,
              int64_t axis = 0) {
    if (parts.empty()) return EmptyScan(call, body, output, axis);
    return Stack(parts, call.Axis(axis, static_cast<int8_t>(parts[0].ndim() + 1)));
}

Values Loop(const Call& call) {
    const Block& body = call.Graph("body");
    const int64_t n_trips = call.Has(0) ? call.IntAt(0) : INT64_MAX;
    bool goes_on = !call.Has(1) || call.IntAt(1) != 0;
    Values carried;
    for (size_t i = 2; i < call.n_inputs(); ++i) carried.push_back(call.In(i));
    if (body.outputs.size() < carried.size() + 1) {
        throw DimensionError{"the body has ", body.outputs.size(), " outputs, expected at least ",
                             carried.size() + 1};
    }
    std::vector<std::vector<Array>> scanned(body.outputs.size() - 1 - carried.size());
    for (int64_t i = 0; i < n_trips && goes_on; ++i) {
        internal::CheckInterrupt();
        Values inputs{Array::FromHost(std::vector{i}, Shape{}, call.host()),
                      Array::FromHost(std::vector{true}, Shape{}, call.host())};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        Values outputs = RunBlock(body, std::move(inputs), call.frame());
        goes_on = ArrayOf(outputs[0]).Item<bool>();
        for (size_t k = 0; k < carried.size(); ++k) carried[k] = std::move(outputs[k + 1]);
        for (size_t k = 0; k < scanned.size(); ++k) {
            scanned[k].push_back(ArrayOf(outputs[k + 1 + carried.size()]));
        }
    }
    for (size_t k = 0; k < scanned.size(); ++k) {
        const size_t i = carried.size();
        // One that nobody reads may have no shape.
        carried.push_back(call.Wants(i) ? Value{Stacked(call, body, i + 1, scanned[k])} : Value{});
    }
    return carried;
}

std::vector<int64_t> PerScan(const Call& call, const char* name, size_t n) {
    std::vector<int64_t> values = call.IntList(name);
    if (values.empty()) values.resize(n, 0);
    if (values.size() != n) {
        throw DimensionError{"attribute ", name, " has ", values.size(), " elements, expected ", n};
    }
    return values;
}

Values Scan(const Call& call) {
    const Block& body = call.Graph("body");
    const int64_t n_scans = call.Int("num_scan_inputs");
    const auto n_inputs = static_cast<int64_t>(call.n_inputs());
    if (n_scans < 1 || n_scans > n_inputs ||
        static_cast<int64_t>(body.outputs.size()) < n_inputs - n_scans) {
        throw ValueError{"attribute num_scan_inputs is ",
                         n_scans,
                         ", but there are ",
                         n_inputs,
                         " inputs, and ",
                         body.outputs.size(),
                         " outputs of the body"};
    }
    const auto n_states = static_cast<size_t>(n_inputs - n_scans);
    const auto scans = static_cast<size_t>(n_scans);
    const size_t n_outputs = body.outputs.size() - n_states;
    const std::vector<int64_t> axes = PerScan(call, "scan_input_axes", scans);
    const std::vector<int64_t> backward = PerScan(call, "scan_input_directions", scans);
    const std::vector<int64_t> output_axes = PerScan(call, "scan_output_axes", n_outputs);
    const std::vector<int64_t> output_backward = PerScan(call, "scan_output_directions", n_outputs);
    Values states;
    for (size_t i = 0; i < n_states; ++i) states.push_back(call.In(i));
    std::vector<Array> xs;
    for (size_t i = 0; i < scans; ++i) {
        const Array x = call.X(n_states + i);
        xs.push_back(Moveaxis(x, Axes{call.Axis(axes[i], x.ndim())}, Axes{0}));
        if (xs[i].shape()[0] != xs[0].shape()[0]) {
            throw DimensionError{"scan inputs have ", xs[i].shape()[0], " and ", xs[0].shape()[0],
                                 " steps"};
        }
    }
    const int64_t n = xs[0].shape()[0];
    std::vector<std::vector<Array>> parts(n_outputs);
    for (int64_t t = 0; t < n; ++t) {
        internal::CheckInterrupt();
        Values inputs = states;
        for (size_t i = 0; i < scans; ++i) {
            inputs.emplace_back(At(xs[i], backward[i] != 0 ? n - 1 - t : t));
        }
        Values outputs = RunBlock(body, std::move(inputs), call.frame());
        for (size_t i = 0; i < n_states; ++i) states[i] = std::move(outputs[i]);
        for (size_t i = 0; i < n_outputs; ++i) parts[i].push_back(ArrayOf(outputs[n_states + i]));
    }
    for (size_t i = 0; i < n_outputs; ++i) {
        if (!call.Wants(n_states + i)) {
            states.emplace_back();
            continue;
        }
        if (output_backward[i] != 0) std::reverse(parts[i].begin(), parts[i].end());
        states.emplace_back(Stacked(call, body, n_states + i, parts[i], output_axes[i]));
    }
    return states;
}

// Position in a sequence; one behind the end is allowed for insertions.
size_t PlaceIn(const Values& sequence, int64_t place, bool allows_end) {
    const auto n = static_cast<int64_t>(sequence.size());
    const int64_t from_front = place < 0 ? place + n : place;
    if (from_front < 0 || from_front >= n + (allows_end ? 1 : 0)) {
        throw IndexError{"position is ", place, ", but the sequence has ", n, " elements"};
    }
    return static_cast<size_t>(from_front);
}

Value SequenceAt(const Call& call) {
    const Values& sequence = call.Sequence(0);
    return sequence[PlaceIn(sequence, call.IntAt(1), false)];
}

Value SequenceConstruct(const Call& call) {
    Values values;
    for (size_t i = 0; i < call.n_inputs(); ++i) values.emplace_back(call.X(i));
    return Value::Sequence(std::move(values));
}

Value SequenceEmpty(const Call& call) {
    ToDtype(call.Int("dtype", 1), "attribute dtype");
    return Value::Sequence({});
}

Value SequenceErase(const Call& call) {
    Values values = call.Sequence(0);
    const int64_t place = call.Has(1) ? call.IntAt(1) : -1;
    values.erase(values.begin() + static_cast<int64_t>(PlaceIn(values, place, false)));
    return Value::Sequence(std::move(values));
}

Value SequenceInsert(const Call& call) {
    Values values = call.Sequence(0);
    const auto n = static_cast<int64_t>(values.size());
    const size_t place = PlaceIn(values, call.Has(2) ? call.IntAt(2) : n, true);
    values.insert(values.begin() + static_cast<int64_t>(place), call.X(1));
    return Value::Sequence(std::move(values));
}

Array SequenceLength(const Call& call) {
    return Array::FromHost(std::vector{static_cast<int64_t>(call.Sequence(0).size())}, Shape{},
                           call.host());
}

Value SplitToSequence(const Call& call) {
    const Array x = call.X(0);
    const int8_t axis = call.Axis(call.Int("axis", 0), x.ndim());
    const int64_t length = x.shape()[axis];
    std::vector<int64_t> lengths;
    if (!call.Has(1)) {
        lengths.assign(static_cast<size_t>(length), 1);
    } else {
        lengths = call.Ints(1);
        if (call.In(1).array.ndim() == 0) {  // chunks of this length
            const int64_t chunk = lengths[0];
            if (chunk < 1) throw ValueError{"split is ", chunk, ", expected at least 1"};
            lengths.clear();
            for (int64_t i = 0; i < length; i += chunk) {
                lengths.push_back(std::min(chunk, length - i));
            }
        }
    }
    Values parts;
    int64_t start = 0;
    for (const int64_t n : lengths) {
        if (n < 0 || n > length - start) {
            throw DimensionError{
                "split has the length ", n, ", but ", length - start, " of ", length, " remain"};
        }
        std::vector<ArrayIndex> items(static_cast<size_t>(x.ndim()), Slice{});
        items[static_cast<size_t>(axis)] = Slice{start, start + n};
        Array part = x.At(items);
        const bool drops = !call.Has(1) && call.Int("keepdims", 1) == 0;
        parts.emplace_back(drops ? Squeeze(part, Axes{axis}) : std::move(part));
        start += n;
    }
    return Value::Sequence(std::move(parts));
}

Array ConcatFromSequence(const Call& call) {
    std::vector<Array> parts;
    for (const Value& v : call.Sequence(0)) parts.push_back(ArrayOf(v));
    if (parts.empty()) throw ValueError{"the sequence is empty"};
    const bool is_new = call.Int("new_axis", 0) != 0;
    const auto ndim = static_cast<int8_t>(parts[0].ndim() + (is_new ? 1 : 0));
    const int8_t axis = call.Axis(call.Int("axis"), ndim);
    return is_new ? Stack(parts, axis) : Concatenate(parts, axis);
}

Values SequenceMap(const Call& call) {
    const Block& body = call.Graph("body");
    const size_t n = call.Sequence(0).size();
    std::vector<Values> results(body.outputs.size());
    for (size_t i = 0; i < n; ++i) {
        internal::CheckInterrupt();
        Values inputs;
        for (size_t k = 0; k < call.n_inputs(); ++k) {
            const Value& value = call.In(k);
            if (value.sequence != nullptr && value.sequence->size() != n) {
                throw DimensionError{"sequences have ", value.sequence->size(), " and ", n,
                                     " elements"};
            }
            inputs.push_back(value.sequence != nullptr ? (*value.sequence)[i] : value);
        }
        Values outputs = RunBlock(body, std::move(inputs), call.frame());
        // No sequence is in another: the depth would grow with each round of a loop.
        for (size_t k = 0; k < outputs.size(); ++k) results[k].emplace_back(ArrayOf(outputs[k]));
    }
    Values sequences;
    for (Values& r : results) sequences.push_back(Value::Sequence(std::move(r)));
    return sequences;
}

Value Optional(const Call& call) { return call.In(0); }

Value OptionalGetElement(const Call& call) {
    if (!call.Has(0)) throw ValueError{"the optional value is empty"};
    return call.In(0);
}

Array OptionalHasElement(const Call& call) {
    return Array::FromHost(std::vector{call.Has(0)}, Shape{}, call.host());
}

// None is folded: sequences are few, and graphs may draw numbers.
#define CX_NOT_FOLDED(name, since) {#name, since, kNewestOpset, &Run<name>, false}
constexpr Operator kOperators[] = {
    CX_NOT_FOLDED(ConcatFromSequence, 11),
    CX_NOT_FOLDED(If, 1),
    CX_NOT_FOLDED(Loop, 1),
    CX_NOT_FOLDED(Optional, 15),
    CX_NOT_FOLDED(OptionalGetElement, 15),
    CX_NOT_FOLDED(OptionalHasElement, 15),
    CX_NOT_FOLDED(Scan, 9),
    CX_NOT_FOLDED(SequenceAt, 11),
    CX_NOT_FOLDED(SequenceConstruct, 11),
    CX_NOT_FOLDED(SequenceEmpty, 11),
    CX_NOT_FOLDED(SequenceErase, 11),
    CX_NOT_FOLDED(SequenceInsert, 11),
    CX_NOT_FOLDED(SequenceLength, 11),
    CX_NOT_FOLDED(SequenceMap, 17),
    CX_NOT_FOLDED(SplitToSequence, 11),
};
#undef CX_NOT_FOLDED

}  // namespace

std::span<const Operator> ControlOperators() { return kOperators; }

}  // namespace chainerx::onnx
