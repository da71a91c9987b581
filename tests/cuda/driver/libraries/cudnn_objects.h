// Objects of cuDNN's graph interface, as the stand-in keeps and checks them: what may be set, how
// often and of which type, and what an object must have when it is finalized.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "chainerx/cuda/driver/cudnn_types.h"
#include "standin.h"

namespace chainerx::cuda::standin {

// Of the real library (9.28), found by giving it the same faults.
enum CudnnStatus {
    kNotInitialized = 1001,
    kBadParam = CUDNN_STATUS_BAD_PARAM,
    kNullPointer = CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
    kNotFinalized = CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
    kAttributeType = 2010,
    kNotSupported = CUDNN_STATUS_NOT_SUPPORTED,
};

struct Attribute {
    int object;  // the type of its descriptor
    int name;
    int type;
    int other_type;  // or the same
    int least, most;
    bool is_needed;
};
constexpr Attribute kAttributes[] = {
#define CX_ATTRIBUTE(object, name, type, least, most, is_needed) \
    {CUDNN_BACKEND_##object##_DESCRIPTOR,                        \
     CUDNN_ATTR_##name,                                          \
     CUDNN_TYPE_##type,                                          \
     CUDNN_TYPE_##type,                                          \
     least,                                                      \
     most,                                                       \
     is_needed},
#define CX_SCALE(object, name)            \
    {CUDNN_BACKEND_##object##_DESCRIPTOR, \
     CUDNN_ATTR_##name,                   \
     CUDNN_TYPE_FLOAT,                    \
     CUDNN_TYPE_DOUBLE,                   \
     1,                                   \
     1,                                   \
     true},
#include "cudnn_attributes.def"
#undef CX_SCALE
#undef CX_ATTRIBUTE
};

inline std::size_t SizeOfAttribute(int type) {
    switch (type) {
        case CUDNN_TYPE_BOOLEAN:
            return sizeof(bool);
        case CUDNN_TYPE_HANDLE:
        case CUDNN_TYPE_INT64:
        case CUDNN_TYPE_DOUBLE:
        case CUDNN_TYPE_VOID_PTR:
        case CUDNN_TYPE_BACKEND_DESCRIPTOR:
            return 8;
        default:
            return 4;
    }
}

struct Object;
using ObjectPtr = std::shared_ptr<Object>;

struct Value {
    int type;
    std::vector<char> bytes;
    std::vector<ObjectPtr> objects;  // of descriptors, which may be destroyed meanwhile
};

struct Object {
    int type;
    bool is_final = false;
    std::map<int, Value> values;
    // Of engines, their configurations and plans.
    ObjectPtr graph;
    int engine = -1;

    bool Has(int name) const { return values.contains(name); }
    template <typename T = std::int64_t>
    std::vector<T> All(int name) const {
        const Value& value = values.at(name);
        std::vector<T> all(value.bytes.size() / sizeof(T));
        std::memcpy(all.data(), value.bytes.data(), value.bytes.size());
        return all;
    }
    template <typename T = std::int64_t>
    T Get(int name) const {
        return All<T>(name).at(0);
    }
    const Object& Part(int name, std::size_t i = 0) const { return *values.at(name).objects.at(i); }
};

inline void CheckCudnn(bool condition, const std::string& what, int status = kBadParam) {
    Require(condition, ("cuDNN: " + what).c_str(), status);
}

inline std::uint64_t SizeOfType(int type) {
    switch (type) {
        case CUDNN_DATA_HALF:
        case CUDNN_DATA_BFLOAT16:
            return 2;
        case CUDNN_DATA_FLOAT:
            return 4;
        case CUDNN_DATA_DOUBLE:
            return 8;
    }
    return 0;
}

inline bool IsVirtual(const Object& tensor) {
    return tensor.Has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
           tensor.Get<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
}
inline std::vector<std::int64_t> DimsOf(const Object& tensor) {
    return tensor.All(CUDNN_ATTR_TENSOR_DIMENSIONS);
}
inline int TypeOf(const Object& tensor) { return tensor.Get<int>(CUDNN_ATTR_TENSOR_DATA_TYPE); }
inline std::int64_t UidOf(const Object& tensor) { return tensor.Get(CUDNN_ATTR_TENSOR_UNIQUE_ID); }
inline std::uint64_t BytesOf(const Object& tensor) {
    const auto dims = DimsOf(tensor);
    return std::accumulate(dims.begin(), dims.end(), SizeOfType(TypeOf(tensor)), std::multiplies{});
}

// A convolution's tensors and geometry, whatever the pass.
struct Conv {
    const Object *x, *w, *y, *geometry;
    int axes;
    std::vector<std::int64_t> stride, dilate, pad, after;
};

inline bool IsConv(const Object& operation) {
    return operation.type >= CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
           operation.type <= CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
}

inline Conv ConvOf(const Object& operation) {
    // Names of the passes follow one another in the same order, but for x, w and y.
    const auto part = [&](int forward, int data, int filter) -> const Object* {
        return &operation.Part(
            operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ? forward
            : operation.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
                ? data
                : filter);
    };
    Conv conv{};
    conv.x = part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
    conv.w = part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
    conv.y = part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
    conv.geometry = part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
    CheckCudnn(conv.x->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR && conv.w->type == conv.x->type &&
                   conv.y->type == conv.x->type &&
                   conv.geometry->type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
               "types of descriptors");
    conv.axes = static_cast<int>(conv.geometry->Get(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
    conv.stride = conv.geometry->All(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
    conv.dilate = conv.geometry->All(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    conv.pad = conv.geometry->All(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
    conv.after = conv.geometry->All(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
    return conv;
}

inline void FinalizeTensor(const Object& tensor) {
    const auto dims = DimsOf(tensor);
    const auto strides = tensor.All(CUDNN_ATTR_TENSOR_STRIDES);
    CheckCudnn(dims.size() == strides.size() && dims.size() >= 4,
               "numbers of dimensions and strides");
    std::int64_t packed = 1;
    for (std::size_t d = dims.size(); d-- > 0;) {
        CheckCudnn(dims[d] > 0, "a dimension that is not positive");
        CheckCudnn(strides[d] == packed, "strides of an array that is not contiguous");
        packed *= dims[d];
    }
    const std::int64_t alignment = tensor.Get(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    const auto size = static_cast<std::int64_t>(SizeOfType(TypeOf(tensor)));
    CheckCudnn(size != 0, "data type", kNotSupported);
    CheckCudnn(alignment > 0 && alignment % size == 0, "alignment of a tensor");
}

inline void FinalizeGeometry(const Object& geometry) {
    const std::int64_t axes = geometry.Get(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    CheckCudnn(axes == 2 || axes == 3, "number of spatial axes", kNotInitialized);
    const auto check = [&](int name, std::int64_t least) {
        const auto all = geometry.All(name);
        CheckCudnn(std::ssize(all) == axes && *std::ranges::min_element(all) >= least, "geometry");
    };
    check(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1);
    check(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1);
    check(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0);
    check(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0);
    CheckCudnn(geometry.Get<int>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION,
               "mode of a convolution", kNotSupported);
}

inline void FinalizeConv(const Object& operation) {
    const Conv conv = ConvOf(operation);
    const auto x = DimsOf(*conv.x), w = DimsOf(*conv.w), y = DimsOf(*conv.y);
    CheckCudnn(std::ssize(x) == conv.axes + 2 && x.size() == w.size() && x.size() == y.size(),
               "dimensions of a convolution");
    CheckCudnn(x[0] == y[0] && w[0] == y[1] && x[1] % w[1] == 0 && w[0] % (x[1] / w[1]) == 0,
               "images and channels of a convolution");
    for (int d = 0; d < conv.axes; ++d) {
        const std::int64_t room =
            x[2 + d] + conv.pad[d] + conv.after[d] - conv.dilate[d] * (w[2 + d] - 1) - 1;
        CheckCudnn(room >= 0 && y[2 + d] == room / conv.stride[d] + 1, "lengths of a convolution");
    }
    const int type = TypeOf(*conv.x);
    const int sum_type = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    CheckCudnn(TypeOf(*conv.w) == type &&
                   TypeOf(*conv.y) == (IsVirtual(*conv.y) ? sum_type : type) &&
                   conv.geometry->Get<int>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) == sum_type,
               "data types of a convolution");
    CheckCudnn(!IsVirtual(*conv.x) && !IsVirtual(*conv.w), "an operand that is virtual");
    for (const auto& [name, value] : operation.values) {
        if (value.type != CUDNN_TYPE_FLOAT && value.type != CUDNN_TYPE_DOUBLE) continue;
        const double number = value.type == CUDNN_TYPE_FLOAT ? operation.Get<float>(name)
                                                             : operation.Get<double>(name);
        const bool is_beta = name == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA ||
                             name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA ||
                             name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA;
        CheckCudnn(number == (is_beta ? 0 : 1), "the stand-in scales nothing", kNotSupported);
    }
}

inline void FinalizePointwise(const Object& operation) {
    const Object& x = operation.Part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
    const Object& b = operation.Part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    const Object& y = operation.Part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    auto dims = DimsOf(y);
    CheckCudnn(DimsOf(x) == dims, "dimensions of a sum");
    std::fill(dims.begin() + 2, dims.end(), 1);
    dims[0] = 1;
    CheckCudnn(DimsOf(b) == dims && TypeOf(b) == TypeOf(y), "the stand-in adds biases of channels");
    const Object& pointwise = operation.Part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    CheckCudnn(pointwise.Get<int>(CUDNN_ATTR_POINTWISE_MODE) == CUDNN_POINTWISE_ADD &&
                   pointwise.Get<int>(CUDNN_ATTR_POINTWISE_MATH_PREC) == TypeOf(x),
               "a pointwise operation", kNotSupported);
}

inline void FinalizeGraph(const Object& graph) {
    const auto& operations = graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).objects;
    CheckCudnn(IsConv(*operations[0]), "the first operation is no convolution", kNotSupported);
    const Conv conv = ConvOf(*operations[0]);
    std::vector<const Object*> tensors{conv.x, conv.w, conv.y};
    CheckCudnn(IsVirtual(*conv.y) == (operations.size() == 2),
               "what is virtual is computed and read");
    if (operations.size() == 2) {
        const Object& add = *operations[1];
        CheckCudnn(add.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "operations",
                   kNotSupported);
        CheckCudnn(UidOf(add.Part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)) == UidOf(*conv.y),
                   "operations are not connected");
        tensors.push_back(&add.Part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
        tensors.push_back(&add.Part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
        CheckCudnn(!IsVirtual(*tensors[3]) && !IsVirtual(*tensors[4]), "an end that is virtual");
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            CheckCudnn(UidOf(*tensors[i]) != UidOf(*tensors[k]), "tensors of one identifier");
        }
    }
}

inline void FinalizePack(const Object& pack) {
    auto uids = pack.All(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    CheckCudnn(uids.size() == pack.All(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size(),
               "numbers of identifiers and pointers");
    std::ranges::sort(uids);
    CheckCudnn(std::ranges::adjacent_find(uids) == uids.end(), "identifiers of a pack");
}

}  // namespace chainerx::cuda::standin
