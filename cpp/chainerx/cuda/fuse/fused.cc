// Runs a chain of kernels as one kernel, which is compiled for its calls, dtypes and layouts.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/fuse/frame.h"
#include "chainerx/cuda/fuse/params.h"
#include "chainerx/cuda/fuse/program.h"
#include "chainerx/cuda/fuse/source.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/fuse/fuse.h"
#include "chainerx/native/reduce/reduce_plan.h"

namespace chainerx::cuda {
namespace {

constexpr size_t kMaxParams = 4000;  // bytes

// "Multiply, Add, 3 more" as a part of a kernel's name.
std::string NameOf(const FusedChain& chain) {
    std::string name = "Fused";
    for (const char* p = chain.name; *p != 0 && name.size() < 80; ++p) {
        const bool is_word = std::isalnum(static_cast<unsigned char>(*p)) != 0;
        if (is_word || name.back() != '_') name += is_word ? *p : '_';
    }
    return name;
}

// The threads that have a row. Reductions need one for each lane, and have others for each block of
// elements; without them a thread has two elements at least.
int64_t TeamOf(const FusedProgram& program, int64_t row_size) {
    const bool reduces = std::ranges::any_of(program.values, [](const FusedValue& value) {
        return value.kind == FusedValue::Kind::kReduction;
    });
    if (reduces) return row_size > native::kReduceBlock ? kBlockThreads : kBlockThreads / 4;
    const auto half = static_cast<uint64_t>(CeilDiv(row_size, 2));
    return std::min<int64_t>(kBlockThreads, static_cast<int64_t>(std::bit_ceil(half)));
}

class ChainPlan : public FusedPlan {
 public:
    ChainPlan(const FusedChain& chain, CudaDevice& device)
        : device_{device},
          name_{NameOf(chain)},
          frame_{chain},
          program_{chain, frame_},
          layout_{program_.dtypes.size(), frame_.dims.size(),
                  std::max<size_t>(program_.scalars.size(), 1)},
          params_(layout_.size) {
        for (size_t i = 0; i < program_.scalars.size(); ++i) {
            ScalarBytes bytes{};
            StoreScalar(program_.scalars[i].value, program_.scalars[i].dtype, bytes);
            Write(i * sizeof(bytes), bytes);
        }
        const int64_t team = frame_.has_rows ? TeamOf(program_, frame_.row_size) : 1;
        Write(layout_.head, FusedHead{frame_.row_size, frame_.size / frame_.row_size, team});
        for (size_t d = 0; d < frame_.dims.size(); ++d) {
            Write(layout_.dims + d * sizeof(Divisor), MakeDivisor(frame_.dims[d]));
        }
        for (size_t k = 0; k < frame_.strides.size(); ++k) {
            const std::vector<int64_t>& strides = frame_.strides[k];
            const size_t nbytes = strides.size() * sizeof(int64_t);
            std::memcpy(params_.data() + layout_.strides + k * nbytes, strides.data(), nbytes);
        }
        packed_.width = FusedWidth(program_, frame_);
        if (frame_.has_rows) {
            blocks_ = CeilDiv(frame_.size / frame_.row_size, kBlockThreads / team);
        } else if (!IsPacked(frame_)) {
            blocks_ = CeilDiv(frame_.size, kBlockThreads * kFusedElements);
        }
    }

    // Values are in registers.
    int64_t nbytes() const override { return 0; }

    void Run(std::span<const ConstArrayRef> inputs, std::span<const ConstArrayRef> outputs) {
        device_.Activate();
        CudaStream& stream = device_.current_stream();
        size_t k = 0;
        bool is_aligned = true;
        for (const std::span<const ConstArrayRef>& arrays : {inputs, outputs}) {
            for (const ConstArrayRef& ref : arrays) {
                const Array& x = ref.get();
                device_.RecordUse(x, stream);
                Write(layout_.data + k * sizeof(void*), x.raw_data());
                is_aligned = is_aligned && (frame_.layouts[k] != FusedLayoutOf::kAdjacent ||
                                            IsAligned(x, packed_.width * x.GetItemSize()));
                ++k;
            }
        }
        Variant& variant = is_aligned || blocks_ != 0 ? packed_ : single_;
        if (variant.function == nullptr) {
            variant.function =
                device_.Load(WriteFusedSource(name_, program_, frame_, variant.width));
        }
        const int64_t blocks =
            blocks_ != 0 ? blocks_ : CeilDiv(frame_.size, kBlockThreads * variant.width);
        LaunchErased(stream, variant.function, {blocks}, params_.data());
    }

 private:
    struct Variant {
        int width{1};
        CUfunction function{nullptr};
    };

    template <typename T>
    void Write(size_t at, const T& value) {
        std::memcpy(params_.data() + at, &value, sizeof(T));
    }

    CudaDevice& device_;
    const std::string name_;
    const FusedFrame frame_;
    const FusedProgram program_;
    const FusedLayout layout_;
    std::vector<std::byte> params_;  // as FusedParams
    int64_t blocks_{0};              // 0: by the width of packs
    Variant packed_;
    Variant single_;  // for arrays that are not aligned to packs
};

void Fused(const FusedChainRef& ref, std::span<const ConstArrayRef> inputs,
           std::span<const ConstArrayRef> outputs) {
    const FusedChain& chain = *ref.chain;
    if (chain.plan == nullptr) {
        auto& device = static_cast<CudaDevice&>(outputs[0].get().device());
        chain.plan = std::make_unique<ChainPlan>(chain, device);
    }
    static_cast<ChainPlan&>(*chain.plan).Run(inputs, outputs);
    internal::NoteAlgorithm(chain.name);
}
CX_CUDA_KERNEL(Fused)

}  // namespace

// A launch costs more than the work on few elements. For each reduction, and once more at the end,
// the calls before it are compiled, and computed, again.
const FusionLimits& CudaDevice::fusion_limits() const {
    static constexpr FusionLimits kLimits{.min_size = 1,
                                          .has_scalars = true,
                                          .max_calls = 64,
                                          .max_reductions = 8,
                                          .max_row = kMaxFusedRow};
    return kLimits;
}

bool CudaDevice::CanFuse(const KernelInfo& kernel) const {
    return FindElement(kernel) != nullptr || FindReduction(kernel) != nullptr;
}

bool CudaDevice::CanHold(size_t n_arrays, size_t n_scalars, int ndim) const {
    const auto n_dims = static_cast<size_t>(std::max(ndim, 1));
    return FusedLayout{n_arrays, n_dims, std::max<size_t>(n_scalars, 1)}.size <= kMaxParams;
}

}  // namespace chainerx::cuda
