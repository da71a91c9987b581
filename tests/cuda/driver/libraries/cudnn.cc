// The stand-in for cuDNN's graph interface: convolutions, with a bias or without.
//
// $CHAINERX_CUDA_TEST_CUDNN has words: create, graph, plan, execute (which of them fails), slow
// (engines with tensor cores are), parts (their versions differ), or trace:FILE, which gets a line
// of JSON for each plan and each execution.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "cudnn_conv.h"
#include "cudnn_objects.h"

namespace chainerx::cuda {

struct cudnnContext {
    CUstream stream;
};

namespace standin {
namespace {

std::mutex mutex;
std::map<const void*, ObjectPtr> objects;
std::set<const void*> handles;

// An engine: what it does to numbers, its work space, and for what it is there.
struct Engine {
    std::vector<int> notes;
    std::int64_t work;
    int mode;
    bool is_for_gradients;  // only
    bool is_for_double;
    bool is_broken;  // it turns out when its plan is made
};
const std::vector<Engine>& Engines() {
    static const std::vector<Engine> engines = {
        {{}, 0, CUDNN_HEUR_MODE_A, false, false, true},
        {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION},
         0,
         CUDNN_HEUR_MODE_A,
         false,
         false,
         false},
        {{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0, CUDNN_HEUR_MODE_A, true, true, false},
        {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 1 << 16, CUDNN_HEUR_MODE_A, false, false, false},
        {{CUDNN_NUMERICAL_NOTE_FFT}, 1 << 20, CUDNN_HEUR_MODE_A, false, false, false},
        {{}, 1 << 12, CUDNN_HEUR_MODE_A, false, false, false},
        {{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, 0, CUDNN_HEUR_MODE_FALLBACK, false, true, false},
    };
    return engines;
}

std::string Word(const std::string& name) {
    const char* text = std::getenv("CHAINERX_CUDA_TEST_CUDNN");
    std::istringstream words{text != nullptr ? text : ""};
    for (std::string word; std::getline(words, word, ',');) {
        if (word.starts_with(name)) return word;
    }
    return "";
}

ObjectPtr Find(const void* descriptor) {
    const std::lock_guard lock{mutex};
    const auto found = objects.find(descriptor);
    CheckCudnn(found != objects.end(), "a descriptor that is not there, or not any more",
               kNullPointer);
    return found->second;
}

void CheckHandle(const void* handle) {
    const std::lock_guard lock{mutex};
    CheckCudnn(handles.contains(handle), "a handle that is not there");
}

std::string Json(const std::vector<std::int64_t>& all) {
    std::string text;
    for (const std::int64_t x : all) text += (text.empty() ? "" : ", ") + std::to_string(x);
    return "[" + text + "]";
}

void Trace(const std::string& event, const Object& plan, const std::string& more) {
    const std::string word = Word("trace:");
    if (word.empty()) return;
    const Object& operation = plan.graph->Part(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    const Conv conv = ConvOf(operation);
    std::ostringstream line;
    line << "{\"event\": \"" << event << "\", \"plan\": " << reinterpret_cast<std::uintptr_t>(&plan)
         << ", \"pass\": " << operation.type << ", \"type\": " << TypeOf(*conv.x)
         << ", \"engine\": " << plan.engine << ", \"x\": " << Json(DimsOf(*conv.x))
         << ", \"w\": " << Json(DimsOf(*conv.w)) << ", \"y\": " << Json(DimsOf(*conv.y))
         << ", \"x_strides\": " << Json(conv.x->All(CUDNN_ATTR_TENSOR_STRIDES))
         << ", \"alignment\": " << conv.x->Get(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)
         << ", \"stride\": " << Json(conv.stride) << ", \"dilate\": " << Json(conv.dilate)
         << ", \"pad\": " << Json(conv.pad) << ", \"after\": " << Json(conv.after) << more << "}\n";
    const std::lock_guard lock{mutex};
    std::ofstream{word.substr(6), std::ios::app} << line.str();
}

// The engines for a graph, by speed.
std::vector<int> FindEngines(const Object& graph, int mode) {
    const auto& operations = graph.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).objects;
    const Conv conv = ConvOf(*operations[0]);
    const bool is_forward =
        operations[0]->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
    const bool is_double = TypeOf(*conv.x) == CUDNN_DATA_DOUBLE;
    std::vector<int> found;
    if (is_double && operations.size() == 2) return found;
    // Something must be missing: windows of seven elements, each seventh of an image.
    if (DimsOf(*conv.w).back() == 7 && conv.dilate.back() == 7) return found;
    for (int i = 0; i < std::ssize(Engines()); ++i) {
        const Engine& engine = Engines()[i];
        if (engine.mode == mode && !(engine.is_for_gradients && is_forward) &&
            (!is_double || engine.is_for_double)) {
            found.push_back(i);
        }
    }
    return found;
}

void FinalizePlan(Object& plan) {
    CheckHandle(plan.Get<const void*>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE));
    const Object& config = plan.Part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    CheckCudnn(config.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "engine of a plan");
    plan.graph = config.graph;
    plan.engine = config.engine;
    if (Engines()[plan.engine].is_broken) throw Failure{kNotSupported};
    CheckCudnn(Word("plan").empty(), "plans are to fail", 4000);
    Trace("plan", plan, "");
}

void Finalize(Object& object) {
    CheckCudnn(!object.is_final, "an object that is finalized already");
    for (const Attribute& attribute : kAttributes) {
        if (attribute.object != object.type || !attribute.is_needed) continue;
        CheckCudnn(object.Has(attribute.name),
                   "attribute " + std::to_string(attribute.name) + " is missing");
    }
    switch (object.type) {
        case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
            FinalizeTensor(object);
            break;
        case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
            FinalizeGeometry(object);
            break;
        case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
            break;
        case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
            FinalizePointwise(object);
            break;
        case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
            CheckCudnn(Word("graph").empty(), "graphs are to fail", 4000);
            CheckHandle(object.Get<const void*>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE));
            FinalizeGraph(object);
            break;
        case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
            CheckCudnn(object.Part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).type ==
                           CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
                       "graph of a heuristic");
            break;
        case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
            FinalizePlan(object);
            break;
        case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
            FinalizePack(object);
            break;
        default:
            CheckCudnn(IsConv(object), "an object that is not for users to finalize");
            FinalizeConv(object);
    }
    object.is_final = true;
}

void Set(Object& object, int name, int type, std::int64_t count, const void* values) {
    CheckCudnn(!object.is_final, "an attribute of a finalized object");
    const auto* const found = std::ranges::find_if(kAttributes, [&](const Attribute& attribute) {
        return attribute.object == object.type && attribute.name == name;
    });
    CheckCudnn(found != std::end(kAttributes), "attribute " + std::to_string(name));
    CheckCudnn(type == found->type || type == found->other_type,
               "type of attribute " + std::to_string(name), kAttributeType);
    CheckCudnn(count >= found->least && count <= found->most && (values != nullptr || count == 0),
               "values of attribute " + std::to_string(name));
    Value value{type, {}, {}};
    const auto* const bytes = static_cast<const char*>(values);
    value.bytes.assign(bytes, bytes + count * SizeOfAttribute(type));
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        for (std::int64_t i = 0; i < count; ++i) {
            value.objects.push_back(Find(static_cast<const void* const*>(values)[i]));
            CheckCudnn(value.objects.back()->is_final, "a part that is not finalized",
                       kNotFinalized);
        }
    }
    object.values[name] = std::move(value);
}

void Get(const ObjectPtr& object, int name, int type, std::int64_t requested, std::int64_t* count,
         void* values) {
    CheckCudnn(object->is_final, "an attribute of what is not finalized", kNotInitialized);
    const auto is = [&](int object_type, int attribute, int attribute_type) {
        return object->type == object_type && name == attribute && type == attribute_type;
    };
    const auto part = [&](std::int64_t i, int object_type) {
        const ObjectPtr to = Find(static_cast<const void* const*>(values)[i]);
        CheckCudnn(to->type == object_type && !to->is_final, "descriptors for results");
        to->is_final = true;
        return to;
    };
    if (is(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS,
           CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
        const ObjectPtr graph = object->values.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).objects[0];
        const std::vector<int> engines =
            FindEngines(*graph, object->Get<int>(CUDNN_ATTR_ENGINEHEUR_MODE));
        // Only an upper bound is told before.
        *count = values == nullptr ? std::ssize(engines) + 2
                                   : std::min<std::int64_t>(std::ssize(engines), requested);
        for (std::int64_t i = 0; values != nullptr && i < *count; ++i) {
            const ObjectPtr config = part(i, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
            config->graph = graph;
            config->engine = engines[i];
        }
    } else if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE,
                  CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
        CheckCudnn(requested == 1, "number of engines");
        part(0, CUDNN_BACKEND_ENGINE_DESCRIPTOR)->engine = object->engine;
        *count = 1;
    } else if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                  CUDNN_TYPE_NUMERICAL_NOTE)) {
        const auto& notes = Engines()[object->engine].notes;
        *count = std::min<std::int64_t>(std::ssize(notes), requested);
        std::copy_n(notes.begin(), *count, static_cast<int*>(values));
    } else {
        CheckCudnn(is(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
                      CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64) &&
                       requested == 1,
                   "attribute " + std::to_string(name));
        *static_cast<std::int64_t*>(values) = Engines()[object->engine].work;
        *count = 1;
    }
}

const void* PointerOf(const Object& pack, const Object& tensor) {
    const auto uids = pack.All(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto found = std::ranges::find(uids, UidOf(tensor));
    CheckCudnn(found != uids.end(), "a tensor that the pack has not");
    const auto* const p =
        pack.All<const void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)[found - uids.begin()];
    CheckCudnn(IsMemory(p, BytesOf(tensor), tensor.Get(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)),
               "address of tensor " + std::to_string(UidOf(tensor)));
    return p;
}

void Execute(const cudnnContext& handle, const Object& plan, const Object& pack) {
    CheckCudnn(plan.is_final && plan.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "plan");
    CheckCudnn(pack.is_final && pack.type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "pack");
    CheckCudnn(Word("execute").empty(), "executions are to fail", CUDNN_STATUS_EXECUTION_FAILED);
    const auto& operations = plan.graph->values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).objects;
    const Conv conv = ConvOf(*operations[0]);
    const Engine& engine = Engines()[plan.engine];
    const auto has = [&](int note) { return std::ranges::count(engine.notes, note) != 0; };
    const bool has_bias = operations.size() == 2;
    const Object* y =
        has_bias ? &operations[1]->Part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC) : conv.y;
    CheckCudnn(std::ssize(pack.All(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)) == (has_bias ? 4 : 3),
               "tensors of a pack");
    ConvWork c{};
    c.pass = operations[0]->type;
    c.type = TypeOf(*conv.x);
    c.axes = conv.axes;
    c.is_tf32 = c.type == CUDNN_DATA_FLOAT && has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    c.x = DimsOf(*conv.x);
    c.w = DimsOf(*conv.w);
    c.y = DimsOf(*conv.y);
    c.stride = conv.stride;
    c.dilate = conv.dilate;
    c.pad = conv.pad;
    c.x_data = PointerOf(pack, *conv.x);
    c.w_data = PointerOf(pack, *conv.w);
    c.y_data = PointerOf(pack, *y);
    c.bias = has_bias ? PointerOf(pack, operations[1]->Part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
                      : nullptr;
    c.work = pack.Get<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    c.work_size = engine.work;
    CheckCudnn(c.work_size == 0 || IsMemory(c.work, c.work_size, 256), "work space");
    Trace("execute", plan,
          ", \"stream\": " + std::to_string(reinterpret_cast<std::uintptr_t>(handle.stream)) +
              ", \"work\": " + std::to_string(c.work_size) +
              ", \"bias\": " + (has_bias ? "true" : "false"));
    const bool is_slow = !Word("slow").empty() && has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    const char* empty = std::getenv("CHAINERX_CUDA_TEST_EMPTY");
    if (empty != nullptr && *empty == '1') return;
    const auto run = [c, is_slow] {
        if (is_slow) std::this_thread::sleep_for(std::chrono::milliseconds{50});
        switch (c.type) {
            case CUDNN_DATA_HALF:
                return ComputeConv<chainerx::Float16>(c);
            case CUDNN_DATA_BFLOAT16:
                return ComputeConv<chainerx::BFloat16>(c);
            case CUDNN_DATA_FLOAT:
                return ComputeConv<float>(c);
            case CUDNN_DATA_DOUBLE:
                return ComputeConv<double>(c);
        }
    };
    Enqueue(handle.stream, run, CUDNN_STATUS_EXECUTION_FAILED);
}

}  // namespace
}  // namespace standin
}  // namespace chainerx::cuda

using namespace chainerx::cuda;
using namespace chainerx::cuda::standin;

CX_EXPORT std::size_t cudnnGetVersion() { return 92801; }
CX_EXPORT std::size_t cudnnGetCudartVersion() { return 13000; }
CX_EXPORT int cudnnCnnVersionCheck() {
    return Word("parts").empty() ? 0 : CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH;
}
CX_EXPORT void cudnnGetLastErrorString(char* text, std::size_t size) {
    std::snprintf(text, size, "see the line of the test driver on stderr");
}

CX_EXPORT int cudnnCreate(cudnnHandle_t* handle) {
    return Run([&] {
        CheckCudnn(Word("create").empty(), "handles are to fail", kNotInitialized);
        *handle = new cudnnContext{};
        const std::lock_guard lock{mutex};
        handles.insert(*handle);
    });
}

CX_EXPORT int cudnnSetStream(cudnnHandle_t handle, CUstream stream) {
    return Run([&] {
        CheckHandle(handle);
        handle->stream = stream;
    });
}

CX_EXPORT int cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
    return Run([&] {
        auto object = std::make_shared<Object>(Object{type, false, {}, nullptr, -1});
        const std::lock_guard lock{mutex};
        // Not the address of the object, which lives on as a part of others.
        *descriptor = new char;
        objects.emplace(*descriptor, std::move(object));
    });
}

CX_EXPORT int cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    return Run([&] {
        Find(descriptor);
        const std::lock_guard lock{mutex};
        objects.erase(descriptor);
        delete static_cast<char*>(descriptor);
    });
}

CX_EXPORT int cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
    return Run([&] { Set(*Find(descriptor), name, type, count, values); });
}

CX_EXPORT int cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t requested,
                                       std::int64_t* count, void* values) {
    return Run([&] { Get(Find(descriptor), name, type, requested, count, values); });
}

CX_EXPORT int cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
    return Run([&] { Finalize(*Find(descriptor)); });
}

CX_EXPORT int cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
    return Run([&] {
        CheckHandle(handle);
        Execute(*handle, *Find(plan), *Find(pack));
    });
}
