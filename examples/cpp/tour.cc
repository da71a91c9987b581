// A tour of chainerx without Python: arrays, gradients, a network that learns.
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"
#include "options.h"
#include "picture.h"

namespace cx = chainerx;

// Arrays are made from values in host memory, and copied back.
void Arrays() {
    const cx::Array x = cx::Array::FromHost(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    std::cout << x << "\n";
    const cx::Array y = cx::Sum(x * x + 1, 1);            // over axis 1
    const std::vector<float> values = y.ToHost<float>();  // {17, 80}
    const double mean = cx::Mean(y).Item<double>();       // of one element
    const bool same = cx::All(y == y).Item<bool>();       // arrays do not convert to bool
    std::cout << values[0] << " " << values[1] << " " << mean << " " << same << "\n";
}

// Gradients, and gradients of gradients.
void Gradients() {
    const cx::Array x = cx::Arange(3, cx::Dtype::kFloat32).RequireGrad();
    cx::Backward(cx::Sum(x * x * x));
    std::cout << *x.GetGrad() << "\n";  // 3 x^2
    const cx::Array y = cx::Sum(cx::Tanh(x));
    const cx::Array g = *cx::Grad({y}, {x}, {}, cx::DoubleBackpropOption::kEnable)[0];
    std::cout << *cx::Grad({cx::Sum(g)}, {x})[0] << "\n";
}

// Fits y = 2 x + 1 by gradient descent; returns the losses.
std::vector<double> Train() {
    const cx::Array x = cx::Linspace(-1, 1, 64).Reshape({64, 1});
    const cx::Array t = x * 2 + 1;
    const cx::Array w = cx::Zeros({1, 1}).RequireGrad();
    const cx::Array b = cx::Zeros({1}).RequireGrad();
    std::vector<double> losses;
    for (int step = 0; step < 200; ++step) {
        const cx::Array error = cx::Linear(x, w, b) - t;
        const cx::Array loss = cx::Mean(error * error);
        cx::Backward(loss);
        losses.push_back(loss.Item<double>());
        for (const cx::Array& p : {w, b}) {
            // A parameter is part of a graph and may not be written; its grad-stopped view may.
            p.AsGradStopped() -= *p.GetGrad() * 0.1;
            p.ClearGrad();
        }
    }
    std::cout << "w = " << w.Item<float>() << ", b = " << b.Item<float>() << "\n";
    return losses;
}

int Tour(const Options& options) {
    if (!options.rest.empty()) throw std::invalid_argument{"there is nothing to give but options"};
    cx::Context context;  // owns the devices, and must outlive arrays
    cx::SetGlobalDefaultContext(&context);
    Arrays();
    Gradients();
    Picture picture{440, 220};
    picture.Curve(80, 40, 320, 140, "mean squared error by step", Train());
    picture.Save(options["--out"]);
    std::cout << "Picture: " << options["--out"] << "\n";
    try {
        cx::Matmul(cx::Zeros({2, 3}), cx::Zeros({4, 5}));
    } catch (const cx::DimensionError& e) {
        std::cout << e.what() << "\n";
    }
    return 0;
}

int main(int argc, char** argv) {
    const std::string usage =
        "usage: tour [--out PATH]\n\n"
        "Shows arrays, gradients, and how a line is learnt.\n\n"
        "  --out PATH  the picture of how it went (default: tour.svg)\n";
    return RunProgram(argc, argv, usage, {{"--out", "tour.svg"}}, Tour);
}
