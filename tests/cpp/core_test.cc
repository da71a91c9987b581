// Handles, buffers, devices and contexts.
#include <atomic>
#include <memory>
#include <thread>

#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;

CX_TEST(HandlesCount) {
    Array x = Vector({1, 2});
    internal::ArrayBody* body = x.body();
    CHECK_EQ(body->StrongCount(), 1u);
    {
        const Array copy = x;
        CHECK_EQ(body->StrongCount(), 2u);
        const Array moved = std::move(x);
        CHECK(x.is_null());
        CHECK_EQ(body->StrongCount(), 2u);
        x = moved;
        CHECK_EQ(body->StrongCount(), 3u);
    }
    CHECK_EQ(body->StrongCount(), 1u);
    x = *&x;  // assignment to itself
    CHECK_EQ(body->StrongCount(), 1u);
    CHECK_EQ(Values(x), (std::vector<double>{1, 2}));
}

CX_TEST(ViewsShareTheBuffer) {
    Array view;
    {
        const Array x = Vector({1, 2, 3, 4});
        view = Transpose(Reshape(x, {2, 2}));
        CHECK(view.buffer() == x.buffer());
        CHECK_EQ(x.buffer()->use_count(), 2u);
    }
    CHECK_EQ(view.buffer()->use_count(), 1u);
    CHECK_EQ(Values(view), (std::vector<double>{1, 3, 2, 4}));
}

CX_TEST(ForeignBufferIsReleasedOnce) {
    int released = 0;
    double data[2] = {5, 6};
    {
        Device& device = GetDefaultDevice();
        Buffer* buffer = Buffer::Foreign(
            &device, data, sizeof data, &released, [](void* n) { ++*static_cast<int*>(n); }, true);
        CHECK(!buffer->IsExclusive());
        const Array x = internal::MakeArray({2}, Strides{8}, Dtype::kFloat64, device, buffer,
                                            static_cast<char*>(buffer->data()));
        const Array y = Reshape(x, {2, 1});
        CHECK_EQ(Values(Add(y, 1.0)), (std::vector<double>{6, 7}));
        CHECK_EQ(released, 0);
    }
    CHECK_EQ(released, 1);
}

CX_TEST(BackwardNeverWritesToForeignMemory) {
    double data[2] = {5, 6};
    Device& device = GetDefaultDevice();
    const Array x = Vector({1, 2});
    x.RequireGrad();
    const auto foreign = [&] {
        Buffer* buffer = Buffer::Foreign(&device, data, sizeof data, nullptr, nullptr, true);
        return internal::MakeArray({2}, Strides{8}, Dtype::kFloat64, device, buffer,
                                   static_cast<char*>(buffer->data()));
    };
    std::vector<Array> ys;
    for (int i = 0; i < 2; ++i) {
        Array y = Vector({0, 0});
        static constexpr OpInfo kOp{"foreign"};
        if (Record rec{kOp, {x}, y}) rec.Grad(0, [&](const Array&) { return foreign(); });
        ys.push_back(y);
    }
    Backward(Add(ys[0], ys[1]));
    CHECK_EQ(Values(*x.GetGrad()), (std::vector<double>{10, 12}));
    CHECK_EQ(data[0], 5.0);
}

CX_TEST(DeviceTransfer) {
    Device& other = GetDevice("native:1");
    const Array x = Vector({1, 2, 3});
    const Array y = x.ToDevice(other);
    CHECK(&y.device() == &other);
    CHECK(y.raw_data() != x.raw_data());
    CHECK_EQ(Values(y), Values(x));
    CHECK(x.ToDevice(x.device()).raw_data() == x.raw_data());
    CHECK_THROWS(DeviceError, "native:1", Add(x, y));
}

CX_TEST(ScopesOfDeviceAndContext) {
    Context other;
    Context& before = GetDefaultContext();
    CHECK_THROWS(ContextError, "native:0", SetDefaultDevice(&other.GetDevice("native:0")));
    {
        DeviceScope device{GetDevice("native:2")};
        CHECK_EQ(GetDefaultDevice().name(), "native:2");
        {
            ContextScope scope{other};
            CHECK(&GetDefaultContext() == &other);
            CHECK(&GetDefaultDevice() == &other.GetDevice("native:0"));
        }
        CHECK(&GetDefaultDevice() == &before.GetDevice("native:2"));
    }
    CHECK_EQ(GetDefaultDevice().name(), "native:0");
}

CX_TEST(NoGlobalContext) {
    Context& before = GetGlobalDefaultContext();
    SetGlobalDefaultContext(nullptr);
    std::thread{[] { CHECK_THROWS(ContextError, "no global", GetDefaultDevice()); }}.join();
    SetGlobalDefaultContext(&before);
}

CX_TEST(DefaultDeviceIsThreadLocal) {
    DeviceScope scope{GetDevice("native:3")};
    std::string name;
    std::thread{[&] { name = GetDefaultDevice().name(); }}.join();
    CHECK_EQ(name, "native:0");
}

CX_TEST(TooLargeShapes) {
    CHECK_THROWS(DimensionError, "empty", Empty({int64_t{1} << 62, 4}, Dtype::kFloat32));
    CHECK_THROWS(DimensionError, "", Empty({-1}, Dtype::kFloat32));
    CHECK_THROWS(OutOfMemoryError, "", Empty({int64_t{1} << 50}, Dtype::kInt8));
}

CX_TEST(AnArrayThatOutlivesItsContextIsAnError) {
    Array x;
    Array y;
    Array view;
    {
        Context context;
        const ContextScope scope{context};
        x = Vector({1, 2}).RequireGrad();
        y = x * x;
        view = Transpose(Reshape(Vector({1, 2, 3, 4}), {2, 2}));
        Backward(Sum(y));
    }
    constexpr const char* kWhy = "context";
    CHECK_THROWS(ContextError, kWhy, view + 1);
    CHECK_THROWS(ContextError, "native:0 has been destroyed", Exp(view));
    CHECK_THROWS(ContextError, kWhy, x * 2);
    CHECK_THROWS(ContextError, kWhy, Reshape(x, {2, 1}));
    CHECK_THROWS(ContextError, kWhy, Backward(y));
    CHECK_THROWS(ContextError, kWhy, Grad({y}, {x}));
    CHECK_THROWS(ContextError, kWhy, x.RequireGrad());
    CHECK_THROWS(ContextError, kWhy, x.GetGrad());
    CHECK_THROWS(ContextError, kWhy, view.ToHost<double>());
    CHECK_THROWS(ContextError, kWhy, view.ToNative());
    CHECK_THROWS(ContextError, kWhy, view.ToString());
    CHECK_THROWS(ContextError, kWhy, view.ToDevice(GetDefaultDevice()));
    CHECK_THROWS(ContextError, kWhy, view += 1);
    CHECK_THROWS(ContextError, kWhy, y.context().MakeBackpropId("x"));
    // The next context is independent of it.
    Context context;
    const ContextScope scope{context};
    CHECK_EQ(Values(Vector({1}) + 1), (std::vector<double>{2}));
    CHECK_THROWS(ChainerxError, "", view + Vector({1, 2}));
}

CX_TEST(AnotherThreadForgetsADestroyedContext) {
    auto context = std::make_unique<Context>();
    std::atomic<int> step{0};
    double sum = 0;
    std::thread thread{[&] {
        SetDefaultContext(context.get());
        sum += Sum(Ones({2})).Item<double>();
        step = 1;
        while (step != 2) std::this_thread::yield();
        sum += Sum(Ones({3})).Item<double>();  // in the global one
        SetDefaultContext(nullptr);
    }};
    while (step != 1) std::this_thread::yield();
    context.reset();
    step = 2;
    thread.join();
    CHECK_EQ(sum, 5.0);
}
