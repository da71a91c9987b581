// Window functions for spectra and filters.
#include "chainerx/ops/signal/windows.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"

namespace chainerx::python {
namespace {

#define CX_ARGS_M \
    "\n\n"        \
    "Args:\n"     \
    "    M (int): The number of samples; none if less than 1.\n"
#define CX_ARGS_PLACE                                                               \
    "    dtype: Anything that numpy.dtype() accepts. Default: float32.\n"           \
    "    device (str or Device): Default: the default device.\n"                    \
    "Returns:\n"                                                                    \
    "    ndarray: 1-d, symmetric, from 0 to 1; computed in float64. In no graph.\n" \
    "Raises:\n"                                                                     \
    "    ChainerxError: If ``M`` is too large, or there is no such device."

#define CX_WINDOW(py, Name, doc)                                                                  \
    CX_ROUTINE(py,                                                                                \
               "M: int, *, dtype: DtypeLike | None = None, device: DeviceLike | None = None) "    \
               "-> ndarray",                                                                      \
               doc CX_ARGS_M CX_ARGS_PLACE) {                                                     \
        return Wrap(Name(ToInt(#py, "M", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2]))); \
    }

CX_WINDOW(bartlett, Bartlett, "Bartlett window: a triangle whose ends are 0.")
CX_WINDOW(blackman, Blackman, "Blackman window: a sum of two cosines and a constant.")
CX_WINDOW(hamming, Hamming, "Hamming window: a raised cosine whose ends are 0.08.")
CX_WINDOW(hanning, Hanning, "Hann window: a raised cosine whose ends are 0.")
#undef CX_WINDOW

CX_ROUTINE(kaiser,
           "M: int, beta: float, *, dtype: DtypeLike | None = None, "
           "device: DeviceLike | None = None) -> ndarray",
           "Kaiser window, defined by the modified Bessel function i0." CX_ARGS_M
           "    beta (float): Shape parameter: larger values give a narrower window, 0 a "
           "rectangle.\n" CX_ARGS_PLACE) {
    return Wrap(Kaiser(ToInt("kaiser", "M", a[0]), ToDouble("kaiser", "beta", a[1]),
                       ToDtypeOr(a[2], kDefaultFloat), ToDevice(a[3])));
}

#undef CX_ARGS_M
#undef CX_ARGS_PLACE

}  // namespace
}  // namespace chainerx::python
