// Packing of bits into bytes.
#include "chainerx/ops/elementwise/packed_bits.h"

#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

BitOrder ToBitOrder(const char* op, PyObject* o) {
    if (o == nullptr) return BitOrder::kBig;
    const std::string_view order = ToString(op, "bitorder", o);
    if (order == "big") return BitOrder::kBig;
    if (order == "little") return BitOrder::kLittle;
    throw ValueError{op, ": bitorder is '", order, "', expected 'big' or 'little'"};
}

#define CX_BITORDER                                                                                \
    "    bitorder (str): Whether the first bit is the most significant one, 'big', or the least, " \
    "'little'.\n"

CX_ROUTINE(packbits, "a: ndarray, axis: int | None = None, bitorder: str = 'big') -> ndarray",
           "Packs eight elements into each byte, as bits that say whether they are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, bool or integers.\n"
           "    axis (int): The axis to pack; None packs the flattened array.\n" CX_BITORDER
           "Returns:\n"
           "    ndarray: uint8; the axis has an eighth of its former length, rounded up.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.\n"
           "    DtypeError: If ``a`` is neither bool nor of an integer dtype.\n"
           "    ValueError: If ``bitorder`` is neither 'big' nor 'little'.") {
    return Wrap(Packbits(ToArray("packbits", "a", a[0]), ToOptionalAxis("packbits", "axis", a[1]),
                         ToBitOrder("packbits", a[2])));
}

CX_ROUTINE(unpackbits,
           "a: ndarray, axis: int | None = None, count: int | None = None, "
           "bitorder: str = 'big') -> ndarray",
           "Unpacks the bits of bytes into elements: the inverse of :func:`packbits`.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape, uint8.\n"
           "    axis (int): The axis to unpack; None unpacks the flattened array.\n"
           "    count (int): Number of elements to unpack, filled up with zeros. If negative, so "
           "many are dropped at the end.\n" CX_BITORDER
           "Returns:\n"
           "    ndarray: uint8, each element 0 or 1.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.\n"
           "    DtypeError: If ``a`` is not uint8.\n"
           "    ValueError: If ``bitorder`` is neither 'big' nor 'little', or ``count`` drops more "
           "bits than there are.") {
    std::optional<int64_t> count;
    if (Given(a[2])) count = ToInt("unpackbits", "count", a[2]);
    return Wrap(Unpackbits(ToArray("unpackbits", "a", a[0]),
                           ToOptionalAxis("unpackbits", "axis", a[1]), count,
                           ToBitOrder("unpackbits", a[3])));
}

#undef CX_BITORDER

}  // namespace
}  // namespace chainerx::python
