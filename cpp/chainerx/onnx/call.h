// What the routine of an operator sees: inputs and attributes of one step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/onnx/plan.h"

namespace chainerx::onnx {

class Call {
 public:
    Call(const Step& step, Frame& frame);

    const Step& step() const { return step_; }
    int64_t opset() const { return step_.opset; }
    Frame& frame() const { return frame_; }
    // Whether nodes in training mode run in it.
    bool trains() const { return frame_.trains; }
    // An RNG key of this draw, if the run has one; else numbers are those of the default generator.
    std::optional<uint64_t> Key() const;
    // Says that a node in training mode gives a running statistic, input i, a value.
    void Update(size_t i, const Array& value) const;
    // Where the outputs belong: the device of the model if an input is there.
    Device& device() const { return *device_; }
    // native:0, where shapes are.
    Device& host() const;

    size_t n_inputs() const { return step_.inputs.size(); }
    size_t n_outputs() const { return step_.outputs.size(); }
    // Whether the input is there, and not an empty optional value.
    bool Has(size_t i) const;
    // Whether a step or the caller reads the output.
    bool Wants(size_t i) const;
    // ValueError if it is missing, TypeError if it is a sequence.
    Array X(size_t i) const;
    const Array& XWhereItIs(size_t i) const;  // on any device
    std::optional<Array> Maybe(size_t i) const;
    const Value& In(size_t i) const;  // an empty value if it is missing
    const Values& Sequence(size_t i) const;
    // All inputs, none of which may be missing.
    std::vector<Array> All() const;
    // The values of an input in this program's memory; waits for its device.
    std::vector<int64_t> Ints(size_t i) const;
    std::vector<double> Doubles(size_t i) const;
    int64_t IntAt(size_t i) const;  // of one element
    double DoubleAt(size_t i) const;

    // Attributes; TypeError if it has another type. Those without a default are required:
    // ValueError.
    bool HasAttribute(const char* name) const { return Find(name) != nullptr; }
    int64_t Int(const char* name) const;
    int64_t Int(const char* name, int64_t fallback) const;
    double Float(const char* name) const;
    double Float(const char* name, double fallback) const;
    std::string_view String(const char* name, std::string_view fallback) const;
    // Empty if the attribute is missing.
    std::vector<int64_t> IntList(const char* name) const;
    std::vector<float> FloatList(const char* name) const;
    std::vector<std::string> StringList(const char* name) const;
    const Array* Tensor(const char* name) const;  // null if it is missing
    const Block& Graph(const char* name) const;

    // The index of an axis; AxisError if there is none.
    int8_t Axis(int64_t axis, int8_t ndim) const;

 private:
    // Whether the input has the same value in each run that is captured, so that reading it is no
    // obstacle.
    bool IsKnown(size_t i) const;
    template <typename T>
    std::vector<T> Read(size_t i) const;
    Array OnDevice(size_t i) const;

    const Attribute* Find(std::string_view name) const;
    const Attribute* Find(const char* name, int64_t type, const char* expected) const;
    const Attribute& Get(const char* name, int64_t type, const char* expected) const;

    const Step& step_;
    Frame& frame_;
    Device* device_;
};

}  // namespace chainerx::onnx
