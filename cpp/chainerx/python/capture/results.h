// The results of a captured function: arrays, in whatever they came in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/capture/dataclass.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

bool IsParameter(PyObject* o);

// Whether backward that gets to the array changes nothing that anybody could see: it is a leaf, or
// its graph ends in what was unchained, or has gone.
bool IsEnd(const Array& x);

// The form of a result, without its arrays.
class ResultForm {
 public:
    // Takes the result apart; its arrays are added to `arrays`, outside of all graphs.
    ResultForm(PyObject* result, std::vector<Array>& arrays)
        : ResultForm{result, arrays, false, nullptr} {}
    // The same of what the next call goes on with: parameters in it stay themselves, as do those
    // arrays that were there before, and variables are leaves with gradients if they were.
    using Was = std::function<bool(const Array&)>;
    static ResultForm OfState(PyObject* value, std::vector<Array>& arrays, const Was& was) {
        return ResultForm{value, arrays, true, &was};
    }

    // The same of arguments, in a tuple and a dict: lists, dicts and objects without arrays stay
    // themselves.
    static ResultForm OfCall(PyObject* arguments, std::vector<Array>& arrays) {
        return ResultForm{arguments, arrays, false, nullptr, true};
    }

    // Puts arrays in their places. New reference.
    PyObject* Fill(const std::vector<Array>& arrays) const;

    // Equal for forms that are equal: "(array, 0.5)".
    const std::string& text() const { return text_; }

    // The number of arrays in it.
    size_t size() const { return size_; }
    // Whether all of them stay themselves.
    bool stays() const { return n_same_ == size_; }

    int Traverse(visitproc visit, void* arg) const;

 private:
    enum class Kind : uint8_t {
        kArray,
        kVariable,
        kNumpy,
        kObject,
        kTuple,
        kList,
        kDict,
        kDataclass
    };
    struct Node {
        Kind kind;
        engine::Kind array_kind;  // of a variable
        bool requires_grad;       // of a leaf
        size_t array;             // index
        Ref same;                 // an array that stays itself
        Ref object;               // an object; the type of a tuple, dict, dataclass, or variable
        std::vector<Ref> keys;    // of a dict; the names of attributes
        std::vector<Node> children;
    };

    ResultForm(PyObject* result, std::vector<Array>& arrays, bool is_state, const Was* was,
               bool is_call = false);
    Node Take(PyObject* o, std::vector<Array>& arrays, int depth);
    void TakeAttributes(const Attributes& attributes, Node& node, std::vector<Array>& arrays,
                        int depth);
    static Attributes FillAttributes(const Node& node, const std::vector<Array>& arrays);
    static PyObject* Fill(const Node& node, const std::vector<Array>& arrays);
    static int Traverse(const Node& node, visitproc visit, void* arg);

    bool is_state_;
    bool is_call_;
    const Was* was_;  // while it takes apart
    size_t n_same_{0};
    std::string text_;
    Node root_;
    size_t size_;
};

}  // namespace chainerx::python
