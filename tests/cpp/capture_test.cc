// Steps of C++ that are recorded and replayed; Python's tests compare many more programs.
#include "chainerx/capture/capture.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "chainerx/core/interrupt.h"
#include "chainerx/kernels/algorithm.h"
#include "chainerx/kernels/hook.h"
#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;
using Arrays = std::vector<Array>;

namespace {

int64_t Replays(const Capture& step) {
    int64_t n = 0;
    for (const CaptureVariant& v : step.variants()) n += v.replays;
    return n;
}

}  // namespace

CX_TEST(CaptureReplays) {
    int calls = 0;
    Capture step{[&](const Arrays& x) -> Arrays {
        ++calls;
        return {Multiply(Exp(x[0]), x[1]), x[0]};
    }};
    for (int i = 0; i < 6; ++i) {
        const Array x = Vector({0, 0});
        const Arrays y = step({x, Vector({1.0 * i, 2})});
        CHECK_EQ(Values(y[0]), (V{1.0 * i, 2}));
        CHECK_EQ(y[1].raw_data(), x.raw_data());
    }
    CHECK_EQ(calls, 3);
    const auto all = step.variants();
    CHECK_EQ(all.size(), size_t{1});
    CHECK_EQ(all[0].arguments, std::string{"float64[2] float64[2]"});
    CHECK_EQ(all[0].calls, int64_t{2});
    CHECK_EQ(all[0].replays, int64_t{3});
    CHECK(all[0].nbytes > 0);
    CHECK(all[0].reason.empty());
}

CX_TEST(CaptureSetsGradients) {
    const Array w = Vector({1, 2}).RequireGrad();
    Capture step{[&](const Arrays& x) -> Arrays {
        w.ClearGrad();
        const Array loss = Sum(Multiply(Multiply(w, w), x[0]));
        Backward(loss);
        return {loss};
    }};
    std::optional<Array> kept;
    for (int i = 0; i < 6; ++i) {
        const double c = i;
        const Arrays y = step({Vector({c, 1})});
        CHECK_EQ(Values(y[0]), (V{c + 4}));
        CHECK(!y[0].IsBackpropRequired(AnyGraph{}));
        CHECK_EQ(Values(*w.GetGrad()), (V{2 * c, 4}));
        if (i == 4) kept = w.GetGrad();
    }
    CHECK_EQ(Values(*kept), (V{8, 4}));  // was not overwritten
    CHECK_EQ(Replays(step), int64_t{3});
}

CX_TEST(CaptureReturnsAGradientFromBefore) {
    const Array w = Vector({1, 2}).RequireGrad();
    Capture step{[&](const Arrays& x) -> Arrays { return {*w.GetGrad(), Exp(x[0])}; }};
    for (int i = 0; i < 6; ++i) {
        w.SetGrad(Vector({1.0 * i, 3}));
        CHECK_EQ(Values(step({Vector({0})})[0]), (V{1.0 * i, 3}));
    }
    CHECK_EQ(Replays(step), int64_t{3});
}

CX_TEST(CaptureKeepsVariants) {
    Capture step{[](const Arrays& x) -> Arrays { return {Exp(x[0])}; }, {.variants = 2}};
    const auto call = [&](int64_t n) {
        for (int i = 0; i < 4; ++i) step({Vector(V(static_cast<size_t>(n)))});
    };
    for (const int64_t n : {1, 2, 1, 3, 0}) call(n);
    CHECK_EQ(step.variants().size(), size_t{2});
    CHECK_EQ(step.variants()[1].arguments, std::string{"float64[0]"});
    CHECK_EQ(step.variants()[1].replays, int64_t{1});
    CHECK(step.Clear());
    CHECK_EQ(step.variants().size(), size_t{0});
    call(1);
    CHECK_EQ(Replays(step), int64_t{1});
    CHECK_THROWS(ValueError, "variants is 0", Capture({}, {.variants = 0}));
}

CX_TEST(CaptureRefusesWhatItCanNotRepeat) {
    const auto f = [](const Arrays& x) -> Arrays {
        const double value = Values(x[0])[0];
        return {Multiply(x[0], Vector({value}))};
    };
    Capture step{f};
    CHECK_EQ(Values(step({Vector({3})})[0]), (V{9}));
    for (int i = 0; i < 2; ++i) {
        CHECK_THROWS(CaptureError, "which a replay can't repeat", step({Vector({3})}));
    }
    Capture loose{f, {.strict = false}};
    for (int i = 0; i < 5; ++i) CHECK_EQ(Values(loose({Vector({1.0 * i})})[0]), (V{1.0 * i * i}));
    CHECK(!loose.variants()[0].reason.empty());
    CHECK_EQ(Replays(loose), int64_t{0});
}

CX_TEST(CaptureRefusesArraysThatStay) {
    Arrays kept;
    Capture step{[&](const Arrays& x) -> Arrays {
        kept.push_back(Exp(x[0]));
        return {Exp(kept.back())};
    }};
    step({Vector({1})});
    CHECK_THROWS(CaptureError, "is still in use after the step", step({Vector({1})}));
    CHECK_EQ(kept.size(), size_t{2});
}

CX_TEST(CaptureLetsExceptionsPass) {
    bool fails = false;
    const Array state = Vector({0});
    Capture step{[&](const Arrays& x) -> Arrays {
        internal::IAdd(state, x[0]);
        if (fails) throw std::runtime_error{"mine"};
        return {Exp(state)};
    }};
    double sum = 0;
    for (int i = 0; i < 12; ++i) {
        fails = i < 6 && i % 2 == 0;  // in a first run, and in both recordings
        ++sum;
        if (fails) {
            CHECK_THROWS(std::runtime_error, "mine", step({Vector({1})}));
        } else {
            step({Vector({1})});
        }
        CHECK_EQ(Values(state), (V{sum}));
    }
    CHECK(Replays(step) >= 5);
}

CX_TEST(CaptureInsideOfItself) {
    Capture* self = nullptr;
    int depth = 0;
    Capture step{[&](const Arrays& x) -> Arrays {
                     if (++depth % 2 == 1) return (*self)(x);
                     CHECK(!self->Clear());  // while it runs
                     return {Exp(x[0])};
                 },
                 {.strict = false}};
    self = &step;
    for (int i = 0; i < 5; ++i) CHECK_EQ(Values(step({Vector({0})})[0]), (V{1}));
}

CX_TEST(CaptureInThreads) {
    const Array w = Vector({2, 3});
    Capture step{[&](const Arrays& x) -> Arrays { return {Multiply(Exp(x[0]), w)}; }};
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                if (Values(step({Vector({0, 0})})[0]) != V{2, 3}) ++wrong;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    CHECK_EQ(wrong.load(), 0);
    CHECK(Replays(step) > 0);
}

CX_TEST(CaptureFreesWhatItHeld) {
    const auto before = GetLiveCounts().buffers;
    {
        const Array w = Vector({2, 3});
        Capture step{[w](const Arrays& x) -> Arrays { return {Multiply(Exp(x[0]), w)}; }};
        for (int i = 0; i < 5; ++i) step({Vector({0, 0})});
        CHECK(GetLiveCounts().buffers > before);
    }
    CHECK_EQ(GetLiveCounts().buffers, before);
}

namespace {

std::atomic<bool> g_stop{false};

// Interrupts before the call with that number, or before the next one that lets itself be.
struct Interrupter : KernelHook {
    explicit Interrupter(int64_t n) : left{n} {}
    void Run(KernelCall& call) override {
        if (left-- == 0) g_stop = true;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});  // it is asked now and then
        internal::CheckInterrupt();
        call.Proceed();
    }
    int64_t left;
};

// Returns whether it was interrupted.
bool RunInterrupted(int64_t n, const std::function<void()>& f) {
    const auto hook = std::make_shared<Interrupter>(n);
    InstallKernelHook(hook);
    SetInterruptHook([] { return g_stop.load(); });
    bool stopped = false;
    try {
        f();
    } catch (const InterruptedError&) {
        stopped = true;
    }
    g_stop = false;
    SetInterruptHook(nullptr);
    RemoveKernelHook(hook.get());
    return stopped;
}

}  // namespace

// Chains run later than their calls do in the step; yet no write is ahead of another one.
CX_TEST(CaptureIsInterruptedAsTheStepIs) {
    const AlgorithmChoice& fuse = AlgorithmChoice::Find("fuse");
    fuse.Force("tiny");
    const Array a = Vector({0, 0, 0});
    const Array b = Vector({0, 0, 0});
    const Array small = Vector({0});
    const auto f = [&](const Arrays& x) -> Arrays {
        internal::IAdd(a, x[0]);
        const Array y = Multiply(x[0], Exp(x[1]));
        internal::IAdd(small, Vector({1}));
        const Array z = Dot(y, x[0]);  // is in no chain
        internal::IAdd(b, y);
        const Array w = Multiply(Exp(Negative(x[1])), x[1]);
        internal::IMultiply(a, y);
        internal::IAdd(small, w);
        internal::IAdd(b, a);
        return {Add(y, z), w};
    };
    const Arrays x = {Vector({1, 2, 3}), Vector({2})};
    const auto look = [&] {
        std::vector<V> all;
        for (const Array& s : {a, b, small}) all.push_back(Values(s));
        return all;
    };
    const auto reset = [&] {
        for (const Array& s : {a, b, small}) s.Fill(Scalar{1.0});
    };
    std::vector<std::vector<V>> states;
    for (int n = 0;; ++n) {
        reset();
        const bool stopped = RunInterrupted(n, [&] { f(x); });
        states.push_back(look());
        if (!stopped) break;
    }
    Capture step{f};
    for (int i = 0; i < 4; ++i) step(x);
    CHECK_EQ(Replays(step), int64_t{1});
    CHECK(step.variants()[0].fused > 4);
    int n_stopped = 0;
    for (int64_t n = 0; n < 2 * step.variants()[0].calls; ++n) {
        reset();
        n_stopped += RunInterrupted(n, [&] { step(x); }) ? 1 : 0;
        CHECK(std::ranges::find(states, look()) != states.end());
    }
    CHECK(n_stopped > 1);
    fuse.Force(std::nullopt);
}
