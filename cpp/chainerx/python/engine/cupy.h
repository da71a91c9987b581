// CuPy arrays share memory with chainerx arrays of the backend cuda.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/cuda/gpu.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// cupy.ndarray; null if chainer found no working CuPy.
extern PyTypeObject* g_cupy_ndarray;

inline bool IsCupy(PyObject* o) {
    return g_cupy_ndarray != nullptr && PyObject_TypeCheck(o, g_cupy_ndarray);
}

// Where a chainerx array over the memory of CuPy is used: the order of CuPy's streams is enough for
// scopes of CuPy; elsewhere our streams wait for CuPy's, and CuPy's memory for ours.
enum class CupyUse : uint8_t { kInScopes, kAnywhere };

// A chainerx array over the memory of a CuPy array, on the device of the same number. BackendError
// if the backend can't be loaded; TypeError if chainerx can't hold the array.
Array FromCupy(const char* op, PyObject* array, CupyUse use);

// A CuPy array over the memory of an array of the backend cuda. New reference.
PyObject* ToCupy(const Array& x);

// Where a device is CuPy's current one, which is that of the thread's CUDA context; the one from
// before is current again when it is left. Without effect for devices that are none of CUDA's.
class CupyDeviceScope {
 public:
    explicit CupyDeviceScope(Device& device);
    ~CupyDeviceScope();
    CupyDeviceScope(const CupyDeviceScope&) = delete;
    CupyDeviceScope& operator=(const CupyDeviceScope&) = delete;

 private:
    cuda::Gpu* gpu_{nullptr};
    void* before_{nullptr};
};

// Where this thread computes on CuPy arrays: on the streams that are CuPy's current ones when it is
// entered, so that kernels of both run in the order of the calls. It leaves CuPy's current device
// as it was.
class CupyScope {
 public:
    CupyScope() = default;
    explicit CupyScope(bool is_cupy) {
        if (is_cupy) [[unlikely]] {
            Enter();
        }
    }
    ~CupyScope() {
        if (entered_ != nullptr) [[unlikely]] {
            Leave();
        }
    }
    CupyScope(const CupyScope&) = delete;
    CupyScope& operator=(const CupyScope&) = delete;

    // Once; after the arrays have become chainerx arrays.
    CX_COLD void Enter();
    // The same for work that may also be on chainerx arrays: our current streams and CuPy's wait
    // for each other before and after it.
    CX_COLD void EnterBoth();

 private:
    struct Entered;
    CX_COLD void Leave() noexcept;

    Entered* entered_{nullptr};
};

void InitCupy(PyObject* module);

}  // namespace chainerx::python::engine
