// Streams on the device of async_backend.cc, whose kernels run later, in other threads.
#include <functional>
#include <string>
#include <thread>

#include "chainerx/core/kernel_error.h"
#include "chainerx/core/stream.h"
#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;

CX_TEST(AStreamIsOfADeviceAndAThread) {
    Context context;
    ContextScope scope{context};
    Device& device = context.GetDevice("async_toy:0");
    Device& other = context.GetDevice("async_toy:1");
    Stream* const first = device.default_stream();
    CHECK(first != nullptr);
    CHECK(GetCurrentStream(device) == first);
    Stream& second = device.NewStream();
    {
        StreamScope outer{second};
        CHECK(GetCurrentStream(device) == &second);
        CHECK(GetCurrentStream(other) == other.default_stream());
        Stream* elsewhere = nullptr;
        std::thread{[&] { elsewhere = GetCurrentStream(device); }}.join();
        CHECK(elsewhere == first);
        {
            StreamScope inner{*first};
            CHECK(GetCurrentStream(device) == first);
        }
        CHECK(GetCurrentStream(device) == &second);
    }
    CHECK(GetCurrentStream(device) == first);
    CHECK_THROWS(DeviceError, "async_toy:1", other.Synchronize(second));
    Device& native = context.GetDevice("native:0");
    CHECK(native.default_stream() == nullptr && GetCurrentStream(native) == nullptr);
    CHECK_THROWS(NotImplementedError, "native:0 has no streams", native.NewStream());
}

CX_TEST(OneStreamWaitsForAnother) {
    Context context;
    ContextScope scope{context};
    Device& device = context.GetDevice("async_toy:0");
    Stream& first = *device.default_stream();
    Stream& second = device.NewStream();
    for (int i = 0; i < 50; ++i) {
        Array x = Full({1000}, 1, Dtype::kFloat64, device);
        for (int k = 0; k < 10; ++k) x = Add(x, x);
        StreamScope inside{second};
        second.WaitFor(first, first.Mark());
        CHECK_EQ(Sum(x).ToDevice(context.GetDevice("native:0")).ToString().substr(0, 14),
                 std::string{"array(1024000."});
    }
}

CX_TEST(MemoryIsNotReusedWhileAnotherStreamNeedsIt) {
    Context context;
    ContextScope scope{context};
    Device& device = context.GetDevice("async_toy:0");
    Stream& first = *device.default_stream();
    Stream& second = device.NewStream();
    for (int i = 0; i < 100; ++i) {
        Array x = Full({500}, i, Dtype::kFloat64, device);
        Array y;
        {
            StreamScope inside{second};
            for (int k = 0; k < 5; ++k) Full({5000}, k, Dtype::kFloat64, device);  // keeps it busy
            second.WaitFor(first, first.Mark());
            y = Add(x, x);
        }
        x = Array{};
        // Same size and stream as x, so that it would get the memory of x.
        const Array z = Full({500}, -1, Dtype::kFloat64, device);
        StreamScope inside{second};
        CHECK_EQ(Values(y), V(500, 2.0 * i));
    }
}

CX_TEST(ErrorsOfKernelsAreThrownOnce) {
    Context context;
    ContextScope scope{context};
    Device& device = context.GetDevice("async_toy:0");
    const Array x = Vector({1, 2, 3}, device);
    const Array at = Full({2}, 5, Dtype::kInt64, device);
    Take(x, at, 0);  // no error yet
    CHECK_THROWS(IndexError, "take: index 5 is out of range for an axis of length 3: indices[0]",
                 device.Synchronize());
    device.Synchronize();
    CHECK_EQ(Values(x), (V{1, 2, 3}));
    // Raised in the thread that launched the kernel, and not in another one during its life.
    std::string there;
    std::string elsewhere;
    const auto wait = [&](std::string& text) {
        try {
            device.Synchronize();
        } catch (const KernelCheckError& e) {
            text = e.what();
        }
    };
    std::thread{[&] {
        ContextScope scope{context};
        Take(x, at, 0);
        std::thread{wait, std::ref(elsewhere)}.join();
        wait(there);
    }}.join();
    CHECK_EQ(elsewhere, "");
    CHECK_EQ(there, "take: index 5 is out of range for an axis of length 3: indices[0]");
    device.Synchronize();
}
