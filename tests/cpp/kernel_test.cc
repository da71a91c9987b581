// Kernels as data, and hooks on their calls.
#include <memory>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"
#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/hook.h"
#include "chainerx/kernels/index/indexing.h"
#include "chainerx/kernels/profiler.h"
#include "chainerx/kernels/shape/manipulation.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/kernels/validator.h"
#include "test.h"

using namespace chainerx;

namespace {

Device& Native() { return GetDefaultDevice(); }

Array Numbers(int64_t n) {
    return Arange(Scalar{0}, Scalar{n}, Scalar{1}, Dtype::kFloat32, Native());
}

// Installs a hook for its lifetime.
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
    // The library has its own copy.
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
    // Allowed operands: separate, in place, interleaved.
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

// A scalar may be any operand of a ternary operation.
CX_TEST(TernaryRowTakesScalarsAnywhere) {
    using V = std::vector<double>;
    const Array a = cxtest::Vector({-3, 0.5, 3, 8});
    const Array low = cxtest::Vector({-1, 1, 0, 9});
    const Array high = cxtest::Vector({1, 2, 2, 7});
    const auto check = [&](const auto& x1, const auto& x2, const auto& x3, const V& expected,
                           const std::vector<V>& grads) {
        CHECK_EQ(cxtest::Values(Clamp(x1, x2, x3)), expected);
        std::vector<Array> leaves;
        const auto leaf = [&](const auto& x) {
            if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Array>) {
                return leaves.emplace_back(Copy(x)).RequireGrad();
            } else {
                return x;
            }
        };
        const auto l1 = leaf(x1);
        const auto l2 = leaf(x2);
        const auto l3 = leaf(x3);
        Backward(Sum(Clamp(l1, l2, l3)));
        CHECK_EQ(leaves.size(), grads.size());
        for (size_t i = 0; i < grads.size(); ++i) {
            CHECK_EQ(cxtest::Values(*leaves[i].GetGrad()), grads[i]);
        }
    };
    const Scalar zero{0};
    const Scalar one{1};
    check(a, low, high, {-1, 1, 2, 7}, {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}});
    check(a, low, one, {-1, 1, 1, 1}, {{0, 0, 0, 0}, {1, 1, 0, 0}});
    check(a, zero, high, {0, 0.5, 2, 7}, {{0, 1, 0, 0}, {0, 0, 1, 1}});
    check(a, zero, one, {0, 0.5, 1, 1}, {{0, 1, 0, 0}});
    check(zero, low, high, {0, 1, 0, 7}, {{0, 1, 0, 0}, {0, 0, 0, 1}});
    check(zero, low, one, {0, 1, 0, 1}, {{0, 1, 0, 0}});
    check(one, zero, high, {1, 1, 1, 1}, {{0, 0, 0, 0}});
    CHECK_EQ(Clamp(Arange(4), Scalar{0.5}, one).dtype(), Dtype::kFloat32);
    CHECK_EQ(Clamp(Arange(4), low, one).dtype(), Dtype::kFloat64);
    CHECK_THROWS(DtypeError, "clamp: x1 has dtype int32, x3 has dtype bool: bool goes with bool",
                 Clamp(Arange(2), zero, Full({2}, true, Dtype::kBool)));
    CHECK_THROWS(DtypeError, "x2 is a number of dtype int32: bool goes with bool only",
                 Clamp(Full({2}, true, Dtype::kBool), zero, Scalar{true}));
    CHECK_THROWS(OverflowError, "clamp: 300 does not fit in int8",
                 Clamp(Zeros({2}, Dtype::kInt8), zero, Scalar{300}));
    CHECK_THROWS(DimensionError, "clamp", Clamp(a, cxtest::Vector({1, 2}), one));
    CHECK_THROWS(DtypeError, "clamp: x2 has dtype complex64, expected a real dtype",
                 Clamp(a, Zeros({4}, Dtype::kComplex64), one));
}
