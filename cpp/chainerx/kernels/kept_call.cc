#include "chainerx/kernels/kept_call.h"

namespace chainerx {
namespace {

size_t RoundUp(size_t size) {
    constexpr size_t kAlign = alignof(std::max_align_t);
    return (size + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

void KeptCall::Keep(const KernelCallData& call, Map map, void* f) {
    const auto keep = [&](const Array& x) -> const Array& {
        return arrays_.emplace_back(map(f, x));
    };
    size_t total = 0;
    for (const OperandInfo& info : kernel_.operands()) total += RoundUp(info.size);
    values_.reset(new std::byte[total]);  // aligned as new aligns
    std::byte* value = values_.get();
    int i = 0;
    for (const OperandInfo& info : kernel_.operands()) {
        const void* p = call.operands[i++];
        switch (info.kind) {
            case OperandKind::kArray:
                operands_.push_back(&keep(*static_cast<const Array*>(p)));
                break;
            case OperandKind::kArrayOrScalar: {
                const auto& x = *static_cast<const Operand*>(p);
                operands_.push_back(x.is_array()
                                        ? &mixed_.emplace_back(keep(x.array()))
                                        : &mixed_.emplace_back(scalars_.emplace_back(x.scalar())));
                break;
            }
            case OperandKind::kArrays: {
                std::vector<ConstArrayRef>& list = lists_.emplace_back();
                for (const ConstArrayRef& x :
                     *static_cast<const std::span<const ConstArrayRef>*>(p)) {
                    list.emplace_back(keep(x.get()));
                }
                operands_.push_back(&spans_.emplace_back(list));
                break;
            }
            case OperandKind::kValue:
                info.copy(value, p);
                operands_.push_back(value);
                value += RoundUp(info.size);
                break;
        }
    }
}

}  // namespace chainerx
