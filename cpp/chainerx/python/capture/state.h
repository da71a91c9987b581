// Arrays that a captured step leaves in attributes, items and variables of the program. Replays set
// them anew. Those that the next call reads are arguments, though nobody passes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chainerx/capture/recorder.h"
#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/capture/arguments.h"
#include "chainerx/python/capture/place.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Adds the variables and arrays in a value, as they are. Parameters are nobody's results.
void CollectArrays(PyObject* o, std::vector<Array>& arrays, int depth = 0);

struct Left;

// A place and what it is called in messages: "LSTM.h".
struct NamedPlace {
    Place place;
    std::string name;
};

// Attributes that a step which is recorded sets, as told by links, for they may have any names.
class NotedPlaces {
 public:
    struct Noted {
        NamedPlace at;
        Ref before;            // null if there was nothing
        bool is_told;          // else it is seen that something else is there now
        bool is_shown{false};  // to code of the program, in the step
        bool is_plain{false};  // replays set it without any array, too
    };

    NotedPlaces();
    ~NotedPlaces();
    NotedPlaces(const NotedPlaces&) = delete;
    NotedPlaces& operator=(const NotedPlaces&) = delete;

    // The first time that a place is noted counts.
    void Add(NamedPlace at, Ref before, bool is_told, bool is_plain = false);
    // What knows the places that are not told.
    void LookWith(PyObject* watch) { watch_ = Ref{Py_NewRef(watch)}; }
    // Notes the places that hold something else by now.
    void Look();
    std::vector<Noted>& all() { return all_; }
    // Of the step that is recorded; null outside of steps.
    static NotedPlaces* Current();
    // What else the recording holds. Null outside of steps.
    static std::vector<std::shared_ptr<const Traversable>>* held();

 private:
    NotedPlaces* const outer_;
    Ref watch_;
    std::vector<Noted> all_;
    std::vector<std::shared_ptr<const Traversable>> held_;
};

// The state of a captured function: the places that its step reads before it sets them.
class State : public Traversable {
 public:
    // What was in them before a call.
    struct Before {
        size_t place;
        std::vector<Array> arrays;  // those in graphs
    };

    // Adds what is in them now, as leaves where graphs do not matter.
    std::vector<Before> AddTo(Arguments& arguments) const;
    // At the end of a step that is recorded, all that may have changed: sees to it that replays
    // set what the step has set. Returns whether there is more state than was known: the recording
    // is then of no use. What is held is to be shown to the garbage collector.
    bool Finish(internal::Recorder& recorder, const std::vector<Before>& before,
                std::vector<NotedPlaces::Noted>& changes, PyObject* result,
                std::vector<std::weak_ptr<const Traversable>>& held);
    int Traverse(visitproc visit, void* arg) const override;

 private:
    bool IsKnown(const Place& place) const;

    std::vector<NamedPlace> places_;
};

// Places that a step has set before it calls code of the program, which may look there.
class ShownPlaces : public Traversable {
 public:
    // Adds the arrays in them.
    ShownPlaces(NotedPlaces& noted, std::vector<Array>& arrays);
    // Sets them to these arrays, in the places of those.
    void Set(const std::vector<Array>& arrays) const;
    bool IsSame(const ShownPlaces& o) const;
    int Traverse(visitproc visit, void* arg) const override;

 private:
    std::vector<std::shared_ptr<const Left>> all_;
};

void InitCaptureState(PyObject* engine);

}  // namespace chainerx::python
