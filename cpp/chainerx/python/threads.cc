// The thread pool, and the search path of OpenBLAS, as Python sees them.
#include <algorithm>
#include <climits>
#include <string>

#include "chainerx/core/openblas.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(get_num_threads, ") -> int",
           "The number of threads that one operation may use on a native device.\n\n"
           "Returns:\n"
           "    int: Initially ``$CHAINERX_NUM_THREADS``, else the number of CPUs that this "
           "process may use.") {
    return PyLong_FromLong(GetNumThreads());
}

CX_ROUTINE(set_num_threads, "n: int) -> None",
           "Sets the number of threads that one operation may use, for the whole process.\n\n"
           "Results don't depend on it.\n\n"
           "Args:\n    n (int): 1 to 1024.\n"
           "Raises:\n    ValueError: For any other number.") {
    const int64_t n = ToInt("set_num_threads", "n", a[0]);
    SetNumThreads(static_cast<int>(std::clamp<int64_t>(n, INT_MIN, INT_MAX)));
    Py_RETURN_NONE;
}

CX_ROUTINE(
    _set_openblas_path, "path: str) -> None",
    "Sets the folder of libscipy_openblas.so, which is loaded by the first matrix product.") {
    SetOpenBlasPath(std::string{ToString("_set_openblas_path", "path", a[0])}.c_str());
    Py_RETURN_NONE;
}

}  // namespace
}  // namespace chainerx::python
