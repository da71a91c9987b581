// Trains the network of examples/digits.py on the same digits, without Python.
#include "training.h"

namespace {

// Linear layers with ReLU between them.
class Mlp : public Model {
 public:
    explicit Mlp(const std::vector<int64_t>& sizes) {
        for (size_t i = 0; i + 1 < sizes.size(); ++i) AddLayer({sizes[i + 1], sizes[i]});
    }

    cx::Array operator()(cx::Array x) const override {
        for (size_t i = 0; i < layers(); ++i) {
            x = cx::Linear(i == 0 ? x : cx::Relu(x), weight(i), bias(i));
        }
        return x;
    }
};

}  // namespace

int main(int argc, char** argv) {
    const auto make = [] {
        return std::make_unique<Mlp>(std::vector<int64_t>{kPixels, 128, 64, 10});
    };
    return Main("digits", argc, argv, make, 0.1, 0.97);
}
