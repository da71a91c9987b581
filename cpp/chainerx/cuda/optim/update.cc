// One optimizer step for many parameters.
#include "chainerx/kernels/optim/update.h"

#include <span>
#include <string>
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/cuda/optim/params.h"
#include "chainerx/cuda/runtime/kernel.h"

namespace chainerx::cuda {
namespace {

using Arrays = std::span<const ConstArrayRef>;

constexpr int kRules = static_cast<int>(UpdateRule::kCount);

struct RuleText {
    const char* name;
    int states;
    int numbers;
    const char* statements;
};
constexpr RuleText kUpdates[] = {
#define CX_UPDATE(Name, name, n_states, n_numbers, ...) {#Name, n_states, n_numbers, #__VA_ARGS__},
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
};

// The statements of the rules whose numbers change from step to step.
const char* NumbersOf(UpdateRule rule) {
    switch (rule) {
#define CX_UPDATE(...)
#define CX_UPDATE_NUMBERS(Name, ...) \
    case UpdateRule::k##Name:        \
        return #__VA_ARGS__;
#include "chainerx/ops/optim/update.def"
#undef CX_UPDATE
        default:
            return "";
    }
}

DeviceSource WriteNumbersSource(UpdateRule rule) {
    std::string name = StrCat("UpdateNumbers_", kUpdates[static_cast<int>(rule)].name);
    std::string text = StrCat(
        "#include \"chainerx/cuda/optim/device/numbers.h\"\n\n"
        "namespace chainerx::cuda {\n\n"
        "struct Row {\n"
        "    static void Apply(const double* h, double t, double* n) {\n        ",
        NumbersOf(rule), "\n    }\n};\n\nCX_KERNEL(", name,
        ", NumbersParams) {\n    CX_BEGIN();\n    ComputeNumbers<Row>(p);\n}\n\n}\n");
    return {std::move(name), std::move(text)};
}

DeviceSource WriteUpdateSource(UpdateRule rule, Dtype dtype) {
    const RuleText& update = kUpdates[static_cast<int>(rule)];
    std::string name = StrCat("UpdateParameters_", update.name, "_", GetDtypeName(dtype));
    std::string text = StrCat(
        "#include \"chainerx/cuda/optim/device/update.h\"\n\n"
        "namespace chainerx::native::gpu {\n"
        "namespace {\n"
        "struct Row {\n"
        "    static constexpr int kNumbers = ",
        update.numbers,
        ";\n"
        "    template <typename T>\n"
        "    static void Apply(T& p, const T& g, T& s0, T& s1, T& s2, const double* numbers) {\n"
        "        const auto n = [numbers](int i) { return numbers[i]; };\n"
        "        const auto c = [](double x) { return T(static_cast<typename T::value_type>(x)); };"
        "\n        ",
        update.statements,
        "\n    }\n};\n}\n}\n\n"
        "namespace chainerx::cuda {\n\nCX_KERNEL(",
        name, ", UpdateParams<", update.states,
        ">) {\n    CX_BEGIN();\n    Update<native::gpu::Row, ", DeviceTypeOf(dtype),
        ">(p);\n}\n\n}\n");
    return {std::move(name), std::move(text)};
}

void UpdateNumbers(UpdateRule rule, const Array& settings, const Array& step,
                   const Array& numbers) {
    static constinit const FunctionTable<kRules, 1> functions{};
    CudaDevice& device = Prepare(settings, step, numbers);
    const CUfunction function =
        functions.Get(device, static_cast<int>(rule), 0, [&] { return WriteNumbersSource(rule); });
    NumbersParams params{};
    params.settings = settings.raw_data();
    params.step = step.raw_data();
    params.numbers = numbers.raw_data();
    params.count = static_cast<int>(numbers.GetTotalSize());
    Launch(device.current_stream(), function, {1, 1}, params);
}
CX_CUDA_KERNEL(UpdateNumbers)

// The arrays of one dtype, in as few launches as their addresses need.
template <int kStates>
class Updates {
 public:
    Updates(UpdateRule rule, Dtype dtype, const Array& numbers)
        : rule_{rule}, dtype_{dtype}, device_{static_cast<CudaDevice&>(numbers.device())} {
        params_.numbers = numbers.raw_data();
    }

    void Add(const Array& param, const Array& grad, const ConstArrayRef* states) {
        const int64_t size = param.GetTotalSize();
        if (size == 0) return;
        CudaStream& stream = device_.current_stream();
        if (params_.count == UpdateParams<kStates>::kMax) Run();
        UpdatedArray<kStates>& array = params_.arrays[params_.count++];
        array.param = param.raw_data();
        array.grad = grad.raw_data();
        device_.RecordUse(param, stream);
        device_.RecordUse(grad, stream);
        if constexpr (kStates > 0) {
            for (int k = 0; k < kStates; ++k) {
                const Array& state = states[k];
                array.states[k] = state.raw_data();
                device_.RecordUse(state, stream);
            }
        }
        array.size = size;
        array.first_block = blocks_;
        const int64_t chunk = kBlockThreads * (kUpdateBytes / GetItemSize(dtype_));
        blocks_ += CeilDiv(size, chunk);
    }

    void Run() {
        if (params_.count == 0) return;
        static constinit const FunctionTable<kRules, kNumDtypes> functions{};
        const CUfunction function =
            functions.Get(device_, static_cast<int>(rule_), static_cast<int>(dtype_),
                          [&] { return WriteUpdateSource(rule_, dtype_); });
        Launch(device_.current_stream(), function, {blocks_, kBlockThreads}, params_);
        params_.count = 0;
        blocks_ = 0;
    }

 private:
    UpdateRule rule_;
    Dtype dtype_;
    CudaDevice& device_;
    int64_t blocks_{0};
    UpdateParams<kStates> params_{};
};

template <int kStates>
void UpdateAll(UpdateRule rule, const Array& numbers, Arrays grads, Arrays states, Arrays params) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kFloat64}) {
        Updates<kStates> updates{rule, dtype, numbers};
        for (size_t i = 0; i < params.size(); ++i) {
            if (params[i].get().dtype() != dtype) continue;
            updates.Add(params[i], grads[i], states.data() + i * kStates);
        }
        updates.Run();
    }
}

void UpdateParameters(UpdateRule rule, const Array& numbers, Arrays grads, Arrays states,
                      Arrays params) {
    Prepare(numbers);
    switch (kUpdates[static_cast<int>(rule)].states) {
        case 0:
            return UpdateAll<0>(rule, numbers, grads, states, params);
        case 1:
            return UpdateAll<1>(rule, numbers, grads, states, params);
        case 2:
            return UpdateAll<2>(rule, numbers, grads, states, params);
        default:
            return UpdateAll<3>(rule, numbers, grads, states, params);
    }
}
CX_CUDA_KERNEL(UpdateParameters)

}  // namespace
}  // namespace chainerx::cuda
