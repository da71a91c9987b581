// Solutions, determinants and Cholesky factors: small matrices by kernels of our own, a block each,
// large ones by cuSOLVER.
#include "chainerx/core/error.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/linalg/matrices.h"
#include "chainerx/cuda/linalg/solver.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/kernels/shape/creation.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::cuda {
namespace {

constexpr int64_t kSmallMatrix = 64;

// The LU factors of all matrices, by rows, or by columns if cuSOLVER has made them.
struct LuFactors {
    Array factors;
    Array pivots;
    Array info;
    bool by_columns;
};

LuFactors FactorAll(const Array& a) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    CudaDevice& device = Prepare(a);
    const Array pivots = EmptyUnchecked(Shape{count, n}, Dtype::kInt64, device);
    Prepare(pivots);
    if (n <= kSmallMatrix) {
        const Array info = EmptyUnchecked(Shape{count}, Dtype::kInt32, device);
        Prepare(info);
        MatrixParams params = MakeMatrixParams(a);
        params.pivots = pivots.raw_data();
        params.info = info.raw_data();
        LaunchMatrices(device, MatrixKernel::kFactorLu, a.dtype(), params);
        return {a, pivots, info, false};
    }
    const Array at = ContiguousCopy(Transposed(a));
    Prepare(at);
    Solver solver{device, count};
    const cudaDataType type = DataTypeOf(a.dtype());
    size_t sizes[2] = {};
    CX_CUSOLVER_CALL(XgetrfSize, solver.handle(), solver.params(), n, n, type, at.raw_data(), n,
                     type, &sizes[0], &sizes[1]);
    solver.Reserve(sizes[0], sizes[1]);
    for (int64_t i = 0; i < count; ++i) {
        CX_CUSOLVER_CALL(Xgetrf, solver.handle(), solver.params(), n, n, type,
                         at.raw_data() + i * n * n * a.GetItemSize(), n,
                         reinterpret_cast<int64_t*>(pivots.raw_data()) + i * n, type,
                         solver.device_work(), solver.device_size(), solver.host_work(),
                         solver.host_size(), solver.InfoOf(i));
    }
    return {at, pivots, solver.info(), true};
}

void SolveInPlace(const char* op, const Array& a, const Array& b) {
    const int64_t n = Rows(a);
    const int64_t columns = Columns(b);
    const int64_t count = CountMatrices(a);
    if (n == 0 || columns == 0 || count == 0) return;
    const LuFactors lu = FactorAll(a);
    CudaDevice& device = Prepare(b);
    CheckInfo(device, lu.info, 1, KernelError::Singular(op, "a", 0, 0, n));
    if (!lu.by_columns) {
        MatrixParams params = MakeMatrixParams(lu.factors);
        params.b = b.raw_data();
        params.columns = columns;
        params.pivots = lu.pivots.raw_data();
        LaunchMatrices(device, MatrixKernel::kSolveFactored, a.dtype(), params);
        return;
    }
    const Array bt = columns == 1 ? b : ContiguousCopy(Transposed(b));
    Prepare(bt);
    {
        const Solver solver{device, 1};
        const cudaDataType type = DataTypeOf(a.dtype());
        const int64_t size = a.GetItemSize();
        for (int64_t i = 0; i < count; ++i) {
            CX_CUSOLVER_CALL(Xgetrs, solver.handle(), solver.params(), CUBLAS_OP_N, n, columns,
                             type, lu.factors.raw_data() + i * n * n * size, n,
                             reinterpret_cast<const int64_t*>(lu.pivots.raw_data()) + i * n, type,
                             bt.raw_data() + i * n * columns * size, n, solver.InfoOf(0));
        }
    }
    if (columns != 1) CallOn<kernels::AsType>(b.device(), Transposed(bt), b);
}
CX_CUDA_KERNEL(SolveInPlace)

void Determinant(const Array& a, const Array& det, const Array& sign, const Array& log) {
    if (det.GetTotalSize() == 0) return;
    const bool is_empty = Rows(a) == 0;
    const LuFactors lu = is_empty ? LuFactors{} : FactorAll(a);
    CudaDevice& device = Prepare(det, sign, log);
    MatrixParams params = MakeMatrixParams(is_empty ? a : lu.factors);
    params.pivots = is_empty ? nullptr : lu.pivots.raw_data();
    params.b = det.raw_data();
    params.outs[0] = sign.raw_data();
    params.outs[1] = log.raw_data();
    LaunchMatrices(device, MatrixKernel::kDeterminants, a.dtype(), params);
}
CX_CUDA_KERNEL(Determinant)

void Diagonalize(const Array& a, const Array& x, const Array& d, const Array& y) {
    const int64_t n = Rows(a);
    if (a.GetTotalSize() == 0) return;
    const Array pivots = EmptyUnchecked(Shape{CountMatrices(a), 2, n}, Dtype::kInt64, a.device());
    CudaDevice& device = Prepare(a, x, d, y, pivots);
    MatrixParams params = MakeMatrixParams(a);
    params.pivots = pivots.raw_data();
    params.outs[0] = x.raw_data();
    params.outs[1] = d.raw_data();
    params.outs[2] = y.raw_data();
    LaunchMatrices(device, MatrixKernel::kDiagonalize, a.dtype(), params);
}
CX_CUDA_KERNEL(Diagonalize)

// As cuSOLVER reads the matrix by columns, it is the conjugate one, whose upper triangle is read.
void CholeskyInPlace(const Array& a) {
    const int64_t n = Rows(a);
    const int64_t count = CountMatrices(a);
    if (n == 0 || count == 0) return;
    CudaDevice& device = Prepare(a);
    const KernelError error = KernelError::Indefinite("cholesky", "a", 0, 0, n);
    if (n <= kSmallMatrix) {
        const Array info = EmptyUnchecked(Shape{count}, Dtype::kInt32, device);
        Prepare(info);
        MatrixParams params = MakeMatrixParams(a);
        params.info = info.raw_data();
        LaunchMatrices(device, MatrixKernel::kFactorCholesky, a.dtype(), params);
        CheckInfo(device, info, 1, error);
        return;
    }
    {
        Solver solver{device, count};
        const cudaDataType type = DataTypeOf(a.dtype());
        size_t sizes[2] = {};
        CX_CUSOLVER_CALL(XpotrfSize, solver.handle(), solver.params(), CUBLAS_FILL_MODE_UPPER, n,
                         type, a.raw_data(), n, type, &sizes[0], &sizes[1]);
        solver.Reserve(sizes[0], sizes[1]);
        for (int64_t i = 0; i < count; ++i) {
            CX_CUSOLVER_CALL(Xpotrf, solver.handle(), solver.params(), CUBLAS_FILL_MODE_UPPER, n,
                             type, a.raw_data() + i * n * n * a.GetItemSize(), n, type,
                             solver.device_work(), solver.device_size(), solver.host_work(),
                             solver.host_size(), solver.InfoOf(i));
        }
        CheckInfo(device, solver.info(), 1, error);
    }
    CallOn<kernels::Triangle>(a.device(), a, 0, true, a);
}
CX_CUDA_KERNEL(CholeskyInPlace)

}  // namespace
}  // namespace chainerx::cuda
