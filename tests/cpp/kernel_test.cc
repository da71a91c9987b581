// Kernels as data, and hooks on their calls.
#include <memory>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"
#include "chainerx/kernels/arithmetic.h"
#include "chainerx/kernels/hook.h"
#include "chainerx/kernels/indexing.h"
#include "chainerx/kernels/manipulation.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/kernels/profiler.h"
#include "chainerx/kernels/validator.h"
#include "test.h"

using namespace chainerx;

namespace {

Device& Native() { return GetDefaultDevice(); }

Array Numbers(int64_t n) {
    return Arange(Scalar{0}, Scalar{n}, Scalar{1}, Dtype::kFloat32, Native());
}

// Installs a hook for its life.
template <typename Hook>
class Installing {
 public:
    Installing() { InstallKernelHook(hook_); }
    ~Installing() { RemoveKernelHook(hook_.get()); }
    Hook* operator->() { return hook_.get(); }

 private:
    std::shared_ptr<Hook> hook_ = std::make_shared<Hook>();
};

struct CallLog : KernelHook {
    std::vector<std::string> lines;
    bool skip{false};

    void Run(KernelCall& call) override {
        std::string line = call.kernel().name;
        call.ForEachArray([&](const OperandInfo& info, const Array& x) {
            line += StrCat(" ", info.name, x.shape());
        });
        lines.push_back(line);
        if (!skip) call.Proceed();
    }
};

}  // namespace

CX_TEST(DescriptorFollowsFromTheRow) {
    constexpr const KernelInfo& take = kernels::Take::kInfo;
    static_assert(take.operand_count == 6);
    static_assert(take.operands()[2].role == OperandRole::kAttr);
    static_assert(take.operands()[5].role == OperandRole::kOut);
    static_assert(
        std::is_same_v<kernels::Take::Fn, void(const char*, const Array&, int8_t, const Array&,
                                               IndexBoundsMode, const Array&)>);
    static_assert(std::is_same_v<kernels::Fill::Fn, void(const Array&, const Scalar&)>);
    static_assert(kernels::AddAt::kSignatureHash != kernels::SetAt::kSignatureHash);
    CHECK(std::string{take.family} == "indexing");
    CHECK(std::string{take.operands()[4].type} == "IndexBoundsMode");
    // The library has a copy of its own.
    bool found = false;
    for (const KernelInfo* k : GetKernels()) {
        found |= k->id == take.id && k->signature_hash == take.signature_hash;
    }
    CHECK(found);
}

CX_TEST(HookSeesOperands) {
    const Array x = Numbers(3);
    Installing<CallLog> log;
    const Array y = x + x;
    const Array z = x * Scalar{2};
    Concatenate(std::vector<Array>{y, z}, 0);
    CHECK(log->lines.size() >= 3);
    CHECK(log->lines[0] == "Add x1(3,) x2(3,) out(3,)");
    CHECK(log->lines[1] == "Multiply x1(3,) out(3,)");
    CHECK(log->lines[2] == "Concatenate arrays(3,) arrays(3,) out(6,)");
}

CX_TEST(HookMaySkipTheKernel) {
    const Array x = Numbers(3);
    {
        Installing<CallLog> log;
        log->skip = true;
        x.Fill(Scalar{7});
    }
    CHECK(*reinterpret_cast<const float*>(x.raw_data() + 8) == 2);
    x.Fill(Scalar{7});
    CHECK(*reinterpret_cast<const float*>(x.raw_data() + 8) == 7);
}

CX_TEST(InnerHookRunsInTheOuterOne) {
    const Array x = Numbers(3);
    Installing<CallLog> inner;
    Installing<CallLog> outer;
    outer->skip = true;
    Exp(x);
    CHECK(outer->lines.size() == 1);
    CHECK(inner->lines.empty());
}

CX_TEST(ValidatorNamesKernelAndOperand) {
    const Array x = Numbers(6);
    const Array y = Numbers(6);
    const auto part = [](const Array& a, int64_t from, int64_t n, int64_t step) {
        return internal::MakeView(a, Shape{n}, Strides{step * 4}, a.raw_data() + from * 4);
    };
    Installing<KernelValidator> validator;
    const auto fails = [](const char* text, auto&& call) {
        try {
            call();
        } catch (const ChainerxError& e) {
            return std::string{e.what()}.find(text) != std::string::npos;
        }
        return false;
    };
    using kernels::Add;
    using kernels::AsType;
    // As it should be: separate, in place, interleaved.
    CallOn<AsType>(Native(), x, y);
    CallOn<Add>(Native(), x, y, x);
    CallOn<AsType>(Native(), part(x, 0, 3, 2), part(x, 1, 3, 2));
    CHECK(fails("kernel AsType: operand out shares memory with operand x",
                [&] { CallOn<AsType>(Native(), part(x, 0, 3, 1), part(x, 1, 3, 1)); }));
    CHECK(fails("kernel Add: operand out shares memory with operand x2",
                [&] { CallOn<Add>(Native(), y, part(x, 5, 6, -1), x); }));
    CHECK(fails("several elements in one place",
                [&] { CallOn<kernels::Fill>(Native(), part(x, 0, 3, 0), Scalar{1}); }));
    CHECK(fails("lies outside of its buffer",
                [&] { CallOn<kernels::Fill>(Native(), part(x, 1, 6, 1), Scalar{1}); }));
    CHECK(fails("does not broadcast", [&] { CallOn<Add>(Native(), part(x, 0, 4, 1), y, y); }));
    CHECK(fails("has dtype", [&] { CallOn<Add>(Native(), x.AsType(Dtype::kInt32), y, y); }));
    CHECK(fails("is on native:1, the kernel is called on native:0", [&] {
        const Array there = x.ToDevice(Native().context()->GetDevice("native", 1));
        CallOn<AsType>(Native(), there, y);
    }));
}
