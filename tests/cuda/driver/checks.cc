// Access hooks: kernels compiled with -fsanitize=thread,alignment call them before every access.
// They find races on shared memory and addresses outside of allocations, in whatever order threads
// run.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "context.h"
#include "engine.h"
#include "errors.h"
#include "memory.h"

namespace chainerx::cuda::test {

namespace {

constexpr std::uint16_t kMany = 0xffff;

// Who read, or who wrote, a byte of shared memory since the last barrier.
struct Accesses {
    std::uint32_t epoch = 0;
    std::uint16_t thread = 0, warp = 0;  // kMany: several
    std::uint16_t warp_epoch = 0;
    bool atomic = false;

    bool SameTime(const Accesses& other) const {
        return epoch == other.epoch && (warp != other.warp || warp_epoch == other.warp_epoch);
    }
    bool Races(const Accesses& now) const {
        return SameTime(now) && thread != now.thread && !(atomic && now.atomic);
    }
    void Add(const Accesses& now) {
        if (!SameTime(now)) {
            *this = now;
            return;
        }
        if (thread != now.thread) thread = kMany;
        if (warp != now.warp) warp = kMany;
        atomic = atomic && now.atomic;
    }
};
struct Shadow {
    Accesses reads, writes;
};

struct Access {
    std::size_t nbytes;
    bool write, atomic;

    [[noreturn]] void Fail(Engine& engine, const std::string& what) const {
        engine.Fail(Format("%s of %zu bytes ", write ? "write" : "read", nbytes) + what);
    }
};

void CheckShared(Engine& engine, const char* p, const Access& access) {
    thread_local std::unique_ptr<Shadow[]> shadows;
    if (shadows == nullptr) shadows = std::make_unique<Shadow[]>(SharedMemory::kCapacity);
    if (!engine.shared.Covers(p, access.nbytes)) {
        access.Fail(engine, "outside of the arrays in shared memory");
    }
    const unsigned t = engine.thread_number();
    const Accesses now{static_cast<std::uint32_t>(engine.epoch()), static_cast<std::uint16_t>(t),
                       static_cast<std::uint16_t>(t / 32),
                       static_cast<std::uint16_t>(engine.warp_epoch()), access.atomic};
    Shadow* shadow = &shadows[engine.shared.Offset(p)];
    for (Shadow* end = shadow + access.nbytes; shadow < end; ++shadow) {
        const bool wrote = shadow->writes.Races(now);
        if (wrote || (access.write && shadow->reads.Races(now))) {
            const unsigned other = wrote ? shadow->writes.thread : shadow->reads.thread;
            access.Fail(engine, "of shared memory that " +
                                    (other == kMany ? "other threads" : engine.Describe(other)) +
                                    (wrote ? " wrote" : " read") + " since the last barrier");
        }
        (access.write ? shadow->writes : shadow->reads).Add(now);
    }
}

void CheckDevice(Engine& engine, CUdeviceptr p, const Access& access) {
    // What was found last; it holds as long as nothing is freed.
    struct Known {
        std::uint64_t generation;
        CUcontext context;
        CUdeviceptr begin;
        std::size_t nbytes;
    };
    thread_local Known known[8] = {};
    thread_local unsigned next = 0;
    const Memory& memory = Memory::Get();
    CUcontext context = engine.launch().context;
    const std::uint64_t generation = memory.generation();
    for (const Known& k : known) {
        if (p - k.begin < k.nbytes && p + access.nbytes <= k.begin + k.nbytes &&
            k.generation == generation && k.context == context) {
            return;
        }
    }
    const auto fail = [&](const char* what) {
        access.Fail(engine, Format("at 0x%llx%s", p, what));
    };
    const auto a = memory.Find(p);
    if (!a) fail(memory.WasFreed(p) ? ", which was freed" : ", outside of all allocations");
    if (a->kind == Allocation::kMapped && !a->accessible) fail(", before cuMemSetAccess");
    if (!memory.Covers(p, access.nbytes, false)) fail(", over the end of an allocation");
    if (!a->IsFor(context->device)) fail(" of another device");
    known[next++ % 8] = {generation, context, a->address, a->nbytes};
}

void Check(const volatile void* address, const Access& access) {
    Engine* engine = Engine::Get();
    if (engine == nullptr || !engine->running()) return;
    const char* p = const_cast<const char*>(static_cast<const volatile char*>(address));
    const CUdeviceptr view = reinterpret_cast<std::uintptr_t>(p);
    if (engine->shared.Holds(p)) return CheckShared(*engine, p, access);
    if (Memory::Get().IsView(view)) CheckDevice(*engine, view - kKernelView, access);
}

}  // namespace

}  // namespace chainerx::cuda::test

using chainerx::cuda::test::Check;

#pragma GCC visibility push(default)
extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

void __tsan_read_range(void* p, std::size_t nbytes) { Check(p, {nbytes, false, false}); }
void __tsan_write_range(void* p, std::size_t nbytes) { Check(p, {nbytes, true, false}); }
#define CX_ACCESS(n)                                                        \
    void __tsan_read##n(void* p) { Check(p, {n, false, false}); }           \
    void __tsan_write##n(void* p) { Check(p, {n, true, false}); }           \
    void __tsan_unaligned_read##n(void* p) { Check(p, {n, false, false}); } \
    void __tsan_unaligned_write##n(void* p) { Check(p, {n, true, false}); }
CX_ACCESS(1)
CX_ACCESS(2)
CX_ACCESS(4)
CX_ACCESS(8)
CX_ACCESS(16)
#undef CX_ACCESS

#define CX_ATOMIC(bits, T)                                                                        \
    T __tsan_atomic##bits##_load(const volatile T* p, int) {                                      \
        Check(p, {sizeof(T), false, true});                                                       \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
    }                                                                                             \
    bool __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* old, T x, int, int) {    \
        Check(p, {sizeof(T), true, true});                                                        \
        return __atomic_compare_exchange_n(p, old, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
CX_ATOMIC(32, std::uint32_t)
CX_ATOMIC(64, std::uint64_t)
#undef CX_ATOMIC

// What the compiler tells of the access first: the file and the line, and later the alignment.
struct cx_mismatch {
    const char* file;
    unsigned line, column;
};
void __ubsan_handle_type_mismatch_v1(cx_mismatch* place, void* p) {
    auto* engine = chainerx::cuda::test::Engine::Get();
    if (engine == nullptr || !engine->running()) return;
    engine->Fail(chainerx::cuda::Format("misaligned access to %p in line %u", p, place->line));
}
}
#pragma GCC visibility pop
