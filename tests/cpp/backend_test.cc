// Backends in libraries of their own. CHAINERX_PATH names the folder that has backends/.
#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;

CX_TEST(ToyBackendComputes) {
    Context context;
    ContextScope scope{context};
    Device& device = context.GetDevice("toy:1");
    CHECK_EQ(device.name(), "toy:1");
    CHECK(&context.GetBackend("toy") == device.backend());
    const Array x = Full({3}, 2, Dtype::kFloat64, device);
    x.RequireGrad();
    Backward(Sum(Multiply(x, x)));
    CHECK(&x.GetGrad()->device() == &device);
    CHECK_EQ(Values(*x.GetGrad()), (std::vector<double>{4, 4, 4}));
    CHECK_THROWS(IndexError, "2 devices", context.GetDevice("toy:2"));
}

CX_TEST(ArraysMoveBetweenBackends) {
    Context context;
    ContextScope scope{context};
    Device& toy = context.GetDevice("toy:0");
    const Array x = Vector({1, 2, 3});
    x.RequireGrad();
    const Array y = x.ToDevice(toy);
    CHECK(&y.device() == &toy);
    CHECK_EQ(Values(y), (std::vector<double>{1, 2, 3}));
    CHECK_THROWS(DeviceError, "toy:0", Add(x, y));
    Backward(Multiply(y, 3.0));
    CHECK(&x.GetGrad()->device() == &x.device());
    CHECK_EQ(Values(*x.GetGrad()), (std::vector<double>{3, 3, 3}));
}

CX_TEST(EachContextHasItsOwnBackend) {
    Context one;
    Context two;
    CHECK(&one.GetBackend("toy") != &two.GetBackend("toy"));
    CHECK(&one.GetBackend("toy").context() == &one);
}

CX_TEST(BadPluginsSayWhatIsWrong) {
    Context context;
    CHECK_THROWS(BackendError, "does not export 'ChainerxPlugin'", context.GetBackend("no_entry"));
    CHECK_THROWS(BackendError, "returned nothing", context.GetBackend("no_info"));
    CHECK_THROWS(BackendError, "plug-in contract 2, need 1", context.GetBackend("wrong_contract"));
    CHECK_THROWS(BackendError, "in which Buffer is laid out differently",
                 context.GetBackend("wrong_layout"));
    CHECK_THROWS(BackendError, "in which KernelError is laid out differently",
                 context.GetBackend("lacks_layout"));
    CHECK_THROWS(BackendError, "Forgotten is gone", context.GetBackend("unknown_kernel"));
    CHECK_THROWS(BackendError, "made nothing", context.GetBackend("null_backend"));
    CHECK_THROWS(BackendError, "no such hardware", context.GetBackend("throwing"));
    CHECK_THROWS(BackendError, "a backend named 'toy'", context.GetBackend("misnamed"));
    CHECK_THROWS(BackendError, "cannot load", context.GetBackend("text"));
    CHECK_THROWS(BackendError, "/backends/absent.so", context.GetBackend("absent"));
    CHECK_THROWS(BackendError, "invalid", context.GetBackend("../toy"));
    CHECK_EQ(context.GetBackend("native").name(), "native");  // none of this had side effects
}

CX_TEST(APluginOfThePreviousContractLoads) {
    Context context;
    ContextScope scope{context};
    Device& device = context.GetDevice("previous:0");
    const Array x = Full({3}, 2, Dtype::kFloat64, device);
    CHECK_EQ(Values(x), (std::vector<double>{2, 2, 2}));
    // Its own kernels are found under the current ids, as are native's.
    const Array at = Full({1}, 1, Dtype::kInt64, device);
    CHECK_EQ(Values(Take(x, at, 0)), (std::vector<double>{-2}));
    CHECK_EQ(Values(Sum(Multiply(x, x))), (std::vector<double>{12}));
}

CX_TEST(APluginWithAChangedKernelSaysWhichOne) {
    Context context;
    CHECK_THROWS(BackendError, "Fill has other operands now", context.GetBackend("changed"));
    CHECK_EQ(context.GetBackend("previous").name(), "previous");  // others are not affected
}

namespace {

// A backend that loads another one while it is created.
class Child : public native::NativeBackend {
 public:
    explicit Child(Context& context)
        : NativeBackend{context, "child"}, parent{context.GetBackend("toy")} {}
    Backend& parent;
};

}  // namespace

CX_TEST(BackendsOfTheProgramItself) {
    Context context;
    auto made = std::make_unique<Child>(context);
    CHECK_EQ(made->parent.name(), "toy");
    context.AddBackend(std::move(made));
    CHECK_EQ(context.GetDevice("child:0").name(), "child:0");
    CHECK_THROWS(BackendError, "registered", context.AddBackend(std::make_unique<Child>(context)));
    internal::RegisterBackendFactory("nested", [](Context& c) -> std::unique_ptr<Backend> {
        c.GetBackend("toy");  // during the lookup of "nested"
        return std::make_unique<native::NativeBackend>(c, "nested");
    });
    CHECK_EQ(context.GetBackend("nested").name(), "nested");
}
