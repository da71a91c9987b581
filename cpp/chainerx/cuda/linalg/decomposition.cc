// Decompositions of matrices by cuSOLVER, one of a batch after the other.
//
// It reads matrices by columns, so it sees transposed ones, unless a copy is made.
#include <algorithm>
#include <climits>
#include <complex>

#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/linalg/matrices.h"
#include "chainerx/cuda/linalg/solver.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/error_site.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/kernels/elementwise/complex.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/shape/creation.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

void Copy(const Array& from, const Array& to) { CallOn<kernels::AsType>(to.device(), from, to); }

void ConjugateInPlace(const Array& a) {
    if (IsComplex(a.dtype())) CallOn<kernels::ComplexConjugate>(a.device(), a, a);
}

void CheckFiniteMatrices(CudaDevice& device, const char* op, const Array& a, MatrixPart part) {
    MatrixParams params = MakeMatrixParams(a);
    params.part = part;
    params.site = MakeErrorSite(KernelError::NotFinite(op, "a", 0));
    LaunchMatrices(device, MatrixKernel::kCheckFinite, a.dtype(), params);
}

// The i-th of matrices (count, size).
void* MatrixAt(const Array& a, int64_t i, int64_t size) {
    return a.raw_data() + i * size * a.GetItemSize();
}

// Ones on the diagonals.
void FillIdentity(const Array& a) {
    if (a.GetTotalSize() == 0) return;
    CallOn<kernels::Fill>(a.device(), a, Scalar{0});
    Strides strides(a.strides().begin(), a.strides().end() - 1);
    Shape shape(a.shape().begin(), a.shape().end() - 1);
    strides.back() = a.strides()[a.ndim() - 2] + a.strides()[a.ndim() - 1];
    shape.back() = std::min(Rows(a), Columns(a));
    CallOn<kernels::Fill>(a.device(), internal::MakeView(a, shape, strides, a.raw_data()),
                          Scalar{1});
}

// Xgesvd takes matrices with at least as many rows as columns.
void SingularValues(const char* op, const Array& a, const Array& u, const Array& s,
                    const Array& vh) {
    const int64_t m = Rows(a);
    const int64_t n = Columns(a);
    const int64_t count = CountMatrices(a);
    const bool has_vectors = u.ndim() == a.ndim();
    if (count == 0) return;
    if (m == 0 || n == 0) {
        if (has_vectors) FillIdentity(u);
        if (has_vectors) FillIdentity(vh);
        return;
    }
    CudaDevice& device = Prepare(a, u, s, vh);
    CheckFiniteMatrices(device, op, a, MatrixPart::kAll);
    // a^T = vh^T diag(s) u^T has the factors in place; a itself, by columns, needs copies.
    const bool is_tall = m > n;
    const Array columns = is_tall ? ContiguousCopy(Transposed(a)) : a;
    const auto factor = [&](const Array& x) {
        return !has_vectors || !is_tall
                   ? x
                   : EmptyUnchecked(Transposed(x).shape(), x.dtype(), x.device());
    };
    const Array left = factor(is_tall ? u : vh);
    const Array right = factor(is_tall ? vh : u);
    Prepare(columns, left, right);
    const int64_t rows = std::max(m, n);
    const int64_t k = std::min(m, n);
    const int64_t left_columns = has_vectors ? (is_tall ? Columns(u) : Rows(vh)) : 0;
    const auto job = static_cast<signed char>(!has_vectors           ? 'N'
                                              : left_columns == rows ? 'A'
                                                                     : 'S');
    const cudaDataType type = DataTypeOf(a.dtype());
    const cudaDataType real = DataTypeOf(s.dtype());
    const auto data = [&](const Array& x, int64_t i, int64_t size) {
        return has_vectors ? MatrixAt(x, i, size) : nullptr;
    };
    {
        Solver solver{device, count};
        size_t sizes[2] = {};
        CX_CUSOLVER_CALL(XgesvdSize, solver.handle(), solver.params(), job, job, rows, k, type,
                         columns.raw_data(), rows, real, s.raw_data(), type, data(left, 0, 0), rows,
                         type, data(right, 0, 0), k, type, &sizes[0], &sizes[1]);
        solver.Reserve(sizes[0], sizes[1]);
        for (int64_t i = 0; i < count; ++i) {
            CX_CUSOLVER_CALL(Xgesvd, solver.handle(), solver.params(), job, job, rows, k, type,
                             MatrixAt(columns, i, m * n), rows, real, MatrixAt(s, i, k), type,
                             data(left, i, rows * left_columns), rows, type, data(right, i, k * k),
                             k, type, solver.device_work(), solver.device_size(),
                             solver.host_work(), solver.host_size(), solver.InfoOf(i));
        }
        CheckInfo(device, solver.info(), 0, KernelError::NoConvergence(op, "a", 0, 0));
    }
    if (has_vectors && is_tall) {
        Copy(Transposed(left), u);
        Copy(Transposed(right), vh);
    }
}
CX_CUDA_KERNEL(SingularValues)

// Seen by columns, the matrices are the conjugate ones: they have the same eigenvalues and
// conjugate vectors, and the other triangle.
void SymmetricEigen(const char* op, bool lower, bool vectors, const Array& a, const Array& w) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    CudaDevice& device = Prepare(a, w);
    CheckFiniteMatrices(device, op, a, lower ? MatrixPart::kLower : MatrixPart::kUpper);
    const cublasFillMode_t triangle = lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const cusolverEigMode_t job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const cudaDataType type = DataTypeOf(a.dtype());
    const cudaDataType real = DataTypeOf(w.dtype());
    {
        Solver solver{device, count};
        size_t sizes[2] = {};
        CX_CUSOLVER_CALL(XsyevdSize, solver.handle(), solver.params(), job, triangle, n, type,
                         a.raw_data(), n, real, w.raw_data(), type, &sizes[0], &sizes[1]);
        solver.Reserve(sizes[0], sizes[1]);
        for (int64_t i = 0; i < count; ++i) {
            CX_CUSOLVER_CALL(Xsyevd, solver.handle(), solver.params(), job, triangle, n, type,
                             MatrixAt(a, i, n * n), n, real, MatrixAt(w, i, n), type,
                             solver.device_work(), solver.device_size(), solver.host_work(),
                             solver.host_size(), solver.InfoOf(i));
        }
        CheckInfo(device, solver.info(), 0, KernelError::NoConvergence(op, "a", 0, 0));
    }
    if (!vectors) return;
    Copy(Transposed(ContiguousCopy(a)), a);
    ConjugateInPlace(a);
}
CX_CUDA_KERNEL(SymmetricEigen)

void Eigen(const char* op, const Array& a, const Array& w, const Array& v) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    const bool has_vectors = v.ndim() == a.ndim();
    const bool is_real = !IsComplex(a.dtype());
    CudaDevice& device = Prepare(a, w, v);
    CheckFiniteMatrices(device, op, a, MatrixPart::kAll);
    const Array columns = ContiguousCopy(Transposed(a));
    // By columns; of real matrices a conjugate pair is two columns of real numbers.
    const Array vectors = has_vectors ? EmptyUnchecked(a.shape(), a.dtype(), device) : columns;
    Prepare(columns, vectors);
    const cudaDataType type = DataTypeOf(a.dtype());
    const cudaDataType w_type = DataTypeOf(w.dtype());
    const cusolverEigMode_t job =
        has_vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const auto right = [&](int64_t i) {
        return has_vectors ? MatrixAt(vectors, i, n * n) : nullptr;
    };
    {
        Solver solver{device, count};
        size_t sizes[2] = {};
        CX_CUSOLVER_CALL(XgeevSize, solver.handle(), solver.params(), CUSOLVER_EIG_MODE_NOVECTOR,
                         job, n, type, columns.raw_data(), n, w_type, w.raw_data(), type, nullptr,
                         n, type, right(0), n, type, &sizes[0], &sizes[1]);
        solver.Reserve(sizes[0], sizes[1]);
        for (int64_t i = 0; i < count; ++i) {
            CX_CUSOLVER_CALL(Xgeev, solver.handle(), solver.params(), CUSOLVER_EIG_MODE_NOVECTOR,
                             job, n, type, MatrixAt(columns, i, n * n), n, w_type,
                             MatrixAt(w, i, n), type, nullptr, n, type, right(i), n, type,
                             solver.device_work(), solver.device_size(), solver.host_work(),
                             solver.host_size(), solver.InfoOf(i));
        }
        CheckInfo(device, solver.info(), 0, KernelError::NoConvergence(op, "a", 0, 0));
    }
    if (!has_vectors) return;
    if (!is_real) {
        Copy(Transposed(vectors), v);
        return;
    }
    MatrixParams params = MakeMatrixParams(vectors);
    params.b = v.raw_data();
    params.outs[0] = w.raw_data();
    LaunchMatrices(device, MatrixKernel::kMakeComplexVectors, v.dtype(), params);
}
CX_CUDA_KERNEL(Eigen)

void FactorOrthogonal(const char*, const Array& a, const Array& tau) {
    const int64_t m = Rows(a);
    const int64_t n = Columns(a);
    const int64_t k = std::min(m, n);
    const int64_t count = CountMatrices(a);
    if (k == 0 || count == 0) return;
    const Array columns = ContiguousCopy(Transposed(a));
    CudaDevice& device = Prepare(columns, tau);
    const cudaDataType type = DataTypeOf(a.dtype());
    {
        Solver solver{device, count};
        size_t sizes[2] = {};
        CX_CUSOLVER_CALL(XgeqrfSize, solver.handle(), solver.params(), m, n, type,
                         columns.raw_data(), m, type, tau.raw_data(), type, &sizes[0], &sizes[1]);
        solver.Reserve(sizes[0], sizes[1]);
        for (int64_t i = 0; i < count; ++i) {
            CX_CUSOLVER_CALL(Xgeqrf, solver.handle(), solver.params(), m, n, type,
                             MatrixAt(columns, i, m * n), m, type, MatrixAt(tau, i, k), type,
                             solver.device_work(), solver.device_size(), solver.host_work(),
                             solver.host_size(), solver.InfoOf(i));
        }
    }
    Copy(Transposed(columns), a);
    ConjugateInPlace(tau);
}
CX_CUDA_KERNEL(FactorOrthogonal)

// The products of reflections have no 64-bit interface. `size_of` and `run` are of one dtype.
template <typename T, typename SizeOf, typename Run>
void MakeFactors(CudaDevice& device, const Array& columns, const Array& tau, const char* name,
                 SizeOf* size_of, Run* run) {
    const int64_t m = Columns(columns);
    const int64_t n = Rows(columns);
    const int64_t k = tau.shape().back();
    const int64_t count = CountMatrices(columns);
    const auto rows = static_cast<int>(m);
    const auto width = static_cast<int>(n);
    const auto reflections = static_cast<int>(k);
    Solver solver{device, count};
    const auto at = [](const Array& x, int64_t i, int64_t size) {
        return static_cast<T*>(MatrixAt(x, i, size));
    };
    int size = 0;
    const FoundLibrary& library = GetCusolver().library;
    CallLibrary(library, name, size_of, solver.handle(), rows, width, reflections,
                static_cast<const T*>(at(columns, 0, 0)), rows,
                static_cast<const T*>(at(tau, 0, 0)), &size);
    solver.Reserve(static_cast<size_t>(size) * sizeof(T), 0);
    for (int64_t i = 0; i < count; ++i) {
        CallLibrary(library, name, run, solver.handle(), rows, width, reflections,
                    at(columns, i, m * n), rows, static_cast<const T*>(at(tau, i, k)),
                    static_cast<T*>(solver.device_work()), size, solver.InfoOf(i));
    }
}

void MakeOrthogonal(const char* op, const Array& q, const Array& tau) {
    if (q.GetTotalSize() == 0) return;
    if (tau.shape().back() == 0) {
        FillIdentity(q);
        return;
    }
    if (std::max(Rows(q), Columns(q)) > INT_MAX) {
        throw DimensionError{op,         ": a has matrices of ",
                             Rows(q),    " x ",
                             Columns(q), ", which 32-bit integers of cuSOLVER can't do"};
    }
    const Array columns = ContiguousCopy(Transposed(q));
    const Array taus = IsComplex(tau.dtype()) ? ContiguousCopy(tau) : tau;
    ConjugateInPlace(taus);
    CudaDevice& device = Prepare(columns, taus);
    const Cusolver& s = GetCusolver();
    switch (q.dtype()) {
        case Dtype::kFloat32:
            MakeFactors<float>(device, columns, taus, "cusolverDnSorgqr", s.SorgqrSize, s.Sorgqr);
            break;
        case Dtype::kFloat64:
            MakeFactors<double>(device, columns, taus, "cusolverDnDorgqr", s.DorgqrSize, s.Dorgqr);
            break;
        case Dtype::kComplex64:
            MakeFactors<std::complex<float>>(device, columns, taus, "cusolverDnCungqr",
                                             s.CungqrSize, s.Cungqr);
            break;
        default:
            MakeFactors<std::complex<double>>(device, columns, taus, "cusolverDnZungqr",
                                              s.ZungqrSize, s.Zungqr);
    }
    Copy(Transposed(columns), q);
}
CX_CUDA_KERNEL(MakeOrthogonal)

}  // namespace
}  // namespace chainerx::cuda
