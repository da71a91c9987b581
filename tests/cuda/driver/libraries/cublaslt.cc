// The stand-in for cuBLASLt: products by plain loops in double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <vector>

#include "chainerx/core/float16.h"
#include "standin.h"

namespace chainerx::cuda {

struct cublasLtContext {};
struct cublasLtMatmulDescOpaque {
    cublasComputeType_t compute;
    cudaDataType scale;
    int operations[2];
    std::uint32_t epilogue;
    const void* bias;
};
struct cublasLtMatrixLayoutOpaque {
    cudaDataType type;
    std::int64_t rows, columns, ld, stride;
    std::int32_t batch;
};
struct cublasLtMatmulPreferenceOpaque {
    std::uint64_t work;
    std::uint32_t reductions;
    std::map<int, std::uint32_t> alignments;
};

namespace standin {
namespace {

using Layout = cublasLtMatrixLayoutOpaque;

enum Status { kNotInitialized = 1, kInvalidValue = 7, kNotSupported = 15 };
constexpr std::size_t kWork = 1024;
constexpr std::uint64_t kWorkAlign = 256;
constexpr std::int64_t kSplit = 1024;  // steps of k from which sums are cut in two

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

// What the library has no algorithm for is no mistake of the caller's.
void Support(bool condition) {
    if (!condition) throw Failure{kNotSupported};
}

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

bool IsDouble(cudaDataType type) { return type == CUDA_R_64F || type == CUDA_C_64F; }
bool IsComplex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }
bool HasBias(std::uint32_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }

std::uint64_t AlignmentOf(const void* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return address == 0 ? 256 : std::min<std::uint64_t>(address & (~address + 1), 256);
}

struct Sizes {
    std::int64_t m, n, k;
};

Sizes CheckShapes(const cublasLtMatmulDescOpaque& desc, const Layout& a, const Layout& b,
                  const Layout& c, const Layout& d) {
    for (const int operation : desc.operations) {
        Check(operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C,
              "cuBLASLt: operation");
    }
    const auto side = [](const Layout& x, bool is_second) {
        return is_second ? x.columns : x.rows;
    };
    const bool turns_a = desc.operations[0] != CUBLAS_OP_N;
    const bool turns_b = desc.operations[1] != CUBLAS_OP_N;
    const Sizes sizes{side(a, turns_a), side(b, !turns_b), side(a, !turns_a)};
    Check(side(b, turns_b) == sizes.k && d.rows == sizes.m && d.columns == sizes.n &&
              c.rows == d.rows && c.columns == d.columns,
          "cuBLASLt: shapes");
    Check(sizes.m > 0 && sizes.n > 0 && sizes.k > 0, "cuBLASLt: empty matrices");
    for (const Layout* x : {&a, &b, &c, &d}) {
        Check(x->type == a.type && x->batch == d.batch && x->batch > 0,
              "cuBLASLt: types or batches");
        Check(x->ld >= x->rows, "cuBLASLt: leading dimension");
        Check(x->batch == 1 || x->stride >= 0, "cuBLASLt: batch stride");
    }
    Check(d.batch == 1 || d.stride >= d.ld * (d.columns - 1) + d.rows, "cuBLASLt: results overlap");
    return sizes;
}

// The combinations of types that its documents list, and the epilogues that have been seen to work
// with them.
void CheckSupport(const cublasLtMatmulDescOpaque& desc, const Layout& d) {
    const bool is_half = d.type == CUDA_R_16F || d.type == CUDA_R_16BF;
    const cudaDataType scale = is_half ? CUDA_R_32F : d.type;
    const bool is_single =
        desc.compute == CUBLAS_COMPUTE_32F ||
        (desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && !is_half && !IsDouble(d.type));
    Support(desc.scale == scale &&
            (IsDouble(d.type) ? desc.compute == CUBLAS_COMPUTE_64F : is_single));
    switch (desc.epilogue) {
        case CUBLASLT_EPILOGUE_DEFAULT:
            return;
        case CUBLASLT_EPILOGUE_BIAS:
        case CUBLASLT_EPILOGUE_RELU_BIAS:
            return Support(!IsComplex(d.type));
        case CUBLASLT_EPILOGUE_BGRADB:
            return Support(!IsComplex(d.type) && !IsDouble(d.type) && d.batch == 1);
        default:
            Check(false, "cuBLASLt: epilogue");
    }
}

// What an algorithm was chosen for, in cublasLtMatmulAlgo_t.
struct Algorithm {
    std::uint64_t problem;
    std::uint64_t work;
    std::uint16_t alignments[4];  // of A, B, D, bias
    std::uint32_t reductions;
    std::uint32_t reserved[9];
};
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));

std::uint64_t HashProblem(const cublasLtMatmulDescOpaque& desc, const Layout& a, const Layout& b,
                          const Layout& d) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
    for (const std::uint64_t value :
         {std::uint64_t(desc.compute), std::uint64_t(desc.epilogue),
          std::uint64_t(desc.operations[0]), std::uint64_t(desc.operations[1])}) {
        add(value);
    }
    for (const Layout* x : {&a, &b, &d}) {
        for (const std::int64_t value : {std::int64_t{x->type}, x->rows, x->columns, x->ld,
                                         x->stride, std::int64_t{x->batch}}) {
            add(static_cast<std::uint64_t>(value));
        }
    }
    return hash;
}

void CheckData(const void* p, const Layout& x, std::uint64_t alignment, const char* what) {
    const std::int64_t count = x.stride * (x.batch - 1) + x.ld * (x.columns - 1) + x.rows;
    Check(IsMemory(p, count * SizeOf(x.type), std::max(alignment, SizeOf(x.type))), what);
}

std::string Text(const Layout& x) {
    std::ostringstream s;
    s << "[" << x.rows << ", " << x.columns << ", " << x.ld << ", " << x.batch << ", " << x.stride
      << "]";
    return s.str();
}

// The start of an object that describes a product.
std::string Text(const char* call, const cublasLtMatmulDescOpaque& desc, const Layout& a,
                 const Layout& b, const Layout& d) {
    std::ostringstream s;
    s << R"({"call": ")" << call << R"(", "compute": )" << desc.compute << R"(, "scale": )"
      << desc.scale << R"(, "type": )" << d.type << R"(, "epilogue": )" << desc.epilogue
      << R"(, "operations": [)" << desc.operations[0] << ", " << desc.operations[1] << R"(], "a": )"
      << Text(a) << R"(, "b": )" << Text(b) << R"(, "d": )" << Text(d);
    return s.str();
}

// TF32 has ten bits behind the point.
float RoundToTf32(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof(x));
    bits = (bits + 0x1000) & 0xffffe000;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
}

struct Task {
    cublasLtMatmulDescOpaque desc;
    Sizes sizes;
    Layout layouts[3];  // of A, B, D
    std::uint32_t reductions;
};

template <typename T, typename Sum>
void Multiply(const Task& task, const void* a, const void* b, void* d) {
    const auto& [desc, sizes, layouts, reductions] = task;
    const bool is_tf32 = desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const auto load = [&](const void* p, int which, std::int64_t batch, std::int64_t i,
                          std::int64_t j) {
        const Layout& x = layouts[which];
        if (desc.operations[which] != CUBLAS_OP_N) std::swap(i, j);
        const T value = static_cast<const T*>(p)[batch * x.stride + j * x.ld + i];
        if constexpr (std::is_same_v<T, float>) {
            if (is_tf32) return static_cast<Sum>(RoundToTf32(value));
        }
        return static_cast<Sum>(value);
    };
    const bool rounds_parts = sizeof(T) == 2 && sizes.k >= kSplit && (reductions & 4) != 0;
    std::vector<Sum> row(sizes.k);
    for (std::int64_t batch = 0; batch < layouts[2].batch; ++batch) {
        for (std::int64_t i = 0; i < sizes.m; ++i) {
            for (std::int64_t k = 0; k < sizes.k; ++k) row[k] = load(a, 0, batch, i, k);
            for (std::int64_t j = 0; j < sizes.n; ++j) {
                Sum sum{};
                for (std::int64_t k = 0; k < sizes.k; ++k) {
                    if (rounds_parts && k == sizes.k / 2)
                        sum = static_cast<Sum>(static_cast<T>(sum));
                    sum += row[k] * load(b, 1, batch, k, j);
                }
                if (HasBias(desc.epilogue)) {
                    sum += static_cast<Sum>(static_cast<const T*>(desc.bias)[i]);
                }
                if constexpr (std::is_floating_point_v<Sum>) {
                    if (desc.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && sum < 0) sum = 0;
                }
                static_cast<T*>(d)[batch * layouts[2].stride + j * layouts[2].ld + i] =
                    static_cast<T>(sum);
            }
        }
    }
    if (desc.epilogue != CUBLASLT_EPILOGUE_BGRADB) return;
    for (std::int64_t j = 0; j < sizes.n; ++j) {
        Sum sum{};
        for (std::int64_t k = 0; k < sizes.k; ++k) sum += load(b, 1, 0, k, j);
        static_cast<T*>(const_cast<void*>(desc.bias))[j] = static_cast<T>(sum);
    }
}

void Run(const Task& task, const void* a, const void* b, void* d) {
    switch (task.layouts[2].type) {
        case CUDA_R_16F:
            return Multiply<chainerx::Float16, float>(task, a, b, d);
        case CUDA_R_16BF:
            return Multiply<chainerx::BFloat16, float>(task, a, b, d);
        case CUDA_R_32F:
            return Multiply<float, double>(task, a, b, d);
        case CUDA_R_64F:
            return Multiply<double, double>(task, a, b, d);
        case CUDA_C_32F:
            return Multiply<std::complex<float>, std::complex<double>>(task, a, b, d);
        case CUDA_C_64F:
            return Multiply<std::complex<double>, std::complex<double>>(task, a, b, d);
    }
}

// alpha and beta are numbers of the scale's type, on the host.
bool IsNumber(const void* p, const cublasLtMatmulDescOpaque& desc, double expected) {
    if (p == nullptr || cx_test_covers(p, 1)) return false;
    const auto* singles = static_cast<const float*>(p);
    const auto* doubles = static_cast<const double*>(p);
    const auto part = [&](int i) { return IsDouble(desc.scale) ? doubles[i] : singles[i]; };
    return part(0) == expected && (!IsComplex(desc.scale) || part(1) == 0);
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
                return Set(desc->operations[0], value, size);
            case CUBLASLT_MATMUL_DESC_TRANSB:
                return Set(desc->operations[1], value, size);
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
    return Make(preference, {0, CUBLASLT_REDUCTION_SCHEME_MASK, {}});
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
        } else if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) {
            Set(preference->reductions, value, size);
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
        *count = 0;
        CheckAlive({handle, preference, desc, a, b, c, d});
        CheckShapes(*desc, *a, *b, *c, *d);
        Check(most > 0, "cuBLASLt: number of results");
        const auto& told = preference->alignments;
        // Without these the library counts on 256 bytes.
        Check(told.size() == 4, "cuBLASLt: alignments are not told");
        for (const auto& [attribute, alignment] : told) {
            Check(alignment >= SizeOf(d->type) && (alignment & (alignment - 1)) == 0,
                  "cuBLASLt: an alignment is no power of two, or less than a number");
        }
        Check(desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT || desc->bias != nullptr,
              "cuBLASLt: the choice depends on the address of the bias");
        const auto alignment = [&](cublasLtMatmulPreferenceAttributes_t attribute) {
            return told.at(attribute);
        };
        Algorithm algorithm{};
        algorithm.problem = HashProblem(*desc, *a, *b, *d);
        algorithm.work = preference->work >= kWork && d->columns % 2 == 0 ? kWork : 0;
        algorithm.alignments[0] = alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
        algorithm.alignments[1] = alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
        algorithm.alignments[2] = alignment(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
        algorithm.alignments[3] = AlignmentOf(desc->bias);
        algorithm.reductions = preference->reductions;
        std::ostringstream s;
        s << Text("heuristic", *desc, *a, *b, *d) << R"(, "work": )" << preference->work
          << R"(, "reductions": )" << preference->reductions << R"(, "alignments": [)"
          << algorithm.alignments[0] << ", " << algorithm.alignments[1] << ", "
          << algorithm.alignments[2] << ", " << algorithm.alignments[3] << "]}";
        Trace(s.str());
        CheckSupport(*desc, *d);
        results[0] = {};
        std::memcpy(&results[0].algo, &algorithm, sizeof(algorithm));
        results[0].workspaceSize = algorithm.work;
        *count = 1;
    });
}

CX_EXPORT int cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                             const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                             cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                             cublasLtMatrixLayout_t c_layout, void* d,
                             cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* chosen,
                             void* work, std::size_t work_size, CUstream stream) {
    return Run([&] {
        CheckAlive({handle, desc, a_layout, b_layout, c_layout, d_layout});
        const Sizes sizes = CheckShapes(*desc, *a_layout, *b_layout, *c_layout, *d_layout);
        CheckSupport(*desc, *d_layout);
        Check(chosen != nullptr, "cuBLASLt: the stand-in chooses no algorithm in the call");
        Algorithm algorithm;
        std::memcpy(&algorithm, chosen, sizeof(algorithm));
        Check(algorithm.problem == HashProblem(*desc, *a_layout, *b_layout, *d_layout),
              "cuBLASLt: the algorithm is for another product");
        CheckData(a, *a_layout, algorithm.alignments[0], "cuBLASLt: address of the left matrix");
        CheckData(b, *b_layout, algorithm.alignments[1], "cuBLASLt: address of the right matrix");
        CheckData(d, *d_layout, algorithm.alignments[2], "cuBLASLt: address of the result");
        Check(c == d, "cuBLASLt: the stand-in adds nothing");
        Check(IsNumber(alpha, *desc, 1) && IsNumber(beta, *desc, 0),
              "cuBLASLt: the stand-in scales nothing");
        Check(work_size >= algorithm.work &&
                  (work_size == 0 || IsMemory(work, work_size, kWorkAlign)),
              "cuBLASLt: work space");
        Task task{*desc, sizes, {*a_layout, *b_layout, *d_layout}, algorithm.reductions};
        if (desc->epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
            const std::int64_t length =
                HasBias(desc->epilogue) ? d_layout->rows : d_layout->columns;
            Check(IsMemory(desc->bias, length * SizeOf(d_layout->type), algorithm.alignments[3]),
                  "cuBLASLt: address of the bias");
            task.desc.bias = View(desc->bias);
        }
        std::ostringstream s;
        s << Text("matmul", *desc, *a_layout, *b_layout, *d_layout) << R"(, "addresses": [)"
          << reinterpret_cast<std::uintptr_t>(a) << ", " << reinterpret_cast<std::uintptr_t>(b)
          << ", " << reinterpret_cast<std::uintptr_t>(d) << R"(], "work": )"
          << reinterpret_cast<std::uintptr_t>(work) << R"(, "work_size": )" << work_size
          << R"(, "stream": )" << reinterpret_cast<std::uintptr_t>(stream) << "}";
        Trace(s.str());
        const auto run = [=] {
            if (work_size != 0) std::memset(View(work), 0xff, work_size);
            Run(task, View(a), View(b), View(d));
        };
        Enqueue(stream, run, kInvalidValue);
    });
}
