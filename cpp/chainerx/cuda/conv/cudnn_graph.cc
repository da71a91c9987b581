#include "chainerx/cuda/conv/cudnn_graph.h"

#include <algorithm>
#include <span>

namespace chainerx::cuda {
namespace {

// Of the tensors of a graph.
enum Uid : int64_t { kX = 1, kW, kY, kBias, kSum };

// The attributes of a convolution, by pass.
struct ConvAttributes {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t alpha, beta, conv, w, x, y;
};
constexpr ConvAttributes kAttributes[] = {
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};

cudnnDataType_t CudnnTypeOf(Dtype dtype) {
    switch (dtype) {
        case Dtype::kFloat16:
            return CUDNN_DATA_HALF;
        case Dtype::kBFloat16:
            return CUDNN_DATA_BFLOAT16;
        case Dtype::kFloat64:
            return CUDNN_DATA_DOUBLE;
        default:
            return CUDNN_DATA_FLOAT;
    }
}
// Of sums.
cudnnDataType_t SumTypeOf(Dtype dtype) {
    return dtype == Dtype::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

// A virtual tensor is in no memory.
CudnnDescriptor MakeTensor(Uid uid, std::span<const int64_t> dims, cudnnDataType_t type,
                           bool is_virtual = false) {
    int64_t strides[2 + LibraryConv::kMaxAxes];
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= dims[d];
    }
    const auto ndim = static_cast<int64_t>(dims.size());
    CudnnDescriptor tensor{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    tensor.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, static_cast<int64_t>(uid));
    tensor.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    tensor.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kLibraryAlign);
    tensor.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims.data(), ndim);
    tensor.Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides, ndim);
    if (is_virtual) tensor.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
    tensor.Finalize();
    return tensor;
}

CudnnDescriptor MakeGeometry(const LibraryConv& conv) {
    CudnnDescriptor geometry{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
    geometry.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, SumTypeOf(conv.dtype));
    geometry.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                 CUDNN_CROSS_CORRELATION);
    const int64_t axes = conv.axes;
    geometry.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, axes);
    geometry.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, conv.dilate, axes);
    geometry.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, conv.stride, axes);
    geometry.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, conv.pad, axes);
    geometry.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, conv.after, axes);
    geometry.Finalize();
    return geometry;
}

// One operation, or two with a bias. The library keeps what an object was made of.
CudnnDescriptor MakeGraph(cudnnHandle_t handle, const LibraryConv& conv) {
    const auto dims = [&](const int64_t* lengths) {
        return std::span{lengths, static_cast<size_t>(2 + conv.axes)};
    };
    const cudnnDataType_t type = CudnnTypeOf(conv.dtype);
    const cudnnDataType_t sum_type = SumTypeOf(conv.dtype);
    const CudnnDescriptor geometry = MakeGeometry(conv);
    const CudnnDescriptor x = MakeTensor(kX, dims(conv.x), type);
    const CudnnDescriptor w = MakeTensor(kW, dims(conv.w), type);
    const CudnnDescriptor y = MakeTensor(kY, dims(conv.y), type);
    const CudnnDescriptor sum = MakeTensor(kSum, dims(conv.y), sum_type, true);

    const ConvAttributes& names = kAttributes[static_cast<int>(conv.pass)];
    CudnnDescriptor product{names.type};
    if (sum_type == CUDNN_DATA_DOUBLE) {
        product.Set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0);
        product.Set(names.beta, CUDNN_TYPE_DOUBLE, 0.0);
    } else {
        product.Set(names.alpha, CUDNN_TYPE_FLOAT, 1.0F);
        product.Set(names.beta, CUDNN_TYPE_FLOAT, 0.0F);
    }
    product.Set(names.conv, geometry);
    product.Set(names.x, x);
    product.Set(names.w, w);
    product.Set(names.y, conv.has_bias ? sum : y);
    product.Finalize();
    cudnnBackendDescriptor_t operations[] = {product.handle(), nullptr};

    CudnnDescriptor add{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
    if (conv.has_bias) {
        int64_t lengths[2 + LibraryConv::kMaxAxes];
        std::ranges::fill(lengths, 1);
        lengths[1] = conv.y[1];
        CudnnDescriptor pointwise{CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
        pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
        pointwise.Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, sum_type);
        pointwise.Finalize();
        add.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
        add.Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, sum);
        add.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, MakeTensor(kBias, dims(lengths), type));
        add.Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
        add.Finalize();
        operations[1] = add.handle();
    }
    CudnnDescriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
    graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
    graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations,
              conv.has_bias ? 2 : 1);
    graph.Finalize();
    return graph;
}

// Returns engines with their settings; none if the library has no way for the graph.
std::vector<CudnnDescriptor> FindConfigs(const CudnnDescriptor& graph,
                                         cudnnBackendHeurMode_t mode) {
    CudnnDescriptor heuristic{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR};
    heuristic.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristic.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    std::vector<CudnnDescriptor> configs;
    if (!heuristic.TryFinalize()) return configs;
    const int64_t most = heuristic.Get<cudnnBackendDescriptor_t>(
        CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, nullptr, 0);
    if (most == 0) return configs;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (int64_t i = 0; i < most; ++i) {
        configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        handles.push_back(configs.back().handle());
    }
    const int64_t count = heuristic.Get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, handles.data(), most);
    configs.erase(configs.begin() + std::clamp<int64_t>(count, 0, most), configs.end());
    return configs;
}

bool IsAllowed(const CudnnDescriptor& config, const EngineRules& rules) {
    const CudnnDescriptor engine{CUDNN_BACKEND_ENGINE_DESCRIPTOR};
    cudnnBackendDescriptor_t handle = engine.handle();
    config.Get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, &handle, 1);
    cudnnBackendNumericalNote_t notes[32];
    const int64_t count =
        engine.Get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes, 32);
    return std::all_of(notes, notes + std::min<int64_t>(count, 32), [&](auto note) {
        return note == CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP ||
               (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && rules.tensor_cores);
    });
}

}  // namespace

void CudnnPlan::Run(cudnnHandle_t handle, const ConvPointers& pointers, void* work) const {
    const int64_t uids[] = {kX, kW, kY, kBias};
    const void* const data[] = {pointers.x, pointers.w, pointers.y, pointers.bias};
    const int64_t count = pointers.bias != nullptr ? 4 : 3;
    CudnnDescriptor pack{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
    pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, uids, count);
    pack.Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, data, count);
    pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, work);
    pack.Finalize();
    CX_CUDNN_CALL(BackendExecute, handle, plan_.handle(), pack.handle());
}

std::vector<CudnnPlan> MakePlans(cudnnHandle_t handle, const LibraryConv& conv,
                                 const EngineRules& rules) {
    std::vector<CudnnPlan> plans;
    const CudnnDescriptor graph = MakeGraph(handle, conv);
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        if (!plans.empty()) break;
        for (CudnnDescriptor& config : FindConfigs(graph, mode)) {
            if (!IsAllowed(config, rules)) continue;
            CudnnDescriptor plan{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
            plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
            plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
            if (!plan.TryFinalize()) continue;
            int64_t work_size = 0;
            plan.Get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &work_size, 1);
            if (work_size > rules.most_work) continue;
            plans.emplace_back(std::move(config), std::move(plan), work_size);
            if (std::ssize(plans) == rules.most_plans) break;
        }
    }
    return plans;
}

}  // namespace chainerx::cuda
