// The results of a captured function: arrays, in whatever they came in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/capture/dataclass.h"
#include "chainerx/python/engine/variable.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// The form of a result, without its arrays.
class ResultForm {
 public:
    // Takes the result apart; its arrays are added to `arrays`.
    ResultForm(PyObject* result, std::vector<Array>& arrays);

    // Puts arrays in their places. New reference.
    PyObject* Fill(const std::vector<Array>& arrays) const;

    // Equal for forms that are equal: "(array, 0.5)".
    const std::string& text() const { return text_; }

    // The number of arrays in it.
    size_t size() const { return size_; }

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
        size_t array;             // index
        Ref object;               // an object; the type of a tuple, dict, dataclass, or variable
        std::vector<Ref> keys;    // of a dict; the names of attributes
        std::vector<Node> children;
    };

    Node Take(PyObject* o, std::vector<Array>& arrays, int depth);
    void TakeAttributes(const Attributes& attributes, Node& node, std::vector<Array>& arrays,
                        int depth);
    static Attributes FillAttributes(const Node& node, const std::vector<Array>& arrays);
    static PyObject* Fill(const Node& node, const std::vector<Array>& arrays);
    static int Traverse(const Node& node, visitproc visit, void* arg);

    std::string text_;
    Node root_;
    size_t size_;
};

}  // namespace chainerx::python
