// An n-dimensional array on a device: a handle, one intrusive pointer wide. Copies share data and
// gradient. A const handle does not make the data const.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/array_body.h"
#include "chainerx/core/array_index.h"
#include "chainerx/core/context.h"
#include "chainerx/core/device.h"
#include "chainerx/core/dims.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

namespace internal {

// The dtype of a C++ type; int64 for both `long long` and int64_t.
template <typename T>
constexpr Dtype HostDtype() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        constexpr bool kSigned = std::is_signed_v<T>;
        switch (sizeof(T)) {
            case 1:
                return kSigned ? Dtype::kInt8 : Dtype::kUInt8;
            case 2:
                return kSigned ? Dtype::kInt16 : Dtype::kUInt16;
            case 4:
                return kSigned ? Dtype::kInt32 : Dtype::kUInt32;
            default:
                return kSigned ? Dtype::kInt64 : Dtype::kUInt64;
        }
    } else {
        return kDtypeOf<T>;
    }
}

// Contiguous values in host memory: a vector (not of bool), an array, a span.
template <typename R>
concept HostValues = requires(const R& values) {
    { *std::data(values) };
    { std::size(values) };
};

}  // namespace internal

struct AnyGraph {};
enum class CopyKind : int8_t { kCopy, kView };

class CX_API Array {
 public:
    Array() = default;
    // Takes over one strong reference.
    explicit Array(internal::ArrayBody* body) : body_{body} {}
    Array(const Array& o) : body_{o.body_} {
        if (body_ != nullptr) body_->Ref();
    }
    Array(Array&& o) noexcept : body_{std::exchange(o.body_, nullptr)} {}
    Array& operator=(Array o) noexcept {
        std::swap(body_, o.body_);
        return *this;
    }
    ~Array() {
        if (body_ != nullptr) body_->Unref();
    }

    // Returns true for a handle that was default-constructed, or moved from.
    bool is_null() const { return body_ == nullptr; }
    // `if (a == b)` is neither "all equal" nor "not null": use All(a == b).Item<bool>(), or
    // is_null().
    explicit operator bool() const = delete;
    internal::ArrayBody* body() const { return body_; }
    internal::ArrayBody* Release() { return std::exchange(body_, nullptr); }

    // Creates an array of these values in C order, with the dtype of their type, on any device;
    // without a shape, of one dimension. DimensionError if the shape needs another number of
    // values.
    template <internal::HostValues R>
    static Array FromHost(const R& values, const Shape& shape, Device& device = GetDefaultDevice());
    template <internal::HostValues R>
    static Array FromHost(const R& values) {
        return FromHost(values, Shape{static_cast<int64_t>(std::size(values))});
    }
    static Array FromHost(const std::vector<bool>& values, const Shape& shape,
                          Device& device = GetDefaultDevice());
    // Returns the values in C order, converted as by AsType(); complex ones only to complex types,
    // else DtypeError. Waits for the device.
    template <typename T>
    std::vector<T> ToHost() const;
    // Returns the value of an array of one element; DimensionError for another number of elements.
    template <typename T>
    T Item() const;

    const Shape& shape() const { return body_->shape; }
    const Strides& strides() const { return body_->strides; }
    int8_t ndim() const { return body_->shape.ndim(); }
    Dtype dtype() const { return body_->dtype; }
    Device& device() const { return *body_->device; }
    Context& context() const { return *body_->device->context(); }
    Buffer* buffer() const { return body_->buffer; }
    // Returns the address of the first element.
    char* raw_data() const { return body_->data; }
    int64_t offset() const { return body_->data - static_cast<char*>(body_->buffer->data()); }
    int64_t GetTotalSize() const { return body_->size; }
    int64_t GetItemSize() const { return chainerx::GetItemSize(body_->dtype); }
    int64_t GetNBytes() const { return body_->size * GetItemSize(); }
    bool IsContiguous() const { return body_->contiguous; }
    bool IsWritable() const { return !body_->read_only && body_->buffer->writable(); }

    // Gradients: autograd/array_grad.cc. The default id is that of the context.
    const Array& RequireGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsGradRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsBackpropRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsBackpropRequired(AnyGraph) const;
    // Returns null if unset; ChainerxError if the array does not require a gradient.
    std::optional<Array> GetGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    void SetGrad(const Array& grad, const std::optional<BackpropId>& id = std::nullopt) const;
    void ClearGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    // Returns the array detached from all graphs, or from those of `ids`.
    Array AsGradStopped(CopyKind kind = CopyKind::kView) const;
    Array AsGradStopped(const std::vector<BackpropId>& ids, CopyKind kind = CopyKind::kView) const;

    // Routines as methods: ops/array_methods.cc.
    Array At(std::span<const ArrayIndex> indices) const;
    Array At(std::initializer_list<ArrayIndex> indices) const {
        return At(std::span{indices.begin(), indices.size()});
    }
    Array Transpose(const OptionalAxes& axes = std::nullopt) const;
    Array Reshape(const Shape& shape) const;
    Array Ravel() const;
    Array Flatten() const;
    Array Squeeze(const OptionalAxes& axes = std::nullopt) const;
    Array Swapaxes(int8_t axis1, int8_t axis2) const;
    Array BroadcastTo(const Shape& shape) const;
    Array Sum(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array Max(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array Min(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array Mean(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array Var(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array All(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array Any(const OptionalAxes& axes = std::nullopt, bool keepdims = false) const;
    Array ArgMax(std::optional<int8_t> axis = std::nullopt) const;
    Array ArgMin(std::optional<int8_t> axis = std::nullopt) const;
    Array Dot(const Array& b) const;
    Array Take(const Array& indices, int8_t axis,
               IndexBoundsMode mode = IndexBoundsMode::kDefault) const;
    Array Copy() const;
    Array MakeView() const;
    Array ToDevice(Device& device) const;
    Array ToNative() const;
    Array AsType(Dtype dtype, bool copy = true) const;
    void Fill(const Scalar& value) const;
    // Formats the array as NumPy does, with shape, dtype and device.
    std::string ToString() const;

 private:
    internal::ArrayBody* body_{nullptr};
};

// As ToString().
CX_API std::ostream& operator<<(std::ostream& out, const Array& x);
CX_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
CX_API std::ostream& operator<<(std::ostream& out, Dtype dtype);

static_assert(sizeof(Array) == sizeof(void*), "a handle is passed and returned in a register");

// A `const Array&` that fits in initializer lists without touching the reference count.
class ConstArrayRef {
 public:
    // converts implicitly, as a reference does
    ConstArrayRef(const Array& array) : array_{&array} {}
    const Array& get() const { return *array_; }
    operator const Array&() const { return *array_; }  // NOLINT: the same

 private:
    const Array* array_;
};

// An operand of an elementwise kernel: an array, or a scalar with stride 0.
class Operand {
 public:
    Operand(const Array& array) : array_{&array} {}      // NOLINT: kernels are called with arrays
    Operand(const Scalar& scalar) : scalar_{&scalar} {}  // NOLINT: and with numbers
    bool is_array() const { return array_ != nullptr; }
    const Array& array() const { return *array_; }
    const Scalar& scalar() const { return *scalar_; }

 private:
    const Array* array_{nullptr};
    const Scalar* scalar_{nullptr};
};

namespace internal {

// Defined in ops/transfer.cc. `values` are `count` elements of `dtype`, in C order.
CX_API Array ArrayFromHost(const void* values, size_t count, Dtype dtype, const Shape& shape,
                           Device& device);
// Writes as many elements of `dtype` as `x` has; `op` is for the errors.
CX_API void ArrayToHost(const char* op, const Array& x, Dtype dtype, void* values);
CX_API CX_COLD void ThrowNotOneElement(const Array& x);

// Returns a new array over `buffer`, whose reference it takes over, at `data` inside it.
inline Array MakeArray(const Shape& shape, const Strides& strides, Dtype dtype, Device& device,
                       Buffer* buffer, char* data) {
    return Array{ArrayBody::Make(buffer, shape, strides, dtype, &device, data)};
}

// Returns another layout over the memory of `x`, outside all graphs.
inline Array MakeView(const Array& x, const Shape& shape, const Strides& strides, char* data) {
    x.buffer()->Ref();
    Array y = MakeArray(shape, strides, x.dtype(), x.device(), x.buffer(), data);
    y.body()->read_only = x.body()->read_only;
    return y;
}

// Returns the same array, outside all graphs.
inline Array Detached(const Array& x) { return MakeView(x, x.shape(), x.strides(), x.raw_data()); }

}  // namespace internal

template <internal::HostValues R>
Array Array::FromHost(const R& values, const Shape& shape, Device& device) {
    using T = std::remove_cvref_t<decltype(*std::data(values))>;
    return internal::ArrayFromHost(std::data(values), std::size(values), internal::HostDtype<T>(),
                                   shape, device);
}

inline Array Array::FromHost(const std::vector<bool>& values, const Shape& shape, Device& device) {
    const std::vector<char> bytes(values.begin(), values.end());
    return internal::ArrayFromHost(bytes.data(), bytes.size(), Dtype::kBool, shape, device);
}

template <typename T>
std::vector<T> Array::ToHost() const {
    const auto n = static_cast<size_t>(GetTotalSize());
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> packs bits
        std::vector<char> bytes(n);
        internal::ArrayToHost("to_host", *this, Dtype::kBool, bytes.data());
        return {bytes.begin(), bytes.end()};
    } else {
        std::vector<T> values(n);
        internal::ArrayToHost("to_host", *this, internal::HostDtype<T>(), values.data());
        return values;
    }
}

template <typename T>
T Array::Item() const {
    if (GetTotalSize() != 1) internal::ThrowNotOneElement(*this);
    T value;
    internal::ArrayToHost("item", *this, internal::HostDtype<T>(), &value);
    return value;
}

namespace internal {

[[noreturn]] CX_API CX_COLD void ThrowTooLarge(const Shape& shape, Dtype dtype);

// For the shape of an existing array; it may be too large for items of another dtype.
inline int64_t NBytesOf(const Shape& shape, Dtype dtype) {
    int64_t nbytes;
    const int64_t size = shape.GetTotalSize();
    if (__builtin_mul_overflow(size, int64_t{GetItemSize(dtype)}, &nbytes)) [[unlikely]] {
        ThrowTooLarge(shape, dtype);
    }
    return nbytes;
}

}  // namespace internal

// Uninitialized, C-contiguous. The shape must be valid (that of an existing array is).
inline Array EmptyUnchecked(const Shape& shape, Dtype dtype, Device& device) {
    Buffer* buffer = device.Allocate(internal::NBytesOf(shape, dtype));
    return Array{internal::ArrayBody::Make(buffer, shape, dtype, &device)};
}

// Uninitialized, C-contiguous. DimensionError for negative or too large shapes.
CX_API Array Empty(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());

}  // namespace chainerx
