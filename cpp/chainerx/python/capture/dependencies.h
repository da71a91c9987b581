// What a captured step reads of the program besides its arguments, as chainerx/_dependencies.py
// finds it: if it is another object before a replay, the step is recorded anew.
#pragma once

#include <memory>
#include <vector>

#include "chainerx/core/capture_observer.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/capture/place.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

class Dependencies : public Traversable {
 public:
    // Of a list of tuples.
    explicit Dependencies(PyObject* found);

    // Whether all of them are as they were.
    bool Hold() const;
    // Forgets what is not the same in another recording of the step, which is equal nevertheless.
    void KeepCommon(const Dependencies& o);
    int Traverse(visitproc visit, void* arg) const override;

 private:
    // Only numbers and texts are kept alive; of other objects nothing but the address is known.
    struct Item {
        PyObject* address;
        Ref held;

        bool Is(PyObject* now) const;
        bool is_leaf() const { return static_cast<bool>(held); }
    };
    struct Entry {
        // A function, a context variable, an array and the like hold their value themselves.
        Place place;
        Ref value;            // null: there is none
        Py_ssize_t size{-1};  // of a dict or list that is the owner, without a key
        // Of a container that is looked at as a whole: its items, or its keys and values.
        bool is_whole{false};
        std::vector<Item> items{};
    };
    static bool IsSame(const Entry& a, const Entry& b);
    static bool HasAll(PyObject* set, const std::vector<Item>& items);
    static bool Holds(const Entry& entry);
    static bool HoldsItself(const Entry& entry);

    std::vector<Entry> entries_;
};

// The part of a recording that looks at them.
class DependencyPart : public ReplayPart {
 public:
    explicit DependencyPart(std::shared_ptr<Dependencies> all) : all_{std::move(all)} {}
    bool Prepare() override { return all_->Hold(); }
    bool IsSame(const ReplayPart& o) const override;
    Again again() const override { return Again::kDone; }

 private:
    std::shared_ptr<Dependencies> all_;
};

}  // namespace chainerx::python
