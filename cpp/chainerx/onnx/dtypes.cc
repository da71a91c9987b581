#include "chainerx/onnx/dtypes.h"

#include <iterator>

#include "chainerx/core/error.h"

namespace chainerx::onnx {
namespace {

constexpr const char* kNames[] = {
    "UNDEFINED",      "FLOAT",    "UINT8",        "INT8",           "UINT16",
    "INT16",          "INT32",    "INT64",        "STRING",         "BOOL",
    "FLOAT16",        "DOUBLE",   "UINT32",       "UINT64",         "COMPLEX64",
    "COMPLEX128",     "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ", "UINT4",    "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0",
    "UINT2",          "INT2"};

}  // namespace

std::string DataTypeName(int64_t data_type) {
    if (data_type >= 0 && data_type < static_cast<int64_t>(std::size(kNames))) {
        return kNames[data_type];
    }
    return StrCat("number ", data_type);
}

Dtype ToDtype(int64_t data_type, const std::string& what) {
    constexpr Dtype kDtypes[] = {
        Dtype::kFloat32, Dtype::kUInt8,     Dtype::kInt8,       Dtype::kUInt16,
        Dtype::kInt16,   Dtype::kInt32,     Dtype::kInt64,      Dtype::kBool,
        Dtype::kBool,    Dtype::kFloat16,   Dtype::kFloat64,    Dtype::kUInt32,
        Dtype::kUInt64,  Dtype::kComplex64, Dtype::kComplex128, Dtype::kBFloat16};
    constexpr int64_t kString = 8;
    if (data_type < 1 || data_type > static_cast<int64_t>(std::size(kDtypes)) ||
        data_type == kString) {
        throw NotImplementedError{what, " has the element type ", DataTypeName(data_type),
                                  ", which no array has"};
    }
    return kDtypes[data_type - 1];
}

}  // namespace chainerx::onnx
