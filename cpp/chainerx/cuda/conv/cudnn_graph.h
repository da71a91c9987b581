// Convolutions as graphs of cuDNN, and plans to compute them.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "chainerx/core/dtype.h"
#include "chainerx/cuda/driver/cudnn.h"

namespace chainerx::cuda {

enum class ConvPass : int8_t { kForward, kInputGrad, kWeightGrad };

// As the library takes it: x (n, ins, ...), w (outs, ins / groups, ...) and y (n, outs, ...), one
// of which is the result, are contiguous and start at multiples of kLibraryAlign.
struct LibraryConv {
    static constexpr int kMaxAxes = 3;
    static constexpr int kLeastAxes = 2;

    ConvPass pass{};
    Dtype dtype{};
    bool has_bias{};  // (outs,), of a forward pass
    int axes{};       // spatial ones
    int64_t x[2 + kMaxAxes]{};
    int64_t w[2 + kMaxAxes]{};
    int64_t y[2 + kMaxAxes]{};
    int64_t stride[kMaxAxes]{};
    int64_t dilate[kMaxAxes]{};
    int64_t pad[kMaxAxes]{};    // before the first element
    int64_t after[kMaxAxes]{};  // after the last one

    auto operator<=>(const LibraryConv&) const = default;
};

inline constexpr int64_t kLibraryAlign = 16;

// An object of the library.
class CudnnDescriptor {
 public:
    explicit CudnnDescriptor(cudnnBackendDescriptorType_t type) {
        CX_CUDNN_CALL(BackendCreateDescriptor, type, &handle_);
    }
    CudnnDescriptor(CudnnDescriptor&& other) noexcept
        : handle_{std::exchange(other.handle_, nullptr)} {}
    CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~CudnnDescriptor() {
        if (handle_ != nullptr) GetCudnn().BackendDestroyDescriptor(handle_);
    }

    cudnnBackendDescriptor_t handle() const { return handle_; }

    template <typename T>
    void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T* values,
             int64_t count) {
        CX_CUDNN_CALL(BackendSetAttribute, handle_, name, type, count,
                      static_cast<const void*>(values));
    }
    template <typename T>
    void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
        Set(name, type, &value, 1);
    }
    void Set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
        Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.handle_);
    }
    // Returns how many there are; at most `count` are stored.
    template <typename T>
    int64_t Get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, T* values,
                int64_t count) const {
        int64_t n = 0;
        CX_CUDNN_CALL(BackendGetAttribute, handle_, name, type, count, &n,
                      static_cast<void*>(values));
        return n;
    }
    void Finalize() { CX_CUDNN_CALL(BackendFinalize, handle_); }
    // Returns whether the library can do what it describes.
    bool TryFinalize() { return GetCudnn().BackendFinalize(handle_) == 0; }

 private:
    cudnnBackendDescriptor_t handle_{nullptr};
};

struct ConvPointers {
    const void* x;
    const void* w;
    const void* y;
    const void* bias;  // or null
};

class CudnnPlan {
 public:
    CudnnPlan(CudnnDescriptor config, CudnnDescriptor plan, int64_t work_size)
        : config_{std::move(config)}, plan_{std::move(plan)}, work_size_{work_size} {}

    int64_t work_size() const { return work_size_; }  // in bytes
    // Queues it to the stream of the handle.
    void Run(cudnnHandle_t handle, const ConvPointers& pointers, void* work) const;

 private:
    CudnnDescriptor config_;
    CudnnDescriptor plan_;
    int64_t work_size_;
};

// Which engines of the library may compute. None that adds in any order, rounds operands or sums to
// fewer bits, or spreads Inf and NaN beyond their windows.
struct EngineRules {
    bool tensor_cores;  // for float32 they round operands to TF32
    int64_t most_work;  // bytes of work space
    int most_plans;
};

// Returns plans, by the speed that the library expects. There may be none.
std::vector<CudnnPlan> MakePlans(cudnnHandle_t handle, const LibraryConv& conv,
                                 const EngineRules& rules);

}  // namespace chainerx::cuda
