#include "chainerx/ops/shape/bool_bytes.h"

#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

// Views the bytes of a bool array as numbers.
Array Bytes(const Array& x) {
    Array bytes = Detached(x);
    bytes.body()->dtype = Dtype::kUInt8;  // same item size; nobody else sees this array
    return bytes;
}

}  // namespace

bool HasPlainBools(const Array& x) {
    if (!IsBool(x.dtype()) || x.GetTotalSize() == 0) return true;
    return CountTrue(AsContiguous(Greater(Bytes(x), Scalar{1}))) == 0;
}

Array CopyPlain(const Array& x) {
    return IsBool(x.dtype()) ? NotEqual(Bytes(x), Scalar{0}) : Copy(Detached(x));
}

}  // namespace chainerx::internal
