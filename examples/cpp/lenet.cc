// Trains the LeNet of examples/lenet.py on the same digits, without Python.
#include "training.h"

namespace {

// Two convolutions, each followed by pooling, and two linear layers.
class LeNet : public Model {
 public:
    LeNet() {
        AddLayer({16, 1, 3, 3});
        AddLayer({32, 16, 3, 3});
        AddLayer({64, 32 * (kSide / 4) * (kSide / 4)});
        AddLayer({10, 64});
    }

    cx::Array operator()(cx::Array x) const override {
        const int64_t n = x.shape()[0];
        x = cx::Reshape(x, {n, 1, kSide, kSide});
        for (size_t i : {0, 1}) {
            x = cx::MaxPool(cx::Relu(cx::Conv(x, weight(i), bias(i), 1, 1)), 2);
        }
        x = cx::Linear(cx::Reshape(x, {n, -1}), weight(2), bias(2));
        return cx::Linear(cx::Relu(x), weight(3), bias(3));
    }
};

}  // namespace

int main(int argc, char** argv) {
    return Main("lenet", argc, argv, [] { return std::make_unique<LeNet>(); }, 0.03, 0.975);
}
