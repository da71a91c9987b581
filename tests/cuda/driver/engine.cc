#include "engine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "errors.h"
#include "settings.h"

__thread chainerx::cuda::test::Current* cx_current __attribute__((tls_model("initial-exec"))) =
    nullptr;

namespace chainerx::cuda::test {

Order::Order(std::uint64_t n) : n_{n} {
    const Settings& settings = GetSettings();
    if (settings.order == Settings::kForward || n < 2) return;
    if (settings.order == Settings::kReverse) {
        factor_ = n - 1;
        first_ = n - 1;
        return;
    }
    const std::uint64_t random = NextRandom();
    first_ = (random >> 32) % n;
    factor_ = (random & 0x7fffffff) % n;
    while (std::gcd(factor_, n) != 1) factor_ = (factor_ + 1) % n;
}

Engine::Engine() { cx_current = this; }

Engine::~Engine() { cx_current = nullptr; }

Engine* Engine::Get() { return static_cast<Engine*>(cx_current); }

std::string Engine::Run(const Launch& launch) {
    launch_ = &launch;
    error_.clear();
    block_size = launch.block;
    grid = launch.grid;
    threads_ = block_size.x * block_size.y * block_size.z;
    warps_.resize((threads_ + 31) / 32);
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    const Order order{blocks};
    thread_order_ = Order{threads_};
    for (std::uint64_t i = 0; i < blocks && error_.empty(); ++i) {
        const std::uint64_t number = order[i];
        block.x = number % grid.x;
        block.y = number / grid.x % grid.y;
        block.z = number / grid.x / grid.y;
        RunBlock();
    }
    return error_;
}

void Engine::RunBlock() {
    started_ = ended_ = 0;
    ++epoch_;
    begun = false;
    waiting_.clear();
    ready_.clear();
    next_ready_ = 0;
    for (unsigned i = 0; i < warps_.size(); ++i) {
        const unsigned lanes = std::min(threads_ - 32 * i, 32u);
        warps_[i].live = lanes == 32 ? ~0u : (1u << lanes) - 1;
        warps_[i].calls.clear();
    }
    shared.Reset(launch_->dynamic_shared);
    SwitchTo(IdleFiber());
    // All threads have ended, or each waits, or one has failed.
    if (error_.empty() && ended_ < threads_) {
        error_ = Format("%s: block (%u, %u, %u): deadlock: %u threads wait", launch_->name.c_str(),
                        block.x, block.y, block.z, threads_ - ended_);
        if (!waiting_.empty()) error_ += Format(", some at the barrier in line %u", barrier_line_);
    } else if (error_.empty() && shared.Overrun()) {
        error_ = launch_->name + ": write outside of the arrays in shared memory";
    } else if (error_.empty() && launch_->must_begin && !begun) {
        error_ = launch_->name + ": does not begin with CX_BEGIN()";
    }
    if (error_.empty()) return;
    idle_.clear();
    for (const auto& fiber : fibers_) {
        fiber->Restart();
        idle_.push_back(fiber.get());
    }
}

void Engine::FiberMain() {
    for (;;) {
        Engine& engine = *Get();
        while (engine.next_ready_ == engine.ready_.size() && engine.started_ < engine.threads_) {
            engine.RunThread(engine.started_++);
        }
        engine.idle_.push_back(engine.fiber_);
        Fiber* next = engine.PopReady();
        engine.SwitchTo(next == nullptr ? engine.main_ : *next);
    }
}

void Engine::RunThread(unsigned number) {
    const auto t = static_cast<unsigned>(thread_order_[number]);
    fiber_->thread = t;
    thread = {t % block_size.x, t / block_size.x % block_size.y, t / block_size.x / block_size.y};
    launch_->kernel.run(launch_->params.get());
    EndThread();
}

void Engine::EndThread() {
    ++ended_;
    if (!waiting_.empty() && waiting_.size() == threads_ - ended_) ReleaseBarrier();
    const unsigned number = fiber_->thread / 32;
    Warp& warp = warps_[number];
    warp.live &= ~(1u << fiber_->thread % 32);
    for (std::size_t i = warp.calls.size(); i-- > 0;) {
        if (warp.calls[i].arrived == (warp.calls[i].mask & warp.live)) Execute(number, i);
    }
}

Fiber* Engine::PopReady() {
    if (next_ready_ < ready_.size()) return ready_[next_ready_++];
    ready_.clear();
    next_ready_ = 0;
    return nullptr;
}

Fiber& Engine::IdleFiber() {
    if (idle_.empty()) {
        fibers_.push_back(std::make_unique<Fiber>(&FiberMain));
        return *fibers_.back();
    }
    Fiber& fiber = *idle_.back();
    idle_.pop_back();
    return fiber;
}

void Engine::SwitchTo(Fiber& next) {
    Fiber& self = *fiber_;
    fiber_ = &next;
    Fiber::Switch(self, next);
}

void Engine::Wait() {
    Fiber& self = *fiber_;
    const Index3 saved = thread;
    // Threads that can go on come before new ones, so that few stacks are in use.
    Fiber* next = PopReady();
    if (next == nullptr) next = started_ < threads_ ? &IdleFiber() : &main_;
    if (next != &self) SwitchTo(*next);
    thread = saved;
}

std::uint64_t Engine::Barrier(int value, unsigned line) {
    if (waiting_.empty()) {
        barrier_line_ = line;
        barrier_votes_ = 0;
    } else if (line != barrier_line_) {
        Fail(Format("waits at the barrier in line %u, %s at that in line %u", line,
                    Describe(waiting_[0]->thread).c_str(), barrier_line_));
    }
    barrier_votes_ += value != 0;
    if (waiting_.size() + 1 == threads_ - ended_) return ReleaseBarrier();
    waiting_.push_back(fiber_);
    Wait();
    return fiber_->result;
}

std::uint64_t Engine::ReleaseBarrier() {
    // Who arrived last is not among those that wait, unless a thread that ended releases them.
    const std::uint64_t arrived = threads_ - ended_;
    const std::uint64_t result = arrived << 32 | barrier_votes_;
    for (Fiber* fiber : waiting_) fiber->result = result;
    ready_.insert(ready_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    ++epoch_;
    return result;
}

std::uint64_t Engine::CallWarp(WarpOp op, unsigned mask, std::uint64_t value, unsigned argument,
                               unsigned width, unsigned line) {
    const unsigned number = fiber_->thread / 32, lane = fiber_->thread % 32;
    Warp& warp = warps_[number];
    if ((mask >> lane & 1) == 0) Fail("calls an operation of its warp with a mask without itself");
    if (!std::has_single_bit(width) || width > 32) Fail("width of a shuffle is no power of two");
    std::size_t i = 0;
    while (i < warp.calls.size() && (warp.calls[i].mask & mask) == 0) ++i;
    if (i == warp.calls.size()) warp.calls.push_back({op, mask, width, line});
    WarpCall& call = warp.calls[i];
    if (call.op != op || call.mask != mask || call.width != width || call.line != line) {
        const unsigned other = 32 * number + std::countr_zero(call.arrived);
        Fail(Format("lanes of a warp do different things: line %u here, line %u in %s", line,
                    call.line, Describe(other).c_str()));
    }
    call.arrived |= 1u << lane;
    warp.values[lane] = value;
    warp.arguments[lane] = argument;
    warp.fibers[lane] = fiber_;
    if (call.arrived == (mask & warp.live)) {
        Execute(number, i);
    } else {
        Wait();
    }
    return fiber_->result;
}

void Engine::Execute(unsigned warp_number, std::size_t call_number) {
    Warp& warp = warps_[warp_number];
    const WarpCall call = warp.calls[call_number];
    warp.calls.erase(warp.calls.begin() + static_cast<std::ptrdiff_t>(call_number));
    if (call.op == WarpOp::kSync) ++warp.epoch;
    std::uint64_t ballot = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (call.arrived >> lane & 1) ballot |= (warp.values[lane] & 1) << lane;
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((call.arrived >> lane & 1) == 0) continue;
        const unsigned argument = warp.arguments[lane], base = lane & ~(call.width - 1);
        unsigned source = lane;
        std::uint64_t result = 0;
        switch (call.op) {
            case WarpOp::kSync:
                break;
            case WarpOp::kBallot:
                result = ballot;
                break;
            case WarpOp::kMatchAny:
                for (unsigned k = 0; k < 32; ++k) {
                    const bool equal =
                        (call.arrived >> k & 1) && warp.values[k] == warp.values[lane];
                    result |= std::uint64_t{equal} << k;
                }
                break;
            case WarpOp::kShuffle:
                source = base + (argument & (call.width - 1));
                break;
            case WarpOp::kShuffleUp:
                if (argument <= lane - base) source = lane - argument;
                break;
            case WarpOp::kShuffleDown:
                if (argument < base + call.width - lane) source = lane + argument;
                break;
            case WarpOp::kShuffleXor:
                if (((lane ^ argument) & 31) < base + call.width) source = (lane ^ argument) & 31;
                break;
        }
        if (call.op >= WarpOp::kShuffle) {
            // What a lane that takes no part would give is undefined.
            result = call.arrived >> source & 1 ? warp.values[source] : ~std::uint64_t{0};
        }
        warp.fibers[lane]->result = result;
        if (warp.fibers[lane] != fiber_) ready_.push_back(warp.fibers[lane]);
    }
}

std::string Engine::Describe(unsigned t) const {
    const Index3 size = block_size;
    return Format("thread (%u, %u, %u)", t % size.x, t / size.x % size.y, t / size.x / size.y);
}

void Engine::Fail(const std::string& what) {
    error_ = Format("%s: block (%u, %u, %u), ", launch_->name.c_str(), block.x, block.y, block.z) +
             Describe(fiber_->thread) + ": " + what;
    SwitchTo(main_);
    __builtin_unreachable();
}

}  // namespace chainerx::cuda::test

using chainerx::cuda::test::Engine;

std::uint64_t cx_barrier(int value, unsigned line) { return Engine::Get()->Barrier(value, line); }

std::uint64_t cx_warp(chainerx::cuda::test::WarpOp op, unsigned mask, std::uint64_t value,
                      unsigned argument, unsigned width, unsigned line) {
    return Engine::Get()->CallWarp(op, mask, value, argument, width, line);
}

void* cx_shared(const void* place, std::size_t nbytes, std::size_t alignment) {
    void* p = Engine::Get()->shared.Get(place, nbytes, alignment);
    if (p == nullptr) Engine::Get()->Fail("static shared memory exceeds 48 KiB");
    return p;
}

void* cx_dynamic_shared() { return Engine::Get()->shared.dynamic(); }
