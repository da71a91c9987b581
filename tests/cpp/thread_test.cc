// Concurrent threads, mainly for ThreadSanitizer.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/profiler.h"
#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;
using V = std::vector<double>;

namespace {

constexpr int kThreads = 4;

// Runs f(thread) in all threads, which start together. An exception is a failure.
template <typename F>
void InThreads(F f) {
    std::atomic<int> waiting{kThreads};
    std::vector<std::string> errors(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            --waiting;
            while (waiting != 0) std::this_thread::yield();
            try {
                f(t);
            } catch (const cxtest::Failure& failure) {
                errors[static_cast<size_t>(t)] = failure.text;
            } catch (const std::exception& e) {
                errors[static_cast<size_t>(t)] = e.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& e : errors) {
        if (!e.empty()) cxtest::Fail(__FILE__, __LINE__, e);
    }
}

}  // namespace

CX_TEST(GraphsThatShareALeaf) {
    constexpr int kRuns = 300;
    const Array x = Vector({1, 2});
    x.RequireGrad();
    InThreads([&](int) {
        for (int i = 0; i < kRuns; ++i) Backward(Multiply(Add(x, x), 0.5));
    });
    CHECK_EQ(Values(*x.GetGrad()), (V{kThreads * kRuns, kThreads * kRuns}));  // none was lost
}

CX_TEST(GraphsThatShareNodes) {
    for (int i = 0; i < 100; ++i) {
        const Array x = Vector({2});
        x.RequireGrad();
        const Array t = Multiply(x, x);
        std::vector<Array> ys;
        for (int n = 0; n < kThreads; ++n) ys.push_back(Multiply(t, 1.0));
        InThreads([&](int n) {
            Backward(ys[static_cast<size_t>(n)], std::nullopt, DoubleBackpropOption::kEnable);
        });
        CHECK_EQ(Values(*x.GetGrad()), V{4.0 * kThreads});
    }
}

CX_TEST(OneGraphBackpropagatedByAll) {
    // Without double backprop the first thread consumes it; the others get an error.
    for (int i = 0; i < 200; ++i) {
        const Array x = Vector({2});
        x.RequireGrad();
        Array y = x;
        for (int k = 0; k < 10; ++k) y = Multiply(y, Add(x, 0.0));
        std::atomic<int> n_done{0};
        InThreads([&](int) {
            try {
                Backward(y);
                ++n_done;
            } catch (const GradientError&) {
            }
        });
        CHECK_EQ(n_done.load(), 1);
        CHECK(x.GetGrad());
        CHECK_EQ(GetLiveCounts().nodes, 1);
    }
}

CX_TEST(TargetsInAGraphThatAnotherThreadFrees) {
    for (int i = 0; i < 100; ++i) {
        const Array x = Vector({2});
        x.RequireGrad();
        Array y = x;
        for (int k = 0; k < 10; ++k) y = Multiply(y, x);
        std::atomic<int> n_done{0};
        InThreads([&](int t) {
            try {
                if (t == 0) {
                    Backward(y);
                } else {
                    Grad({y}, {x});
                }
                ++n_done;
            } catch (const GradientError&) {
            }
        });
        CHECK_EQ(n_done.load(), 1);
    }
}

CX_TEST(OneGraphOfManyIds) {
    for (int i = 0; i < 50; ++i) {
        std::vector<std::unique_ptr<BackpropScope>> scopes;
        const Array x = Vector({2});
        for (int n = 0; n < kThreads; ++n) {
            scopes.push_back(std::make_unique<BackpropScope>("id"));
            x.RequireGrad(scopes.back()->backprop_id());
        }
        const Array y = Multiply(Multiply(x, x), 1.0);
        // The order rule forbids an inner id after an outer one, unless both keep the graph.
        InThreads([&](int n) {
            Backward(y, scopes[static_cast<size_t>(n)]->backprop_id(),
                     DoubleBackpropOption::kEnable);
        });
        for (const auto& scope : scopes) {
            CHECK_EQ(Values(x.GetGrad(scope->backprop_id())->AsGradStopped()), V{4});
        }
    }
}

CX_TEST(ArraysDieInOtherThreads) {
    const Array x = Vector({2});
    x.RequireGrad();
    for (int i = 0; i < 50; ++i) {
        std::vector<Array> ys(kThreads);
        InThreads([&](int t) {
            Array y = x;
            for (int k = 0; k < 20; ++k) y = Multiply(y, y);
            ys[static_cast<size_t>(t)] = y;
        });
        InThreads([&](int t) { ys[static_cast<size_t>((t + 1) % kThreads)] = Array{}; });
    }
    CHECK_EQ(GetLiveCounts().nodes, 0);
}

CX_TEST(SavedArrayWhoseHandleDiesMeanwhile) {
    for (int i = 0; i < 200; ++i) {
        const Array x = Vector({3});
        x.RequireGrad();
        Array t = Multiply(x, 2.0);
        Array y = Multiply(t, t);
        InThreads([&](int n) {
            if (n == 0) Backward(y, std::nullopt, DoubleBackpropOption::kEnable);
            if (n == 1) t = Array{};
        });
        CHECK_EQ(Values(x.GetGrad()->AsGradStopped()), V{24});
    }
}

CX_TEST(ClosureOutlivesTheHandleThatDiesMeanwhile) {
    // Like a closure that turns its saved array into a handle and is destroyed: the thread that
    // drops the other handle must never consider itself the last owner.
    constexpr int kRuns = 20000;
    // On a busy machine, each hand-over waits for the scheduler.
    const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds{3};
    std::atomic<internal::ArrayBody*> given{nullptr};
    std::atomic<bool> stop{false};
    int wrong = 0;
    std::thread closure{[&] {
        while (!stop) {
            internal::ArrayBody* body = given.exchange(nullptr);
            if (body == nullptr) {
                std::this_thread::yield();
                continue;
            }
            const bool alive = body->TryRef();
            const Array handle{alive ? body : nullptr};
            body->UnrefMemory();
            if (alive && handle.shape() != Shape{3}) ++wrong;
        }
    }};
    for (int i = 0; i < kRuns && std::chrono::steady_clock::now() < enough; ++i) {
        Array x = Empty({3}, Dtype::kFloat32);
        x.body()->RefMemory();
        given = x.body();
        for (int spin = i % 64; spin > 0 && given != nullptr; --spin) {
        }
        x = Array{};
        while (given != nullptr) std::this_thread::yield();
    }
    stop = true;
    closure.join();
    CHECK_EQ(wrong, 0);
    CHECK_EQ(GetLiveCounts().bodies, 0);
}

CX_TEST(ExpiryIsSeenByAll) {
    for (int i = 0; i < 200; ++i) {
        const Array x = Vector({2});
        Array y;
        {
            BackpropScope scope{"gone"};
            x.RequireGrad(scope.backprop_id());
            y = Multiply(x, x);
        }
        BackpropScope next{"next"};
        InThreads([&](int) { CHECK(!y.IsBackpropRequired(AnyGraph{})); });
    }
}

CX_TEST(GraphIsReadWhileItGoes) {
    for (int i = 0; i < 100; ++i) {
        const Array x = Vector({2});
        x.RequireGrad();
        const Array y = Multiply(Multiply(x, x), x);
        const GraphNode node = *GetGraphValue(y)->creator();
        InThreads([&](int t) {
            if (t == 0) Backward(y);
            if (t == 1) Unchain(y);
            if (t == 2) node.inputs();
            if (t == 3) DumpGraph(y);
        });
        CHECK(!node.inputs()[0]);
    }
}

CX_TEST(ContextIsShared) {
    InThreads([&](int t) {
        for (int i = 0; i < 100; ++i) {
            BackpropScope scope{"id"};
            const Array x = Vector({1}, GetDevice(t % 2 == 0 ? "native:1" : "native:2"));
            x.RequireGrad(scope.backprop_id());
            Backward(Multiply(x, x), scope.backprop_id());
            CHECK_EQ(Values(*x.GetGrad(scope.backprop_id())), V{2});
        }
    });
}

CX_TEST(LargeKernelsShareThePool) {
    // One caller at a time gets the workers, others compute alone; all get the same bits.
    const int n_before = GetNumThreads();
    SetNumThreads(3);
    const Array x = Linspace(-1, 1, 200000, true, Dtype::kFloat32);
    const Array a = Reshape(x, {400, 500});
    const auto compute = [&] {
        const Array y = Exp(x);
        const Array z = Add(Matmul(a, Transpose(a)), Sum(Multiply(x, y)));
        return Values(
            AsType(Concatenate(std::vector<Array>{Ravel(z), y, Sum(a, Axes{1}), Sum(a, Axes{0})}),
                   Dtype::kFloat64));
    };
    const V expected = compute();
    InThreads([&](int) {
        for (int i = 0; i < 5; ++i) CHECK(compute() == expected);
    });
    InThreads([&](int t) {
        for (int n = 1; n <= 3; ++n) {
            if (t == 0) SetNumThreads(n);
            CHECK(compute() == expected);
        }
    });
    SetNumThreads(n_before);
}

CX_TEST(NoMoreThreadsThanAskedFor) {
    // Workers of an earlier, larger job are awake or asleep; a smaller one must not get them all.
    const int n_before = GetNumThreads();
    const auto count_threads = [](int64_t n_blocks) {
        std::mutex mutex;
        std::set<std::thread::id> ids;
        std::atomic<int64_t> done{0};
        ParallelFor(n_blocks, [&](int64_t) {
            {
                const std::lock_guard lock{mutex};
                ids.insert(std::this_thread::get_id());
            }
            std::this_thread::sleep_for(std::chrono::microseconds{200});
            ++done;
        });
        CHECK_EQ(done.load(), n_blocks);
        return ids.size();
    };
    for (int i = 0; i < 20; ++i) {
        SetNumThreads(6);
        const size_t many = count_threads(24);
        CHECK(many >= 1 && many <= 6);
        if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{2});
        SetNumThreads(2);
        const size_t few = count_threads(12);
        CHECK(few >= 1 && few <= 2);
        SetNumThreads(1);
        CHECK_EQ(count_threads(3), size_t{1});
    }
    SetNumThreads(6);
    size_t most = 0;
    for (int i = 0; i < 50 && most < 6; ++i) most = std::max(most, count_threads(60));
    CHECK_EQ(most, size_t{6});  // all of them are woken
    SetNumThreads(n_before);
}

CX_TEST(LeavesCollectGradientsOfLargeArrays) {
    const Array x = Linspace(0, 99999, 100000, true, Dtype::kFloat64);
    x.RequireGrad();
    InThreads([&](int) {
        for (int i = 0; i < 5; ++i) Backward(Sum(Multiply(x, x)));
    });
    CHECK(Values(*x.GetGrad()) == Values(Multiply(x.AsGradStopped(), 2.0 * 5 * kThreads)));
}

// AddressSanitizer of older compilers leaves locks of its own taken in the child.
#if !defined(__SANITIZE_ADDRESS__)
// Locks held by threads that do not exist in the child are free there.
CX_TEST(ForkBesideThreadsThatHoldLocks) {
    KernelProfiler profiler;
    Device& device = GetDefaultDevice();
    const auto use_all = [&](int round) {
        UserOp(("op" + std::to_string(round % 1000)).c_str());
        random::SetState(random::GetState());
        device.Report(internal::GetThreadToken(), std::make_exception_ptr(ChainerxError{"noted"}));
        CHECK_THROWS(ChainerxError, "noted", device.Synchronize());
        profiler.Reset();
    };
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            for (int round = 0; !stop; ++round) use_all(round);
        });
    }
    int status = 0;
    for (int i = 0; i < 200 && status == 0; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            use_all(i);
            _exit(0);
        }
        waitpid(child, &status, 0);
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(status, 0);
}
#endif
