// Packing of bits into bytes.
#include "chainerx/ops/elementwise/packed_bits.h"

#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python {
namespace {

BitOrder ToBitOrder(const char* op, PyObject* o) {
    if (o == nullptr) return BitOrder::kBig;
    const std::string_view order = ToString(op, "bitorder", o);
    if (order == "big") return BitOrder::kBig;
    if (order == "little") return BitOrder::kLittle;
    throw ValueError{op, ": bitorder is '", order, "', expected 'big' or 'little'"};
}

#define CX_BITORDER \
    "    bitorder (str): Whether the first bit is that of 128, 'big', or of 1, 'little'.\n"

CX_ROUTINE(packbits, "a: ndarray, axis: int | None = None, bitorder: str = 'big') -> ndarray",
           "Eight elements in each byte, a bit for whether they are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, bool or integers.\n"
           "    axis (int): Along which; None packs the flattened array.\n" CX_BITORDER
           "Returns:\n"
           "    ndarray: uint8; the axis has an eighth of its length, rounded up.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.\n"
           "    DtypeError: If ``a`` is of floats.\n"
           "    ValueError: If ``bitorder`` is another.") {
    return Wrap(Packbits(ToArray("packbits", "a", a[0]), ToOptionalAxis("packbits", "axis", a[1]),
                         ToBitOrder("packbits", a[2])));
}

CX_ROUTINE(unpackbits,
           "a: ndarray, axis: int | None = None, count: int | None = None, "
           "bitorder: str = 'big') -> ndarray",
           "The bits of bytes, one an element: the inverse of packbits.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, uint8.\n"
           "    axis (int): Along which; None unpacks the flattened array.\n"
           "    count (int): How many; zeros follow where there are fewer. If negative, all but as "
           "many.\n" CX_BITORDER
           "Returns:\n"
           "    ndarray: uint8, 0 and 1.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.\n"
           "    DtypeError: If ``a`` is of another dtype.\n"
           "    ValueError: If ``bitorder`` is another, or there are not so many bits.") {
    std::optional<int64_t> count;
    if (Given(a[2])) count = ToInt("unpackbits", "count", a[2]);
    return Wrap(Unpackbits(ToArray("unpackbits", "a", a[0]),
                           ToOptionalAxis("unpackbits", "axis", a[1]), count,
                           ToBitOrder("unpackbits", a[3])));
}

#undef CX_BITORDER

}  // namespace
}  // namespace chainerx::python
