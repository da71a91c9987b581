#include "chainerx/cuda/gemm/library_product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/cuda/driver/libraries.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/gemm/library_plan.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/switches.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/elementwise/activation.h"
#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/reduce/reduction.h"

namespace chainerx::cuda {
namespace {

constexpr const char* kProductNames[] = {"cublaslt", "tiles"};
constexpr int kTilesRow = 1;
const AlgorithmChoice g_product_choice{"cuda_product", "CHAINERX_CUDA_PRODUCT", kProductNames};

// Axes of a batch that are one axis of all operands; strides in bytes.
struct BatchAxis {
    int64_t size;
    int64_t strides[2];
    int64_t out_stride;
};

// A product of matrices by rows, for each index of the axes.
struct BatchedProduct {
    int64_t m, n, k;
    int64_t strides1[2];  // along m, k
    int64_t strides2[2];  // along k, n
    int ndim{0};
    BatchAxis axes[kMaxDims]{};  // the longest last
};

BatchedProduct Merge(const GemmParams& params, int64_t item_size) {
    BatchedProduct product{params.m, params.n, params.k, {}, {}};
    std::ranges::copy(params.strides1, product.strides1);
    std::ranges::copy(params.strides2, product.strides2);
    int64_t out_stride = params.m * params.n * item_size;
    for (int d = params.batch_ndim - 1; d >= 0; --d) {  // the outermost comes last
        const int64_t size = params.batch_sizes[d];
        const BatchAxis axis{
            size, {params.batch_strides[0][d], params.batch_strides[1][d]}, out_stride};
        out_stride *= size;
        if (size == 1) continue;
        BatchAxis* inner = product.ndim == 0 ? nullptr : &product.axes[product.ndim - 1];
        if (inner != nullptr && axis.strides[0] == inner->strides[0] * inner->size &&
            axis.strides[1] == inner->strides[1] * inner->size) {
            inner->size *= size;
        } else if (inner == nullptr && axis.strides[1] == 0 &&
                   (product.m == 1 || axis.strides[0] == product.strides1[0] * product.m)) {
            // All share x2, and the rows of x1 follow each other as those of the result do.
            if (product.m == 1) product.strides1[0] = axis.strides[0];
            product.m *= size;
        } else {
            product.axes[product.ndim++] = axis;
        }
    }
    for (int d = 0; d + 1 < product.ndim; ++d) {
        BatchAxis& last = product.axes[product.ndim - 1];
        if (product.axes[d].size > last.size) std::swap(product.axes[d], last);
    }
    return product;
}

// The largest power of two, up to what the library can use, that divides all of these.
template <typename... Offsets>
uint32_t AlignmentOf(const void* data, Offsets... offsets) {
    constexpr uint64_t kMost = 256;
    const uint64_t bits =
        ((kMost | reinterpret_cast<uintptr_t>(data)) | ... | static_cast<uint64_t>(offsets));
    return uint32_t{1} << std::countr_zero(bits);
}

// How the library reads a row-major matrix with these strides in bytes, if it can. By columns it
// is the transposed one. The batch is that of the last axis.
std::optional<LibraryMatrix> FindMatrix(const Array& x, int64_t rows, int64_t columns,
                                        const int64_t (&strides)[2], const BatchedProduct& product,
                                        int operand) {
    const int64_t size = x.GetItemSize();
    uint32_t alignment = AlignmentOf(x.raw_data());
    for (int d = 0; d < product.ndim; ++d) {
        alignment = std::min(alignment, AlignmentOf(nullptr, product.axes[d].strides[operand]));
    }
    const int64_t batch =
        product.ndim == 0 ? 0 : product.axes[product.ndim - 1].strides[operand] / size;
    if (alignment < size || batch < 0) return std::nullopt;
    const auto reads = [&](int64_t lines, int64_t length, int64_t line, int64_t step) {
        return (length == 1 || step == size) &&
               (lines == 1 || (line % size == 0 && line / size >= length));
    };
    const auto ld = [&](int64_t lines, int64_t length, int64_t line) {
        return lines == 1 ? length : line / size;
    };
    if (reads(rows, columns, strides[0], strides[1])) {
        return LibraryMatrix{ld(rows, columns, strides[0]), batch, CUBLAS_OP_N, alignment};
    }
    if (reads(columns, rows, strides[1], strides[0])) {
        return LibraryMatrix{ld(columns, rows, strides[1]), batch, CUBLAS_OP_T, alignment};
    }
    return std::nullopt;
}

// Sets how numbers of a dtype are multiplied and added. Returns false if they can't be.
bool SetTypes(ProductKey& key, Dtype dtype) {
    if (!IsFloat(dtype) && !IsComplex(dtype)) return false;
    const Switches& switches = GetSwitches();
    key.data = key.scale = DataTypeOf(dtype);
    key.compute = CUBLAS_COMPUTE_32F;
    key.reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
    if (RealDtype(dtype) == Dtype::kFloat64) {
        key.compute = CUBLAS_COMPUTE_64F;
    } else if (GetItemSize(dtype) == 2) {
        key.scale = CUDA_R_32F;
        if (!switches.reduced_precision.load(std::memory_order_relaxed)) {
            key.reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
        }
    } else if (switches.tf32.load(std::memory_order_relaxed)) {
        key.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    }
    return true;
}

// Runs the product for each index of all axes but the last, which is the library's batch.
bool RunEach(CudaDevice& device, const ProductKey& key, const BatchedProduct& product,
             const ProductOperands& operands) {
    std::array<int64_t, kMaxDims> index{};
    ProductOperands at = operands;
    for (;;) {
        if (!RunLibraryPlan(device, key, at)) return false;
        int d = product.ndim - 2;
        for (; d >= 0; --d) {
            const BatchAxis& axis = product.axes[d];
            const int64_t steps = ++index[d] == axis.size ? 1 - axis.size : 1;
            at.left += steps * axis.strides[1];
            at.right += steps * axis.strides[0];
            at.out += steps * axis.out_stride;
            if (steps == 1) break;
            index[d] = 0;
        }
        if (d < 0) return true;
    }
}

// What the library has for this end, and for the ends that need fewer launches of our own first.
cublasLtEpilogue_t EpilogueOf(ProductEnd end) {
    switch (end) {
        case ProductEnd::kAddsBias:
            return CUBLASLT_EPILOGUE_BIAS;
        case ProductEnd::kRectifies:
            return CUBLASLT_EPILOGUE_RELU_BIAS;
        case ProductEnd::kSumsRows:
            return CUBLASLT_EPILOGUE_BGRADB;
        default:
            return CUBLASLT_EPILOGUE_DEFAULT;
    }
}

// By kernels of our own, where the library has no epilogue for the operands.
void Finish(const Array& x1, const Array& bias, const Array& out, ProductEnd end) {
    if (end == ProductEnd::kSumsRows) {
        CallOn<kernels::Sum>(out.device(), x1, Axes{0}, bias);
        return;
    }
    const Array row =
        internal::MakeView(bias, out.shape(), Strides{0, bias.strides()[0]}, bias.raw_data());
    CallOn<kernels::Add>(out.device(), Operand{out}, Operand{row}, out);
    if (end == ProductEnd::kRectifies) CallOn<kernels::Rectify>(out.device(), out, out);
}

bool Run(const BatchedProduct& product, const Array& x1, const Array& x2, const Array* bias,
         const Array& out, ProductEnd end) {
    ProductKey key{};
    if (FindCublasLt() == nullptr || !SetTypes(key, out.dtype())) return false;
    const int64_t batch = product.ndim == 0 ? 1 : product.axes[product.ndim - 1].size;
    if (batch > INT32_MAX) return false;
    // By columns, the result is x2^T x1^T.
    const auto left = FindMatrix(x2, product.k, product.n, product.strides2, product, 1);
    const auto right = FindMatrix(x1, product.m, product.k, product.strides1, product, 0);
    if (!left.has_value() || !right.has_value()) return false;
    uint32_t alignment = AlignmentOf(out.raw_data());
    for (int d = 0; d < product.ndim; ++d) {
        alignment = std::min(alignment, AlignmentOf(nullptr, product.axes[d].out_stride));
    }
    if (alignment < out.GetItemSize()) return false;
    CudaDevice& device = Prepare(out, x1, x2);
    key.rows = product.n;
    key.columns = product.m;
    key.depth = product.k;
    key.left = *left;
    key.right = *right;
    const int64_t out_stride = product.ndim == 0 ? 0 : product.axes[product.ndim - 1].out_stride;
    key.out = {product.n, out_stride / out.GetItemSize(), CUBLAS_OP_N, alignment};
    key.batch = static_cast<int32_t>(batch);
    key.device = device.index();
    ProductOperands operands{x2.raw_data(), x1.raw_data(), nullptr, out.raw_data()};
    if (end != ProductEnd::kNone && bias->strides()[0] == bias->GetItemSize()) {
        device.RecordUse(*bias, device.current_stream());
        key.epilogue = EpilogueOf(end);
        key.bias_alignment = AlignmentOf(bias->raw_data());
        operands.bias = bias->raw_data();
        if (RunEach(device, key, product, operands)) return true;
    }
    // A sum that is rounded to 16 bits before the bias is added would lose digits.
    const bool adds = end == ProductEnd::kAddsBias || end == ProductEnd::kRectifies;
    if (adds && out.GetItemSize() == 2) return false;
    key.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    key.bias_alignment = 0;
    operands.bias = nullptr;
    if (!RunEach(device, key, product, operands)) return false;
    if (end != ProductEnd::kNone) Finish(x1, *bias, out, end);
    return true;
}

// Smaller products are a matter of launches.
bool IsWorthLibrary(const BatchedProduct& product) {
    constexpr int64_t kLeastSide = 16;
    constexpr double kLeastWork = 0x1p20;        // of all matrices
    constexpr double kLeastWorkOfMany = 0x1p26;  // of each call, where several are needed
    double work = static_cast<double>(product.m) * static_cast<double>(product.n) *
                  static_cast<double>(product.k);
    if (product.ndim > 0) work *= static_cast<double>(product.axes[product.ndim - 1].size);
    return work >= (product.ndim > 1 ? kLeastWorkOfMany : kLeastWork) &&
           std::min({product.m, product.n, product.k}) >= kLeastSide;
}

}  // namespace

bool TryLibraryProduct(const GemmParams& params, const Array& x1, const Array& x2,
                       const Array* bias, const Array& out, ProductEnd end) {
    if (out.GetTotalSize() == 0 || params.k == 0) return false;
    const AlgorithmChoice::Forced forced =
        g_product_choice.MayBeForced() ? g_product_choice.forced() : AlgorithmChoice::Forced{};
    if (forced.row == kTilesRow) return false;
    const BatchedProduct product = Merge(params, out.GetItemSize());
    if (forced.row < 0 && !IsWorthLibrary(product)) return false;
    if (Run(product, x1, x2, bias, out, end)) {
        internal::NoteAlgorithm(kProductNames[0]);
        return true;
    }
    if (forced.row >= 0 && forced.is_strict) {
        throw ChainerxError{"cuda: cuBLASLt can't compute this product of ", out.dtype(),
                            ": it is not there, or the operands are not as it reads them"};
    }
    return false;
}

}  // namespace chainerx::cuda
