// An n-dimensional array on a device: a handle, one intrusive pointer wide. Copies share data and
// gradient. Constness of the handle says nothing about the data.
#pragma once

#include <cstdint>
#include <initializer_list>
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

    explicit operator bool() const { return body_ != nullptr; }
    internal::ArrayBody* body() const { return body_; }
    internal::ArrayBody* Release() { return std::exchange(body_, nullptr); }

    const Shape& shape() const { return body_->shape; }
    const Strides& strides() const { return body_->strides; }
    int8_t ndim() const { return body_->shape.ndim(); }
    Dtype dtype() const { return body_->dtype; }
    Device& device() const { return *body_->device; }
    Context& context() const { return *body_->device->context(); }
    Buffer* buffer() const { return body_->buffer; }
    // Address of the first element.
    char* raw_data() const { return body_->data; }
    int64_t offset() const { return body_->data - static_cast<char*>(body_->buffer->data()); }
    int64_t GetTotalSize() const { return body_->size; }
    int64_t GetItemSize() const { return chainerx::GetItemSize(body_->dtype); }
    int64_t GetNBytes() const { return body_->size * GetItemSize(); }
    bool IsContiguous() const { return body_->contiguous; }

    // Gradients: autograd/array_grad.cc. Without an id: the default one of the context.
    const Array& RequireGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsGradRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsBackpropRequired(const std::optional<BackpropId>& id = std::nullopt) const;
    bool IsBackpropRequired(AnyGraph) const;
    // Null if unset; ChainerxError if no gradient is asked for.
    std::optional<Array> GetGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    void SetGrad(const Array& grad, const std::optional<BackpropId>& id = std::nullopt) const;
    void ClearGrad(const std::optional<BackpropId>& id = std::nullopt) const;
    // Cut off from all graphs, or from those of `ids`.
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
    // As NumPy prints it, with shape, dtype and device.
    std::string ToString() const;

 private:
    internal::ArrayBody* body_{nullptr};
};

static_assert(sizeof(Array) == sizeof(void*), "a handle is passed and returned in a register");

// A `const Array&` that fits in initializer lists without touching the reference count.
class ConstArrayRef {
 public:
    ConstArrayRef(const Array& array) : array_{&array} {}  // NOLINT: a reference like any other
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

// A new array over `buffer`, whose reference it takes over, at `data` inside it.
inline Array MakeArray(const Shape& shape, const Strides& strides, Dtype dtype, Device& device,
                       Buffer* buffer, char* data) {
    return Array{new ArrayBody{shape, strides, dtype, &device, buffer, data}};
}

// Another layout over the memory of `x`, outside all graphs.
inline Array MakeView(const Array& x, const Shape& shape, const Strides& strides, char* data) {
    x.buffer()->Ref();
    return MakeArray(shape, strides, x.dtype(), x.device(), x.buffer(), data);
}

// The same array, outside all graphs.
inline Array Detached(const Array& x) { return MakeView(x, x.shape(), x.strides(), x.raw_data()); }

}  // namespace internal

// Uninitialized, C-contiguous. The shape must be valid (sizes of existing arrays are).
inline Array EmptyUnchecked(const Shape& shape, Dtype dtype, Device& device) {
    Buffer* buffer = device.Allocate(shape.GetTotalSize() * GetItemSize(dtype));
    return Array{new internal::ArrayBody{shape, dtype, &device, buffer}};
}

// Uninitialized, C-contiguous. DimensionError for negative or too large shapes.
CX_API Array Empty(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());

}  // namespace chainerx
