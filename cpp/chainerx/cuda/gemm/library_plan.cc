#include "chainerx/cuda/gemm/library_plan.h"

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/runtime/launch.h"

namespace chainerx::cuda {
namespace {

struct KeyHash {
    size_t operator()(const ProductKey& key) const {
        uint64_t h = 0xcbf29ce484222325u;
        using Words = std::array<uint64_t, sizeof(ProductKey) / sizeof(uint64_t)>;
        for (const uint64_t word : std::bit_cast<Words>(key)) {
            h = (h ^ word) * 0x100000001b3u;
            h ^= h >> 32;
        }
        return h;
    }
};

struct KeysAreEqual {
    bool operator()(const ProductKey& a, const ProductKey& b) const {
        return std::memcmp(&a, &b, sizeof(ProductKey)) == 0;
    }
};

// The library recommends so much since compute capability 9.0, and less before.
uint64_t MostWork(const CudaDevice& device) {
    return device.arch() >= 90 ? uint64_t{32} << 20 : uint64_t{8} << 20;
}

// What the library needs for a product, with the algorithm that it has chosen.
class Plan {
 public:
    // The choice depends on the address of the bias, but on those of matrices as the key says.
    Plan(cublasLtHandle_t handle, CudaDevice& device, const ProductKey& key, char* bias)
        : is_double_{key.compute == CUBLAS_COMPUTE_64F} {
        CX_CUBLASLT_CALL(MatmulDescCreate, &desc_, key.compute, key.scale);
        SetDesc(CUBLASLT_MATMUL_DESC_TRANSA, key.left.operation);
        SetDesc(CUBLASLT_MATMUL_DESC_TRANSB, key.right.operation);
        SetDesc(CUBLASLT_MATMUL_DESC_EPILOGUE, key.epilogue);
        SetBias(bias);
        MakeLayout(left_, key, key.left, key.rows, key.depth);
        MakeLayout(right_, key, key.right, key.depth, key.columns);
        MakeLayout(out_, key, key.out, key.rows, key.columns);
        Choose(handle, MostWork(device), key);
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() {
        const CublasLt& library = GetCublasLt();
        for (const auto layout : {left_, right_, out_}) {
            if (layout != nullptr) library.MatrixLayoutDestroy(layout);
        }
        if (desc_ != nullptr) library.MatmulDescDestroy(desc_);
    }

    bool is_usable() const { return is_usable_; }

    void Run(cublasLtHandle_t handle, CudaDevice& device, const ProductOperands& operands) {
        // As the scale has its type, complex if that is: 1 and 0.
        static constexpr float kSingle[] = {1, 0, 0};
        static constexpr double kDouble[] = {1, 0, 0};
        const void* one = is_double_ ? static_cast<const void*>(kDouble) : kSingle;
        const void* zero = is_double_ ? static_cast<const void*>(kDouble + 1) : kSingle + 1;
        if (operands.bias != bias_) SetBias(operands.bias);
        // In the order of the stream, so products of a stream share one block, and no others.
        Array work;
        if (work_size_ != 0) {
            work = EmptyUnchecked(Shape{static_cast<int64_t>(work_size_)}, Dtype::kUInt8, device);
            Prepare(work);
        }
        CX_CUBLASLT_CALL(Matmul, handle, desc_, one, static_cast<const void*>(operands.left), left_,
                         static_cast<const void*>(operands.right), right_, zero,
                         static_cast<const void*>(operands.out), out_,
                         static_cast<void*>(operands.out), out_, &algorithm_,
                         static_cast<void*>(work_size_ != 0 ? work.raw_data() : nullptr),
                         work_size_, device.current_stream().handle());
    }

 private:
    template <typename T>
    void SetDesc(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
        CX_CUBLASLT_CALL(MatmulDescSetAttribute, desc_, attribute, static_cast<const void*>(&value),
                         sizeof(value));
    }
    void SetBias(char* bias) {
        SetDesc(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
        bias_ = bias;
    }

    static void MakeLayout(cublasLtMatrixLayout_t& layout, const ProductKey& key,
                           const LibraryMatrix& matrix, int64_t rows, int64_t columns) {
        if (matrix.operation != CUBLAS_OP_N) std::swap(rows, columns);
        CX_CUBLASLT_CALL(MatrixLayoutCreate, &layout, key.data, static_cast<uint64_t>(rows),
                         static_cast<uint64_t>(columns), matrix.ld);
        if (key.batch == 1) return;
        const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
            CX_CUBLASLT_CALL(MatrixLayoutSetAttribute, layout, attribute,
                             static_cast<const void*>(&value), sizeof(value));
        };
        set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, key.batch);
        set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
    }

    void Choose(cublasLtHandle_t handle, uint64_t most_work, const ProductKey& key) {
        cublasLtMatmulPreference_t preference = nullptr;
        CX_CUBLASLT_CALL(MatmulPreferenceCreate, &preference);
        const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
            CX_CUBLASLT_CALL(MatmulPreferenceSetAttribute, preference, attribute,
                             static_cast<const void*>(&value), sizeof(value));
        };
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_work);
        set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, key.reductions);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.left.alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.right.alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.out.alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.out.alignment);
        cublasLtMatmulHeuristicResult_t result{};
        int count = 0;
        const int status = GetCublasLt().MatmulAlgoGetHeuristic(
            handle, desc_, left_, right_, out_, out_, preference, 1, &result, &count);
        GetCublasLt().MatmulPreferenceDestroy(preference);
        is_usable_ = status == 0 && count > 0 && result.state == 0;
        algorithm_ = result.algo;
        work_size_ = result.workspaceSize;
    }

    const bool is_double_;
    cublasLtMatmulDesc_t desc_{nullptr};
    cublasLtMatrixLayout_t left_{nullptr};
    cublasLtMatrixLayout_t right_{nullptr};
    cublasLtMatrixLayout_t out_{nullptr};
    cublasLtMatmulAlgo_t algorithm_{};
    size_t work_size_{0};
    bool is_usable_{false};
    char* bias_{nullptr};  // that the description has
};

class Plans {
 public:
    bool Run(CudaDevice& device, const ProductKey& key, const ProductOperands& operands) {
        const std::lock_guard lock{mutex_};
        cublasLtHandle_t& handle = handles_[key.device];
        if (handle == nullptr) {
            device.WithRoom([&] { CX_CUBLASLT_CALL(Create, &handle); });
        }
        auto found = plans_.find(key);
        if (found == plans_.end()) {
            // Programs have few shapes; where they differ in each step, old ones don't come back.
            if (plans_.size() == kMostPlans) plans_.clear();
            found = plans_.try_emplace(key, handle, device, key, operands.bias).first;
        }
        Plan& plan = found->second;
        if (!plan.is_usable()) return false;
        device.WithRoom([&] { plan.Run(handle, device, operands); });
        return true;
    }

 private:
    static constexpr size_t kMostPlans = 4096;

    internal::ForkMutex mutex_;
    std::map<int, cublasLtHandle_t> handles_;
    std::unordered_map<ProductKey, Plan, KeyHash, KeysAreEqual> plans_;
};

constinit internal::Lazy<Plans> g_plans;

}  // namespace

bool RunLibraryPlan(CudaDevice& device, const ProductKey& key, const ProductOperands& operands) {
    return g_plans.Get().Run(device, key, operands);
}

}  // namespace chainerx::cuda
