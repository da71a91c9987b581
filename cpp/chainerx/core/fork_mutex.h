// Mutexes that a forked child finds unlocked: a thread that held one in the parent does not exist
// there to unlock it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "chainerx/core/macro.h"

namespace chainerx::internal {

// For short sections: fork waits until nobody is inside, and the thread that forks may hold locks
// that a BlockingScope releases. Must live as long as the process.
class CX_API ForkMutex {
 public:
    constexpr ForkMutex() = default;
    ForkMutex(const ForkMutex&) = delete;
    ForkMutex& operator=(const ForkMutex&) = delete;
    void lock() {
        if (!is_listed_.load(std::memory_order_relaxed)) Enlist();
        mutex_.lock();
    }
    bool try_lock() {
        if (!is_listed_.load(std::memory_order_relaxed)) Enlist();
        return mutex_.try_lock();
    }
    void unlock() { mutex_.unlock(); }

 private:
    static const int g_handlers;

    void Enlist();
    static void LockAll();
    static void UnlockAll();
    static void UnlockUpTo(const ForkMutex* end);

    std::mutex mutex_;
    std::atomic<bool> is_listed_{false};  // whether it is in the list for which fork waits
    ForkMutex* next_{nullptr};
};

// A process-wide object, made on demand and never destroyed. A function's `static` does not serve:
// fork does not wait for the thread that initializes it, and the child would wait for that thread
// for ever.
template <typename T>
class Lazy {
 public:
    constexpr Lazy() = default;
    Lazy(const Lazy&) = delete;
    Lazy& operator=(const Lazy&) = delete;

    // Owns the result of `make`, which runs once, unless it throws.
    T& Get(auto&& make) {
        T* value = value_.load(std::memory_order_acquire);
        if (value == nullptr) [[unlikely]] {
            const std::lock_guard lock{mutex_};
            value = value_.load(std::memory_order_relaxed);
            if (value == nullptr) {
                value = make();
                value_.store(value, std::memory_order_release);
            }
        }
        return *value;
    }
    T& Get() {
        return Get([] { return new T; });
    }

 private:
    ForkMutex mutex_;
    std::atomic<T*> value_{nullptr};
};

// Held while backends and devices are made, which may take long and call back: so fork does not
// wait for it, and a child gets another one. The data it guards must be consistent at every moment,
// as a GrowingList is.
std::recursive_mutex& CreationMutex();

// Owns added elements; prepends each by one store, so that readers need no lock.
template <typename T>
class GrowingList {
 public:
    GrowingList() = default;
    ~GrowingList() {
        while (TakeLast() != nullptr) {
        }
    }
    GrowingList(const GrowingList&) = delete;
    GrowingList& operator=(const GrowingList&) = delete;

    // Allows one writer at a time.
    T& Add(std::unique_ptr<T> value) {
        Node* head = head_.load(std::memory_order_relaxed);
        auto* node = new Node{std::move(value), head};
        head_.store(node, std::memory_order_release);
        return *node->value;
    }

    void ForEach(auto&& f) const {
        for (Node* n = head_.load(std::memory_order_acquire); n != nullptr; n = n->next) {
            f(*n->value);
        }
    }

    // To be called when nobody reads any more. Returns null if it is empty.
    std::unique_ptr<T> TakeLast() {
        const std::unique_ptr<Node> node{head_.load()};
        if (node == nullptr) return nullptr;
        head_ = node->next;
        return std::move(node->value);
    }

    // Returns the first element for which `matches` is true, or null.
    T* Find(auto&& matches) const {
        for (Node* n = head_.load(std::memory_order_acquire); n != nullptr; n = n->next) {
            if (matches(*n->value)) return n->value.get();
        }
        return nullptr;
    }

 private:
    struct Node {
        std::unique_ptr<T> value;
        Node* next;
    };

    std::atomic<Node*> head_{nullptr};
};

}  // namespace chainerx::internal
