// The stand-in for cuSOLVER.
#include <cstring>
#include <mutex>
#include <set>

#include "dense.h"
#include "standin.h"

namespace chainerx::cuda {

struct cusolverDnContext {
    CUstream stream = nullptr;
    bool has_stream = false;
};
struct cusolverDnParams {};

namespace standin {
namespace {

enum Status { kNotInitialized = 1, kInvalidValue = 3 };
constexpr std::size_t kWork = 512, kHostWork = 24;

std::mutex mutex;
std::set<cusolverDnHandle_t> handles;
std::set<cusolverDnParams_t> all_params;

CUstream StreamOf(cusolverDnHandle_t handle) {
    const std::lock_guard lock{mutex};
    Require(handles.contains(handle), "cuSOLVER: there is no such handle", kNotInitialized);
    Require(handle->has_stream, "cuSOLVER: the handle has no stream", kNotInitialized);
    return handle->stream;
}

void Check(bool condition, const char* what) { Require(condition, what, kInvalidValue); }

cudaDataType RealOf(cudaDataType type) {
    return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

// What all functions of the 64-bit interface have: handles, types, sizes, work space.
void CheckCall(cusolverDnHandle_t handle, cusolverDnParams_t params, cudaDataType type,
               cudaDataType compute_type) {
    StreamOf(handle);
    const std::lock_guard lock{mutex};
    Check(all_params.contains(params), "cuSOLVER: there are no such params");
    Check(type == compute_type && (type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F ||
                                   type == CUDA_C_64F),
          "cuSOLVER: types");
}

void CheckWork(void* work, std::size_t size, void* host_work, std::size_t host_size, int* info) {
    Check(size >= kWork && IsMemory(work, size, 16), "cuSOLVER: work space");
    Check(host_size >= kHostWork && host_work != nullptr, "cuSOLVER: work space of the host");
    Check(IsMemory(info, sizeof(int), sizeof(int)), "cuSOLVER: info");
    std::memset(host_work, 0xff, host_size);
}

void CheckMatrix(const void* a, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                 cudaDataType type) {
    Check(rows >= 0 && columns >= 0 && ld >= std::max<std::int64_t>(rows, 1),
          "cuSOLVER: sizes of a matrix");
    const std::int64_t count = columns == 0 ? 0 : ld * (columns - 1) + rows;
    Check(IsMemory(a, count * SizeOf(type), SizeOf(type)), "cuSOLVER: address of a matrix");
}

void Sizes(std::size_t* device_size, std::size_t* host_size) {
    *device_size = kWork;
    *host_size = kHostWork;
}

// Access to numbers of any type, as the device sees them.
struct Numbers {
    cudaDataType type;
    void* data;
    std::int64_t ld = 0;

    Number Get(std::int64_t i) const {
        if (type == CUDA_R_32F) return static_cast<const float*>(data)[i];
        if (type == CUDA_R_64F) return static_cast<const double*>(data)[i];
        if (type == CUDA_C_32F) return static_cast<const std::complex<float>*>(data)[i];
        return static_cast<const Number*>(data)[i];
    }
    void Set(std::int64_t i, Number z) const {
        if (type == CUDA_R_32F) {
            static_cast<float*>(data)[i] = static_cast<float>(z.real());
        } else if (type == CUDA_R_64F) {
            static_cast<double*>(data)[i] = z.real();
        } else if (type == CUDA_C_32F) {
            static_cast<std::complex<float>*>(data)[i] = std::complex<float>(z);
        } else {
            static_cast<Number*>(data)[i] = z;
        }
    }
    Matrix Load(std::int64_t rows, std::int64_t columns) const {
        Matrix a{rows, columns};
        for (std::int64_t j = 0; j < columns; ++j) {
            for (std::int64_t i = 0; i < rows; ++i) a(i, j) = Get(j * ld + i);
        }
        return a;
    }
    void Store(const Matrix& a) const {
        for (std::int64_t j = 0; j < a.columns; ++j) {
            for (std::int64_t i = 0; i < a.rows; ++i) Set(j * ld + i, a(i, j));
        }
    }
};

Numbers At(cudaDataType type, const void* data, std::int64_t ld = 0) {
    return {type, View(const_cast<void*>(data)), ld};
}

// Runs f, which returns the info, in the stream.
template <typename F>
void Queue(cusolverDnHandle_t handle, void* work, std::size_t size, int* info, F f) {
    Enqueue(
        StreamOf(handle),
        [=] {
            if (work != nullptr) std::memset(View(work), 0xff, size);
            *View(info) = f();
        },
        kInvalidValue);
}

Matrix Adjoint(const Matrix& a) {
    Matrix b{a.columns, a.rows};
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.columns; ++j) b(j, i) = std::conj(a(i, j));
    }
    return b;
}

// As the library stores the vectors of real matrices; conjugate pairs follow each other.
void StorePairs(const Numbers& w, const Numbers& v, bool has_vectors, std::vector<Number> values,
                const Matrix& vectors, double scale) {
    const std::int64_t n = vectors.rows;
    std::int64_t to = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        if (std::abs(values[j].imag()) <= 1e-12 * scale) values[j] = values[j].real();
        if (values[j].imag() < 0) continue;
        const bool is_pair = values[j].imag() > 0;
        Number phase = 1;
        if (!is_pair) {  // the vector of a real eigenvalue is real
            std::int64_t largest = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                if (std::abs(vectors(i, j)) > std::abs(vectors(largest, j))) largest = i;
            }
            phase = std::abs(vectors(largest, j)) / vectors(largest, j);
        }
        for (int k = 0; k < (is_pair ? 2 : 1) && to < n; ++k, ++to) {
            w.Set(to, k == 0 ? values[j] : std::conj(values[j]));
            for (std::int64_t i = 0; i < n && has_vectors; ++i) {
                const Number z = vectors(i, j) * phase;
                v.Set(to * v.ld + i, k == 0 ? z.real() : z.imag());
            }
        }
    }
}

template <typename T>
int MakeQ(cudaDataType type, cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda,
          const T* tau, T* work, int size, int* info) {
    return Run([&] {
        Check(m >= n && n >= k && k >= 0 && lda >= m, "cuSOLVER: sizes of reflections");
        CheckMatrix(a, m, n, lda, type);
        CheckMatrix(tau, k, 1, k, type);
        Check(size >= n && IsMemory(work, size * sizeof(T), sizeof(T)), "cuSOLVER: work space");
        Check(IsMemory(info, sizeof(int), sizeof(int)), "cuSOLVER: info");
        Queue(handle, work, size * sizeof(T), info, [=] {
            const Matrix taus = At(type, tau, k).Load(k, 1);
            At(type, a, lda).Store(MakeQ(At(type, a, lda).Load(m, n), k, taus.numbers.data()));
            return 0;
        });
    });
}

}  // namespace
}  // namespace standin
}  // namespace chainerx::cuda

using namespace chainerx::cuda;
using namespace chainerx::cuda::standin;

CX_EXPORT int cusolverGetVersion(int* version) {
    *version = 12401;
    return 0;
}

CX_EXPORT int cusolverDnCreate(cusolverDnHandle_t* handle) {
    const std::lock_guard lock{mutex};
    *handle = *handles.insert(new cusolverDnContext).first;
    return 0;
}

CX_EXPORT int cusolverDnSetStream(cusolverDnHandle_t handle, CUstream stream) {
    const std::lock_guard lock{mutex};
    return Run([&] {
        Require(handles.contains(handle), "cuSOLVER: there is no such handle", kNotInitialized);
        *handle = {stream, true};
    });
}

CX_EXPORT int cusolverDnCreateParams(cusolverDnParams_t* params) {
    const std::lock_guard lock{mutex};
    *params = *all_params.insert(new cusolverDnParams).first;
    return 0;
}

CX_EXPORT int cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                          std::int64_t m, std::int64_t n, cudaDataType type,
                                          const void* a, std::int64_t lda, cudaDataType compute,
                                          std::size_t* device_size, std::size_t* host_size) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        CheckMatrix(a, m, n, lda, type);
        Sizes(device_size, host_size);
    });
}

CX_EXPORT int cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, std::int64_t m,
                               std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                               std::int64_t* pivots, cudaDataType compute, void* work,
                               std::size_t size, void* host_work, std::size_t host_size,
                               int* info) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        CheckMatrix(a, m, n, lda, type);
        CheckWork(work, size, host_work, host_size, info);
        Check(m == n, "cuSOLVER: the stand-in factors square matrices only");
        Check(IsMemory(pivots, n * sizeof(std::int64_t), 8), "cuSOLVER: pivots");
        Queue(handle, work, size, info, [=] {
            Matrix x = At(type, a, lda).Load(n, n);
            const int result = FactorLu(x, View(pivots));
            At(type, a, lda).Store(x);
            return result;
        });
    });
}

CX_EXPORT int cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                               cublasOperation_t operation, std::int64_t n, std::int64_t columns,
                               cudaDataType type, const void* a, std::int64_t lda,
                               const std::int64_t* pivots, cudaDataType b_type, void* b,
                               std::int64_t ldb, int* info) {
    return Run([&] {
        CheckCall(handle, params, type, b_type);
        Check(operation == CUBLAS_OP_N, "cuSOLVER: the stand-in transposes nothing");
        CheckMatrix(a, n, n, lda, type);
        CheckMatrix(b, n, columns, ldb, type);
        Check(IsMemory(pivots, n * sizeof(std::int64_t), 8), "cuSOLVER: pivots");
        Check(IsMemory(info, sizeof(int), sizeof(int)), "cuSOLVER: info");
        Queue(handle, nullptr, 0, info, [=] {
            Matrix x = At(type, b, ldb).Load(n, columns);
            SolveLu(At(type, a, lda).Load(n, n), View(pivots), x);
            At(type, b, ldb).Store(x);
            return 0;
        });
    });
}

CX_EXPORT int cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                          cublasFillMode_t, std::int64_t n, cudaDataType type,
                                          const void* a, std::int64_t lda, cudaDataType compute,
                                          std::size_t* device_size, std::size_t* host_size) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        CheckMatrix(a, n, n, lda, type);
        Sizes(device_size, host_size);
    });
}

CX_EXPORT int cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                               cublasFillMode_t triangle, std::int64_t n, cudaDataType type,
                               void* a, std::int64_t lda, cudaDataType compute, void* work,
                               std::size_t size, void* host_work, std::size_t host_size,
                               int* info) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        CheckMatrix(a, n, n, lda, type);
        CheckWork(work, size, host_work, host_size, info);
        Check(triangle == CUBLAS_FILL_MODE_UPPER, "cuSOLVER: the stand-in has upper factors only");
        Queue(handle, work, size, info, [=] {
            Matrix x = At(type, a, lda).Load(n, n);
            const int result = FactorCholesky(x);
            At(type, a, lda).Store(x);
            return result;
        });
    });
}

CX_EXPORT int cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                          std::int64_t m, std::int64_t n, cudaDataType type,
                                          const void* a, std::int64_t lda, cudaDataType tau_type,
                                          const void*, cudaDataType compute,
                                          std::size_t* device_size, std::size_t* host_size) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(tau_type == type, "cuSOLVER: types");
        CheckMatrix(a, m, n, lda, type);
        Sizes(device_size, host_size);
    });
}

CX_EXPORT int cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, std::int64_t m,
                               std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                               cudaDataType tau_type, void* tau, cudaDataType compute, void* work,
                               std::size_t size, void* host_work, std::size_t host_size,
                               int* info) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(tau_type == type, "cuSOLVER: types");
        CheckMatrix(a, m, n, lda, type);
        const std::int64_t k = std::min(m, n);
        CheckMatrix(tau, k, 1, k, type);
        CheckWork(work, size, host_work, host_size, info);
        Queue(handle, work, size, info, [=] {
            Matrix x = At(type, a, lda).Load(m, n), taus{k, 1};
            FactorQr(x, taus.numbers.data());
            At(type, a, lda).Store(x);
            At(type, tau, k).Store(taus);
            return 0;
        });
    });
}

CX_EXPORT int cusolverDnXgesvd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                          signed char, signed char, std::int64_t m, std::int64_t n,
                                          cudaDataType type, const void* a, std::int64_t lda,
                                          cudaDataType s_type, const void*, cudaDataType u_type,
                                          const void*, std::int64_t, cudaDataType vt_type,
                                          const void*, std::int64_t, cudaDataType compute,
                                          std::size_t* device_size, std::size_t* host_size) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(s_type == RealOf(type) && u_type == type && vt_type == type, "cuSOLVER: types");
        CheckMatrix(a, m, n, lda, type);
        Sizes(device_size, host_size);
    });
}

CX_EXPORT int cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                               signed char job_u, signed char job_vt, std::int64_t m,
                               std::int64_t n, cudaDataType type, void* a, std::int64_t lda,
                               cudaDataType s_type, void* s, cudaDataType u_type, void* u,
                               std::int64_t ldu, cudaDataType vt_type, void* vt, std::int64_t ldvt,
                               cudaDataType compute, void* work, std::size_t size, void* host_work,
                               std::size_t host_size, int* info) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(s_type == RealOf(type) && u_type == type && vt_type == type, "cuSOLVER: types");
        Check(m >= n, "cuSOLVER: gesvd needs at least as many rows as columns");
        Check(job_u == job_vt && (job_u == 'N' || job_u == 'S' || job_u == 'A'), "cuSOLVER: jobs");
        CheckMatrix(a, m, n, lda, type);
        CheckMatrix(s, n, 1, n, s_type);
        const std::int64_t columns = job_u == 'A' ? m : job_u == 'S' ? n : 0;
        if (columns != 0) CheckMatrix(u, m, columns, ldu, type);
        if (columns != 0) CheckMatrix(vt, n, n, ldvt, type);
        CheckWork(work, size, host_work, host_size, info);
        Queue(handle, work, size, info, [=] {
            Matrix left{0, 0}, right{0, 0};
            std::vector<double> values(n);
            FindSingularValues(At(type, a, lda).Load(m, n), columns, left, values.data(), right);
            for (std::int64_t k = 0; k < n; ++k) At(s_type, s).Set(k, values[k]);
            if (columns != 0) At(type, u, ldu).Store(left);
            if (columns != 0) At(type, vt, ldvt).Store(Adjoint(right));
            At(type, a, lda).Store(Matrix{m, n});
            return 0;
        });
    });
}

CX_EXPORT int cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                          cusolverEigMode_t, cublasFillMode_t, std::int64_t n,
                                          cudaDataType type, const void* a, std::int64_t lda,
                                          cudaDataType w_type, const void*, cudaDataType compute,
                                          std::size_t* device_size, std::size_t* host_size) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(w_type == RealOf(type), "cuSOLVER: types");
        CheckMatrix(a, n, n, lda, type);
        Sizes(device_size, host_size);
    });
}

CX_EXPORT int cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                               cusolverEigMode_t job, cublasFillMode_t triangle, std::int64_t n,
                               cudaDataType type, void* a, std::int64_t lda, cudaDataType w_type,
                               void* w, cudaDataType compute, void* work, std::size_t size,
                               void* host_work, std::size_t host_size, int* info) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(w_type == RealOf(type), "cuSOLVER: types");
        CheckMatrix(a, n, n, lda, type);
        CheckMatrix(w, n, 1, n, w_type);
        CheckWork(work, size, host_work, host_size, info);
        Queue(handle, work, size, info, [=] {
            Matrix x = At(type, a, lda).Load(n, n);
            for (std::int64_t j = 0; j < n; ++j) {
                for (std::int64_t i = 0; i < j; ++i) {
                    if (triangle == CUBLAS_FILL_MODE_UPPER) {
                        x(j, i) = std::conj(x(i, j));
                    } else {
                        x(i, j) = std::conj(x(j, i));
                    }
                }
            }
            std::vector<double> values(n);
            FindHermitianEigen(x, values.data());
            for (std::int64_t k = 0; k < n; ++k) At(w_type, w).Set(k, values[k]);
            At(type, a, lda).Store(job == CUSOLVER_EIG_MODE_VECTOR ? x : Matrix{n, n});
            return 0;
        });
    });
}

CX_EXPORT int cusolverDnXgeev_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         cusolverEigMode_t job_vl, cusolverEigMode_t,
                                         std::int64_t n, cudaDataType type, const void* a,
                                         std::int64_t lda, cudaDataType, const void*,
                                         cudaDataType vl_type, const void*, std::int64_t,
                                         cudaDataType vr_type, const void*, std::int64_t,
                                         cudaDataType compute, std::size_t* device_size,
                                         std::size_t* host_size) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(vl_type == type && vr_type == type, "cuSOLVER: types");
        Check(job_vl == CUSOLVER_EIG_MODE_NOVECTOR, "cuSOLVER: left eigenvectors");
        CheckMatrix(a, n, n, lda, type);
        Sizes(device_size, host_size);
    });
}

CX_EXPORT int cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params,
                              cusolverEigMode_t job_vl, cusolverEigMode_t job_vr, std::int64_t n,
                              cudaDataType type, void* a, std::int64_t lda, cudaDataType w_type,
                              void* w, cudaDataType vl_type, void*, std::int64_t,
                              cudaDataType vr_type, void* vr, std::int64_t ldvr,
                              cudaDataType compute, void* work, std::size_t size, void* host_work,
                              std::size_t host_size, int* info) {
    return Run([&] {
        CheckCall(handle, params, type, compute);
        Check(vl_type == type && vr_type == type && RealOf(w_type) == RealOf(type) &&
                  w_type != RealOf(type),
              "cuSOLVER: types");
        Check(job_vl == CUSOLVER_EIG_MODE_NOVECTOR, "cuSOLVER: left eigenvectors");
        const bool has_vectors = job_vr == CUSOLVER_EIG_MODE_VECTOR;
        CheckMatrix(a, n, n, lda, type);
        CheckMatrix(w, n, 1, n, w_type);
        if (has_vectors) CheckMatrix(vr, n, n, ldvr, type);
        CheckWork(work, size, host_work, host_size, info);
        Queue(handle, work, size, info, [=] {
            const Matrix x = At(type, a, lda).Load(n, n);
            Matrix vectors{0, 0};
            std::vector<Number> values(n);
            if (!FindEigen(x, values.data(), vectors)) return 1;
            if (type == RealOf(type)) {
                StorePairs(At(w_type, w), At(type, vr, ldvr), has_vectors, values, vectors,
                           Norm(n * n, x.numbers.data()));
                return 0;
            }
            for (std::int64_t k = 0; k < n; ++k) At(w_type, w).Set(k, values[k]);
            if (has_vectors) At(type, vr, ldvr).Store(vectors);
            return 0;
        });
    });
}

#define CX_REFLECTIONS(name, T, type)                                                             \
    CX_EXPORT int cusolverDn##name##_bufferSize(cusolverDnHandle_t, int, int n, int, const T*,    \
                                                int, const T*, int* size) {                       \
        *size = std::max(n, 1);                                                                   \
        return 0;                                                                                 \
    }                                                                                             \
    CX_EXPORT int cusolverDn##name(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, \
                                   const T* tau, T* work, int size, int* info) {                  \
        return MakeQ<T>(type, handle, m, n, k, a, lda, tau, work, size, info);                    \
    }
CX_REFLECTIONS(Sorgqr, float, CUDA_R_32F)
CX_REFLECTIONS(Dorgqr, double, CUDA_R_64F)
CX_REFLECTIONS(Cungqr, std::complex<float>, CUDA_C_32F)
CX_REFLECTIONS(Zungqr, std::complex<double>, CUDA_C_64F)
