// The stand-in for cuBLASLt: products by plain loops in double.
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "chainerx/core/float16.h"
#include "standin.h"

namespace chainerx::cuda {

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque {
    cublasComputeType_t compute;
    cudaDataType scale;
    int transposed[2];
    int epilogue;
    const void* bias;
};
struct cublasLtMatrixLayoutOpaque {
    cudaDataType type;
    std::int64_t rows, columns, ld, stride;
    std::int32_t batch;
};
struct cublasLtMatmulPreferenceOpaque {
    std::uint64_t work;
    std::map<int, std::uint32_t> alignments;
};

namespace standin {
namespace {

enum Status { kNotInitialized = 1, kInvalidValue = 7 };
constexpr std::size_t kWork = 1024;

std::mutex mutex;
std::set<const void*> objects;

template <typename T>
int Make(T** to, T made) {
    const std::lock_guard lock{mutex};
    *to = new T{std::move(made)};
    objects.insert(*to);
    return 0;
}

template <typename T>
int Destroy(T* object) {
    const std::lock_guard lock{mutex};
    if (objects.erase(object) == 0) return kInvalidValue;
    delete object;
    return 0;
}

void Check(bool condition, const char* what) { Require(condition, what, kInvalidValue); }

void CheckAlive(std::initializer_list<const void*> all) {
    const std::lock_guard lock{mutex};
    for (const void* object : all) {
        Check(objects.contains(object), "cuBLASLt: an object that is not there, or not any more");
    }
}

// Stores an attribute, whose size must be that of the field.
template <typename T>
void Set(T& field, const void* value, std::size_t size) {
    Check(value != nullptr && size == sizeof(T), "cuBLASLt: size of an attribute");
    std::memcpy(&field, value, size);
}

struct Sizes {
    std::int64_t m, n, k;
};

Sizes CheckShapes(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                  cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
    CheckAlive({desc, a, b, c, d});
    const auto side = [](cublasLtMatrixLayout_t x, bool is_second) {
        return is_second ? x->columns : x->rows;
    };
    const bool turns_a = desc->transposed[0] != 0, turns_b = desc->transposed[1] != 0;
    const Sizes sizes{side(a, turns_a), side(b, !turns_b), side(a, !turns_a)};
    Check(side(b, turns_b) == sizes.k && d->rows == sizes.m && d->columns == sizes.n &&
              c->rows == d->rows && c->columns == d->columns,
          "cuBLASLt: shapes");
    for (const auto* x : {a, b, c, d}) {
        Check(x->type == a->type && x->batch == d->batch, "cuBLASLt: types or batches");
        Check(x->ld >= x->rows, "cuBLASLt: leading dimension");
    }
    const bool is_double = a->type == CUDA_R_64F || a->type == CUDA_C_64F;
    const bool is_complex = a->type == CUDA_C_32F || a->type == CUDA_C_64F;
    const cudaDataType scale =
        is_double ? (is_complex ? CUDA_C_64F : CUDA_R_64F) : (is_complex ? CUDA_C_32F : CUDA_R_32F);
    const bool is_single =
        desc->compute == CUBLAS_COMPUTE_32F || (desc->compute == CUBLAS_COMPUTE_32F_FAST_TF32 &&
                                                (a->type == CUDA_R_32F || a->type == CUDA_C_32F));
    Check(desc->scale == scale && (is_double ? desc->compute == CUBLAS_COMPUTE_64F : is_single),
          "cuBLASLt: compute type");
    Check(desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
              (desc->epilogue == CUBLASLT_EPILOGUE_BIAS && !is_double && !is_complex),
          "cuBLASLt: epilogue");
    return sizes;
}

void CheckData(const void* p, cublasLtMatrixLayout_t x, const char* what) {
    const std::int64_t count = x->stride * (x->batch - 1) + x->ld * (x->columns - 1) + x->rows;
    Check(IsMemory(p, count * SizeOf(x->type), 16), what);
}

// TF32 has ten bits behind the point.
float RoundToTf32(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof(x));
    bits = (bits + 0x1000) & 0xffffe000;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}

template <typename T, typename Sum>
void Multiply(const cublasLtMatmulDescOpaque& desc, const Sizes& sizes,
              const cublasLtMatrixLayoutOpaque (&layouts)[3], const void* a, const void* b,
              void* d) {
    const bool is_tf32 = desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const auto load = [&](const void* p, int which, std::int64_t batch, std::int64_t i,
                          std::int64_t j) {
        const auto& x = layouts[which];
        if (desc.transposed[which] != 0) std::swap(i, j);
        const T value = static_cast<const T*>(p)[batch * x.stride + j * x.ld + i];
        if constexpr (std::is_same_v<T, float>) {
            if (is_tf32) return static_cast<Sum>(RoundToTf32(value));
        }
        return static_cast<Sum>(value);
    };
    std::vector<Sum> row(sizes.k);
    for (std::int64_t batch = 0; batch < layouts[2].batch; ++batch) {
        for (std::int64_t i = 0; i < sizes.m; ++i) {
            for (std::int64_t k = 0; k < sizes.k; ++k) row[k] = load(a, 0, batch, i, k);
            for (std::int64_t j = 0; j < sizes.n; ++j) {
                Sum sum{};
                for (std::int64_t k = 0; k < sizes.k; ++k) sum += row[k] * load(b, 1, batch, k, j);
                if (desc.epilogue == CUBLASLT_EPILOGUE_BIAS) {
                    sum += static_cast<Sum>(static_cast<const T*>(desc.bias)[i]);
                }
                static_cast<T*>(d)[batch * layouts[2].stride + j * layouts[2].ld + i] =
                    static_cast<T>(sum);
            }
        }
    }
}

}  // namespace
}  // namespace standin
}  // namespace chainerx::cuda

using namespace chainerx::cuda;
using namespace chainerx::cuda::standin;

CX_EXPORT std::size_t cublasLtGetVersion() { return 131000; }

CX_EXPORT int cublasLtCreate(cublasLtHandle_t* handle) { return Make(handle, cublasLtContext{}); }

CX_EXPORT int cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                       cudaDataType scale) {
    return Make(desc, {compute, scale, {}, CUBLASLT_EPILOGUE_DEFAULT, nullptr});
}
CX_EXPORT int cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return Destroy(desc); }

CX_EXPORT int cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                             cublasLtMatmulDescAttributes_t attribute,
                                             const void* value, std::size_t size) {
    return Run([&] {
        CheckAlive({desc});
        switch (attribute) {
            case CUBLASLT_MATMUL_DESC_TRANSA:
                return Set(desc->transposed[0], value, size);
            case CUBLASLT_MATMUL_DESC_TRANSB:
                return Set(desc->transposed[1], value, size);
            case CUBLASLT_MATMUL_DESC_EPILOGUE:
                return Set(desc->epilogue, value, size);
            case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
                return Set(desc->bias, value, size);
        }
        Check(false, "cuBLASLt: attribute");
    });
}

CX_EXPORT int cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                         std::uint64_t rows, std::uint64_t columns,
                                         std::int64_t ld) {
    return Make(layout, {type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                         ld, 0, 1});
}
CX_EXPORT int cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return Destroy(layout); }

CX_EXPORT int cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                               cublasLtMatrixLayoutAttribute_t attribute,
                                               const void* value, std::size_t size) {
    return Run([&] {
        CheckAlive({layout});
        if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
            Set(layout->batch, value, size);
        } else {
            Check(attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, "cuBLASLt: attribute");
            Set(layout->stride, value, size);
        }
    });
}

CX_EXPORT int cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    return Make(preference, {0, {}});
}
CX_EXPORT int cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return Destroy(preference);
}

CX_EXPORT int cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                   cublasLtMatmulPreferenceAttributes_t attribute,
                                                   const void* value, std::size_t size) {
    return Run([&] {
        CheckAlive({preference});
        if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
            Set(preference->work, value, size);
        } else {
            Set(preference->alignments[attribute], value, size);
        }
    });
}

CX_EXPORT int cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                             cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                             cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                             cublasLtMatmulPreference_t preference, int most,
                                             cublasLtMatmulHeuristicResult_t* results, int* count) {
    return Run([&] {
        CheckAlive({handle, preference});
        CheckShapes(desc, a, b, c, d);
        Check(most > 0, "cuBLASLt: number of results");
        // Without these the library counts on 256 bytes.
        Check(preference->alignments.size() == 4, "cuBLASLt: alignments are not told");
        results[0] = {};
        results[0].algo.data[0] = 0xc0de;
        results[0].workspaceSize = preference->work >= kWork && d->columns % 2 == 0 ? kWork : 0;
        *count = 1;
    });
}

CX_EXPORT int cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                             const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                             cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                             cublasLtMatrixLayout_t c_layout, void* d,
                             cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm,
                             void* work, std::size_t work_size, CUstream stream) {
    return Run([&] {
        CheckAlive({handle});
        const Sizes sizes = CheckShapes(desc, a_layout, b_layout, c_layout, d_layout);
        CheckData(a, a_layout, "cuBLASLt: address of the left matrix");
        CheckData(b, b_layout, "cuBLASLt: address of the right matrix");
        CheckData(d, d_layout, "cuBLASLt: address of the result");
        Check(c == d, "cuBLASLt: the stand-in adds nothing");
        Check(d_layout->batch == 1 || d_layout->stride >= d_layout->ld * d_layout->columns,
              "cuBLASLt: results overlap");
        const bool is_complex = desc->scale == CUDA_C_32F || desc->scale == CUDA_C_64F;
        const auto has = [&](const void* p, double expected) {
            const auto* singles = static_cast<const float*>(p);
            const auto* doubles = static_cast<const double*>(p);
            const bool is_double = desc->compute == CUBLAS_COMPUTE_64F;
            const auto part = [&](int i) { return is_double ? doubles[i] : singles[i]; };
            return part(0) == expected && (!is_complex || part(1) == 0);
        };
        Check(has(alpha, 1) && has(beta, 0), "cuBLASLt: the stand-in scales nothing");
        Check(algorithm != nullptr && algorithm->data[0] == 0xc0de, "cuBLASLt: algorithm");
        Check(d_layout->columns % 2 != 0 || (work_size >= kWork && IsMemory(work, work_size, 16)),
              "cuBLASLt: work space");
        cublasLtMatmulDescOpaque copy = *desc;
        if (copy.epilogue == CUBLASLT_EPILOGUE_BIAS) {
            Check(IsMemory(copy.bias, d_layout->rows * SizeOf(d_layout->type), 16),
                  "cuBLASLt: address of the bias");
            copy.bias = View(copy.bias);
        }
        const auto run = [=, a_copy = *a_layout, b_copy = *b_layout, d_copy = *d_layout] {
            if (work_size != 0) std::memset(View(work), 0xff, work_size);
            const cublasLtMatrixLayoutOpaque layouts[3] = {a_copy, b_copy, d_copy};
            const auto multiply = [&]<typename T, typename Sum>() {
                Multiply<T, Sum>(copy, sizes, layouts, View(a), View(b), View(d));
            };
            switch (d_copy.type) {
                case CUDA_R_16F:
                    return multiply.template operator()<chainerx::Float16, float>();
                case CUDA_R_16BF:
                    return multiply.template operator()<chainerx::BFloat16, float>();
                case CUDA_R_32F:
                    return multiply.template operator()<float, double>();
                case CUDA_R_64F:
                    return multiply.template operator()<double, double>();
                case CUDA_C_32F:
                    return multiply
                        .template operator()<std::complex<float>, std::complex<double>>();
                case CUDA_C_64F:
                    return multiply
                        .template operator()<std::complex<double>, std::complex<double>>();
            }
        };
        Enqueue(stream, run, kInvalidValue);
    });
}
