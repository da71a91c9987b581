#include "chainerx/cuda/fuse/program.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace {

constexpr size_t kNone = SIZE_MAX;

class Builder {
 public:
    Builder(FusedProgram& program, const FusedChain& chain, const FusedFrame& frame)
        : program_{program},
          chain_{chain},
          frame_{frame},
          now_(static_cast<size_t>(chain.n_arrays) + chain.scratch.size(), kNone) {
        program.dtypes.resize(static_cast<size_t>(chain.n_arrays));
    }

    void Build() {
        std::vector<bool> is_written(program_.dtypes.size());
        for (const FusedCall& call : chain_.calls) {
            for (const FusedOperand& x : call.operands) {
                if (x.array < chain_.n_arrays) {
                    program_.dtypes[static_cast<size_t>(x.array)] = x.dtype;
                }
            }
            const auto out = static_cast<size_t>(call.operands.back().array);
            now_[out] = call.reduces ? AddReduction(call) : AddElement(call);
            if (out < is_written.size()) is_written[out] = true;
        }
        for (size_t k = 0; k < is_written.size(); ++k) {
            if (is_written[k]) program_.stores.push_back({k, now_[k]});
        }
    }

 private:
    size_t Add(FusedValue value) {
        program_.values.push_back(std::move(value));
        return program_.values.size() - 1;
    }

    // What an array has now.
    size_t Read(const FusedOperand& x) {
        const auto k = static_cast<size_t>(x.array);
        if (now_[k] == kNone) {
            now_[k] = Add({FusedValue::Kind::kLoad, x.dtype,
                           frame_.layouts[k] == FusedLayoutOf::kUniform, k});
        }
        return now_[k];
    }

    size_t AddScalar(const Scalar& value, Dtype dtype) {
        program_.scalars.push_back({value, dtype});
        return Add({FusedValue::Kind::kScalar, dtype, true, program_.scalars.size() - 1});
    }

    void AddOperand(FusedValue& value, size_t operand) {
        const FusedValue& x = program_.values[operand];
        value.is_uniform = value.is_uniform && x.is_uniform;
        value.operands.push_back(operand);
    }

    size_t AddElement(const FusedCall& call) {
        const KernelInfo& kernel = call.call->kernel();
        const FusedOperand& out = call.operands.back();
        const ElementwiseKernel& element = FindElement(kernel)(out.dtype);
        // As RunElementwise is called: the dtype is that of the arrays among the inputs.
        const bool is_of_result = IsWhere(element) || call.operands.size() == 1;
        const Dtype in = is_of_result ? out.dtype : call.operands[0].dtype;
        FusedValue value{FusedValue::Kind::kElement, out.dtype, true, 0, in};
        value.element = &element;
        const void* const* p = call.call->operands();
        auto x = call.operands.begin();
        for (const OperandInfo& info : kernel.operands()) {
            const void* const operand = *p++;
            if (info.role == OperandRole::kAttr) {
                const bool is_scalar = std::string_view{info.type} == "Scalar";
                AddOperand(value,
                           AddScalar(is_scalar ? *static_cast<const Scalar*>(operand)
                                               : Scalar{*static_cast<const double*>(operand)},
                                     in));
            } else if (info.role != OperandRole::kIn) {
                continue;
            } else if (info.kind == OperandKind::kArrayOrScalar &&
                       !static_cast<const Operand*>(operand)->is_array()) {
                AddOperand(value, AddScalar(static_cast<const Operand*>(operand)->scalar(), in));
            } else {
                AddOperand(value, Read(*x++));
            }
        }
        return Add(std::move(value));
    }

    size_t AddReduction(const FusedCall& call) {
        const FusedOperand& x = call.operands.front();
        const size_t operand = Read(x);
        const ReductionTexts& texts = *FindReduction(call.call->kernel());
        const auto reduce = [&](const ReductionTexts& of, Dtype out, size_t center) {
            FusedValue value{FusedValue::Kind::kReduction, out, true, 0, x.dtype};
            value.reduction = &of;
            AddOperand(value, operand);
            if (center != kNone) AddOperand(value, center);
            value.is_uniform = true;
            return Add(std::move(value));
        };
        const size_t center = texts.of_centers == nullptr
                                  ? kNone
                                  : reduce(*texts.of_centers, DtypeOfCenters(x.dtype), kNone);
        return reduce(texts, call.operands.back().dtype, center);
    }

    FusedProgram& program_;
    const FusedChain& chain_;
    const FusedFrame& frame_;
    std::vector<size_t> now_;  // the value of each array
};

}  // namespace

FusedProgram::FusedProgram(const FusedChain& chain, const FusedFrame& frame)
    : n_calls{chain.calls.size()} {
    Builder{*this, chain, frame}.Build();
}

bool FusedProgram::IsUpdated(size_t array) const {
    return std::ranges::any_of(values,
                               [&](const FusedValue& value) {
                                   return value.kind == FusedValue::Kind::kLoad &&
                                          value.index == array;
                               }) &&
           std::ranges::find(stores, array, &FusedStore::array) != stores.end();
}

}  // namespace chainerx::cuda
