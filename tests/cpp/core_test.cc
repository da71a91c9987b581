// Handles, buffers, devices and contexts.
#include <thread>

#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;

CX_TEST(HandlesCount) {
    Array x = Vector({1, 2});
    internal::ArrayBody* body = x.body();
    CHECK_EQ(body->strong.load(), 1u);
    {
        const Array copy = x;
        CHECK_EQ(body->strong.load(), 2u);
        const Array moved = std::move(x);
        CHECK(x.is_null());
        CHECK_EQ(body->strong.load(), 2u);
        x = moved;
        CHECK_EQ(body->strong.load(), 3u);
    }
    CHECK_EQ(body->strong.load(), 1u);
    x = *&x;  // assignment to itself
    CHECK_EQ(body->strong.load(), 1u);
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
        if (Record rec{"foreign", {x}, y}) rec.Grad(0, [&](const Array&) { return foreign(); });
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
