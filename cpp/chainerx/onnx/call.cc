#include "chainerx/onnx/call.h"

#include <optional>

#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/core/device.h"
#include "chainerx/core/error.h"
#include "chainerx/onnx/messages.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::onnx {

Call::Call(const Step& step, Frame& frame) : step_{step}, frame_{frame}, device_{frame.device} {
    // Small integers, such as shapes, stay on the host, and what is computed of them.
    Device* found = nullptr;
    for (const int slot : step.inputs) {
        if (slot == kNoSlot) continue;
        const Array& x = frame.At(slot).array;
        if (x.is_null()) continue;
        if (&x.device() == frame.device) return;
        if (found == nullptr) found = &x.device();
    }
    if (found != nullptr) device_ = found;
}

Device& Call::host() const { return frame_.device->context()->GetDevice("native", 0); }

const Value& Call::In(size_t i) const {
    static const Value none;
    if (i >= step_.inputs.size() || step_.inputs[i] == kNoSlot) return none;
    return frame_.At(step_.inputs[i]);
}

bool Call::Has(size_t i) const { return !In(i).is_none(); }
bool Call::Wants(size_t i) const { return i < step_.outputs.size() && step_.outputs[i] != kNoSlot; }

const Array& Call::XWhereItIs(size_t i) const {
    const Value& value = In(i);
    if (value.is_none()) throw ValueError{"input ", i, " is missing"};
    if (value.array.is_null()) {
        throw TypeError{"input ", i, " is a sequence, expected a tensor"};
    }
    return value.array;
}

Array Call::X(size_t i) const {
    const Array& x = XWhereItIs(i);
    return &x.device() == device_ ? x : OnDevice(i);
}

bool Call::IsKnown(size_t i) const {
    return frame_.known != nullptr && frame_.known->contains(step_.inputs[i]);
}

template <typename T>
std::vector<T> Call::Read(size_t i) const {
    const Array& x = In(i).array;
    if (!IsKnown(i)) return x.ToHost<T>();
    const internal::Unobserved same_each_time;
    return x.ToHost<T>();
}

Array Call::OnDevice(size_t i) const {
    const Array& x = In(i).array;
    if (!IsKnown(i) || &x.device() != &host()) return x.ToDevice(*device_);
    Array packed;
    {
        const internal::Unobserved same_each_time;
        packed = AsContiguous(x);
    }
    // A recording keeps the bytes.
    const Array y = EmptyUnchecked(x.shape(), x.dtype(), *device_);
    device_->CopyFromHost(y.raw_data(), packed.raw_data(), y.GetNBytes());
    return y;
}

std::optional<Array> Call::Maybe(size_t i) const {
    return Has(i) ? std::optional{X(i)} : std::nullopt;
}

const Values& Call::Sequence(size_t i) const {
    const Value& value = In(i);
    if (value.is_none()) throw ValueError{"input ", i, " is missing"};
    if (value.sequence == nullptr) {
        throw TypeError{"input ", i, " is a tensor, expected a sequence"};
    }
    return *value.sequence;
}

std::vector<Array> Call::All() const {
    std::vector<Array> all;
    for (size_t i = 0; i < n_inputs(); ++i) all.push_back(X(i));
    return all;
}

std::vector<int64_t> Call::Ints(size_t i) const {
    const Value& value = In(i);
    if (value.array.is_null()) return X(i).ToHost<int64_t>();  // throws
    if (!IsInt(value.array.dtype()) && !IsBool(value.array.dtype())) {
        throw DtypeError{"input ", i, " has dtype ", value.array.dtype(), ", expected integers"};
    }
    return Read<int64_t>(i);
}

std::vector<double> Call::Doubles(size_t i) const {
    const Value& value = In(i);
    return value.array.is_null() ? X(i).ToHost<double>() : Read<double>(i);
}

int64_t Call::IntAt(size_t i) const {
    const std::vector<int64_t> values = Ints(i);
    if (values.size() != 1) {
        throw DimensionError{"input ", i, " has ", values.size(), " elements, expected 1"};
    }
    return values[0];
}

double Call::DoubleAt(size_t i) const {
    const std::vector<double> values = Doubles(i);
    if (values.size() != 1) {
        throw DimensionError{"input ", i, " has ", values.size(), " elements, expected 1"};
    }
    return values[0];
}

std::optional<uint64_t> Call::Key() const {
    if (frame_.draw_key == nullptr) return std::nullopt;
    constexpr uint64_t kStep = 0x9E3779B97F4A7C15;  // odd, so that no key comes again
    frame_.key = frame_.key.has_value() ? *frame_.key + kStep : (*frame_.draw_key)();
    return frame_.key;
}

void Call::Update(size_t i, const Array& value) const {
    frame_.statistics.emplace_back(step_.inputs[i], value);
}

const Attribute* Call::Find(std::string_view name) const {
    for (const Attribute& a : step_.attributes) {
        if (a.name == name) return &a;
    }
    return nullptr;
}

const Attribute* Call::Find(const char* name, int64_t type, const char* expected) const {
    const Attribute* a = Find(name);
    if (a != nullptr && a->type != type) {
        throw TypeError{"attribute ", name, " has type ", a->type, ", expected ", expected};
    }
    return a;
}

const Attribute& Call::Get(const char* name, int64_t type, const char* expected) const {
    const Attribute* a = Find(name, type, expected);
    if (a == nullptr) throw ValueError{"attribute ", name, " is missing"};
    return *a;
}

int64_t Call::Int(const char* name) const {
    return Get(name, AttributeMessage::kInt, "an integer").i;
}
int64_t Call::Int(const char* name, int64_t fallback) const {
    const Attribute* a = Find(name, AttributeMessage::kInt, "an integer");
    return a != nullptr ? a->i : fallback;
}
double Call::Float(const char* name) const {
    return Get(name, AttributeMessage::kFloat, "a float").f;
}
double Call::Float(const char* name, double fallback) const {
    const Attribute* a = Find(name, AttributeMessage::kFloat, "a float");
    return a != nullptr ? a->f : fallback;
}
std::string_view Call::String(const char* name, std::string_view fallback) const {
    const Attribute* a = Find(name, AttributeMessage::kString, "a string");
    return a != nullptr ? a->s : fallback;
}
std::vector<int64_t> Call::IntList(const char* name) const {
    const Attribute* a = Find(name, AttributeMessage::kInts, "integers");
    return a != nullptr ? a->ints : std::vector<int64_t>{};
}
std::vector<float> Call::FloatList(const char* name) const {
    const Attribute* a = Find(name, AttributeMessage::kFloats, "floats");
    return a != nullptr ? a->floats : std::vector<float>{};
}
std::vector<std::string> Call::StringList(const char* name) const {
    const Attribute* a = Find(name, AttributeMessage::kStrings, "strings");
    return a != nullptr ? a->strings : std::vector<std::string>{};
}
const Array* Call::Tensor(const char* name) const {
    const Attribute* a = Find(name, AttributeMessage::kTensor, "a tensor");
    return a != nullptr ? &a->tensor : nullptr;
}
const Block& Call::Graph(const char* name) const {
    return *Get(name, AttributeMessage::kGraph, "a graph").block;
}

int8_t Call::Axis(int64_t axis, int8_t ndim) const { return NormalizeAxis("axis", axis, ndim); }

}  // namespace chainerx::onnx
