#include "chainerx/cuda/gemm/library_product.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/kernels/algorithm.h"

namespace chainerx::cuda {
namespace {

constexpr uint32_t kProductAlign = 16;
constexpr const char* kProductNames[] = {"cublaslt", "tiles"};
constexpr int kTilesRow = 1;
const AlgorithmChoice g_product_choice{"cuda_product", "CHAINERX_CUDA_PRODUCT", kProductNames};

// A matrix as the library reads it, by columns: its rows are adjacent.
struct LibraryMatrix {
    int is_transposed;
    int64_t ld;
    int64_t batch_stride;  // in elements, as ld is

    auto operator<=>(const LibraryMatrix&) const = default;
};

struct ProductKey {
    int device;
    Dtype dtype;
    bool has_bias;
    bool is_tf32;
    int64_t rows, columns, depth, batch;  // of the result by columns
    LibraryMatrix left, right;

    auto operator<=>(const ProductKey&) const = default;
};

// Returns the distance of the matrices of a batch in bytes, if it is one.
std::optional<int64_t> FindBatchStride(const GemmParams& params, int operand) {
    int64_t stride = 0;
    int64_t count = 1;
    for (int d = params.batch_ndim - 1; d >= 0; --d) {
        if (params.batch_sizes[d] == 1) continue;
        if (count == 1) {
            stride = params.batch_strides[operand][d];
        } else if (params.batch_strides[operand][d] != stride * count) {
            return std::nullopt;
        }
        count *= params.batch_sizes[d];
    }
    return stride;
}

// `outer` and `inner` are the strides by which a row-major matrix of these sizes is written.
std::optional<LibraryMatrix> FindMatrix(const Array& x, int64_t rows, int64_t columns,
                                        int64_t row_stride, int64_t column_stride,
                                        std::optional<int64_t> batch_stride) {
    const int64_t size = x.GetItemSize();
    if (!batch_stride.has_value() || *batch_stride % kProductAlign != 0 ||
        !IsAligned(x, kProductAlign)) {
        return std::nullopt;
    }
    const auto reads = [&](int64_t lines, int64_t length, int64_t line, int64_t step) {
        return step == size && line % size == 0 && (lines == 1 || line / size >= length);
    };
    const int64_t batch = *batch_stride / size;
    if (reads(rows, columns, row_stride, column_stride)) {
        return LibraryMatrix{CUBLAS_OP_N, std::max(row_stride / size, columns), batch};
    }
    if (reads(columns, rows, column_stride, row_stride)) {
        return LibraryMatrix{CUBLAS_OP_T, std::max(column_stride / size, rows), batch};
    }
    return std::nullopt;
}

struct ProductType {
    cudaDataType data;
    cudaDataType scale;
    cublasComputeType_t compute;
};

std::optional<ProductType> FindProductType(Dtype dtype, bool is_tf32) {
    if (!IsFloat(dtype) && !IsComplex(dtype)) return std::nullopt;
    const cudaDataType data = DataTypeOf(dtype);
    if (RealDtype(dtype) == Dtype::kFloat64) return ProductType{data, data, CUBLAS_COMPUTE_64F};
    if (GetItemSize(dtype) == 2) return ProductType{data, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    return ProductType{data, data, is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
}

// What the library needs for a product, with the algorithm that it has chosen.
class LibraryPlan {
 public:
    LibraryPlan(cublasLtHandle_t handle, const ProductKey& key, const ProductType& type) {
        CX_CUBLASLT_CALL(MatmulDescCreate, &desc_, type.compute, type.scale);
        SetDesc(CUBLASLT_MATMUL_DESC_TRANSA, key.left.is_transposed);
        SetDesc(CUBLASLT_MATMUL_DESC_TRANSB, key.right.is_transposed);
        if (key.has_bias) SetDesc(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        MakeLayout(left_, type.data, key.rows, key.depth, key.left, key.batch);
        MakeLayout(right_, type.data, key.depth, key.columns, key.right, key.batch);
        const LibraryMatrix whole{CUBLAS_OP_N, key.rows, key.rows * key.columns};
        MakeLayout(out_, type.data, key.rows, key.columns, whole, key.batch);
        Choose(handle);
    }

    bool is_usable() const { return is_usable_; }

    void Run(cublasLtHandle_t handle, const ProductType& type, CudaDevice& device, const void* left,
             const void* right, const Array* bias, const Array& out) const {
        // As the scale has its type: 1 and 0.
        static constexpr float kSingle[] = {1, 0, 0};
        static constexpr double kDouble[] = {1, 0, 0};
        const bool is_double = type.compute == CUBLAS_COMPUTE_64F;
        const void* one = is_double ? static_cast<const void*>(kDouble) : kSingle;
        const void* zero = is_double ? static_cast<const void*>(kDouble + 1) : kSingle + 1;
        if (bias != nullptr) SetDesc(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias->raw_data());
        Array work;
        if (work_size_ != 0) {
            work = EmptyUnchecked(Shape{static_cast<int64_t>(work_size_)}, Dtype::kUInt8, device);
            device.RecordUse(work, device.current_stream());
        }
        CX_CUBLASLT_CALL(Matmul, handle, desc_, one, left, left_, right, right_, zero,
                         static_cast<const void*>(out.raw_data()), out_,
                         static_cast<void*>(out.raw_data()), out_, &algorithm_,
                         static_cast<void*>(work_size_ != 0 ? work.raw_data() : nullptr),
                         work_size_, device.current_stream().handle());
    }

 private:
    template <typename T>
    void SetDesc(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
        CX_CUBLASLT_CALL(MatmulDescSetAttribute, desc_, attribute, static_cast<const void*>(&value),
                         sizeof(value));
    }

    static void MakeLayout(cublasLtMatrixLayout_t& layout, cudaDataType type, int64_t rows,
                           int64_t columns, const LibraryMatrix& matrix, int64_t batch) {
        if (matrix.is_transposed != CUBLAS_OP_N) std::swap(rows, columns);
        CX_CUBLASLT_CALL(MatrixLayoutCreate, &layout, type, static_cast<uint64_t>(rows),
                         static_cast<uint64_t>(columns), matrix.ld);
        if (batch == 1) return;
        const auto count = static_cast<int32_t>(batch);
        CX_CUBLASLT_CALL(MatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                         static_cast<const void*>(&count), sizeof(count));
        CX_CUBLASLT_CALL(
            MatrixLayoutSetAttribute, layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
            static_cast<const void*>(&matrix.batch_stride), sizeof(matrix.batch_stride));
    }

    void Choose(cublasLtHandle_t handle) {
        constexpr uint64_t kMostWork = 32 << 20;
        cublasLtMatmulPreference_t preference = nullptr;
        CX_CUBLASLT_CALL(MatmulPreferenceCreate, &preference);
        CX_CUBLASLT_CALL(MatmulPreferenceSetAttribute, preference,
                         CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                         static_cast<const void*>(&kMostWork), sizeof(kMostWork));
        for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            CX_CUBLASLT_CALL(MatmulPreferenceSetAttribute, preference, attribute,
                             static_cast<const void*>(&kProductAlign), sizeof(kProductAlign));
        }
        cublasLtMatmulHeuristicResult_t result{};
        int count = 0;
        const int status = GetCublasLt().MatmulAlgoGetHeuristic(
            handle, desc_, left_, right_, out_, out_, preference, 1, &result, &count);
        GetCublasLt().MatmulPreferenceDestroy(preference);
        is_usable_ = status == 0 && count > 0 && result.state == 0;
        algorithm_ = result.algo;
        work_size_ = result.workspaceSize;
    }

    cublasLtMatmulDesc_t desc_{nullptr};
    cublasLtMatrixLayout_t left_{nullptr};
    cublasLtMatrixLayout_t right_{nullptr};
    cublasLtMatrixLayout_t out_{nullptr};
    cublasLtMatmulAlgo_t algorithm_{};
    size_t work_size_{0};
    bool is_usable_{false};
};

// By device; plans stay, as programs have few shapes, until there are too many: then no more are
// made, and such products take our own kernels.
class LibraryProducts {
 public:
    bool Run(CudaDevice& device, const ProductKey& key, const ProductType& type, const Array& left,
             const Array& right, const Array* bias, const Array& out) {
        const std::lock_guard lock{mutex_};
        cublasLtHandle_t& handle = handles_[key.device];
        if (handle == nullptr) CX_CUBLASLT_CALL(Create, &handle);
        auto found = plans_.find(key);
        if (found == plans_.end()) {
            if (plans_.size() >= kMostPlans) return false;
            found = plans_.emplace(key, LibraryPlan{handle, key, type}).first;
        }
        if (!found->second.is_usable()) return false;
        found->second.Run(handle, type, device, left.raw_data(), right.raw_data(), bias, out);
        return true;
    }

 private:
    static constexpr size_t kMostPlans = 4096;

    internal::ForkMutex mutex_;
    std::map<int, cublasLtHandle_t> handles_;
    std::map<ProductKey, LibraryPlan> plans_;
};

constinit internal::Lazy<LibraryProducts> g_products;

// Smaller products are a matter of launches.
bool IsWorthLibrary(int64_t batch, const GemmParams& params) {
    constexpr int64_t kLeastSide = 16;
    constexpr double kLeastWork = 0x1p20;
    const double work = static_cast<double>(batch) * static_cast<double>(params.m) *
                        static_cast<double>(params.n) * static_cast<double>(params.k);
    return work >= kLeastWork && std::min({params.m, params.n, params.k}) >= kLeastSide;
}

bool RunLibraryProduct(const GemmParams& params, int64_t batch, const Array& x1, const Array& x2,
                       const Array* bias, const Array& out) {
    if (batch > INT32_MAX || FindCublasLt() == nullptr) return false;
    const bool is_tf32 = AllowsTf32().load(std::memory_order_relaxed);
    const std::optional<ProductType> type = FindProductType(out.dtype(), is_tf32);
    if (!type.has_value()) return false;
    if (bias != nullptr && (out.GetItemSize() > 4 || !IsAligned(*bias, kProductAlign) ||
                            bias->strides()[0] != bias->GetItemSize())) {
        return false;
    }
    // By columns, the result is x2^T x1^T.
    const auto left = FindMatrix(x2, params.k, params.n, params.strides2[0], params.strides2[1],
                                 FindBatchStride(params, 1));
    const auto right = FindMatrix(x1, params.m, params.k, params.strides1[0], params.strides1[1],
                                  FindBatchStride(params, 0));
    if (!left.has_value() || !right.has_value() || !IsAligned(out, kProductAlign) ||
        (batch > 1 && params.m * params.n * out.GetItemSize() % kProductAlign != 0)) {
        return false;
    }
    CudaDevice& device = Prepare(out, x1, x2);
    if (bias != nullptr) device.RecordUse(*bias, device.current_stream());
    const ProductKey key{device.index(), out.dtype(), bias != nullptr, is_tf32, params.n,
                         params.m,       params.k,    batch,           *left,   *right};
    return g_products.Get().Run(device, key, *type, x2, x1, bias, out);
}

}  // namespace

bool TryLibraryProduct(const GemmParams& params, const Array& x1, const Array& x2,
                       const Array* bias, const Array& out) {
    int64_t batch = 1;
    for (int d = 0; d < params.batch_ndim; ++d) batch *= params.batch_sizes[d];
    const AlgorithmChoice::Forced forced =
        g_product_choice.MayBeForced() ? g_product_choice.forced() : AlgorithmChoice::Forced{};
    if (forced.row == kTilesRow || (forced.row < 0 && !IsWorthLibrary(batch, params))) return false;
    if (out.GetTotalSize() != 0 && params.k != 0 &&
        RunLibraryProduct(params, batch, x1, x2, bias, out)) {
        return true;
    }
    if (forced.row >= 0 && forced.is_strict) {
        throw ChainerxError{"cuda: cuBLASLt can't compute this product of ", out.dtype(),
                            ": it is not there, or the operands are not as it reads them"};
    }
    return false;
}

}  // namespace chainerx::cuda
