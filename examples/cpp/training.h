// What digits.cc and lenet.cc share: the digits, parameters and their updates, the training.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"

namespace cx = chainerx;

constexpr int64_t kSide = 8;
constexpr int64_t kPixels = kSide * kSide;
constexpr int64_t kTrain = 1437;
constexpr int64_t kBatch = 32;
constexpr int kEpochs = 20;

struct Digits {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Lines of a label and 64 pixels from 0 to 16.
inline Digits Load(const char* path) {
    std::ifstream file{path};
    if (!file) throw std::runtime_error{std::string{"cannot read "} + path};
    Digits digits;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields{line};
        std::string field;
        std::getline(fields, field, ',');
        digits.labels.push_back(std::stoll(field));
        while (std::getline(fields, field, ',')) digits.pixels.push_back(std::stof(field) / 16);
    }
    if (digits.size() <= kTrain || digits.pixels.size() != digits.labels.size() * kPixels) {
        throw std::runtime_error{std::string{path} + " is not what export_digits.py writes"};
    }
    return digits;
}

struct Batch {
    cx::Array x;
    cx::Array t;
};

inline Batch Gather(const Digits& digits, const int64_t* rows, int64_t n) {
    std::vector<float> pixels;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < n; ++i) {
        const auto first = digits.pixels.begin() + rows[i] * kPixels;
        pixels.insert(pixels.end(), first, first + kPixels);
        labels.push_back(digits.labels[static_cast<size_t>(rows[i])]);
    }
    return {cx::Array::FromHost(pixels, {n, kPixels}), cx::Array::FromHost(labels)};
}

// A network: what it computes is a subclass's. Gradient descent with momentum.
class Model {
 public:
    virtual ~Model() = default;
    virtual cx::Array operator()(cx::Array x) const = 0;

    void Update(double learning_rate, double momentum = 0.9) {
        for (size_t i = 0; i < parameters_.size(); ++i) {
            velocities_[i] *= momentum;
            velocities_[i] -= *parameters_[i].GetGrad() * learning_rate;
            // A parameter is part of a graph and may not be written; its grad-stopped view may.
            parameters_[i].AsGradStopped() += velocities_[i];
            parameters_[i].ClearGrad();
        }
    }

 protected:
    // A weight of this shape, whose first axis is that of the outputs, and their bias.
    void AddLayer(const cx::Shape& shape) {
        const double ins = static_cast<double>(shape.GetTotalSize() / shape[0]);
        const double scale = std::sqrt(2.0 / ins);
        AddParameter(cx::random::Normal(0, scale, shape, cx::Dtype::kFloat32));
        AddParameter(cx::Zeros({shape[0]}));
    }
    const cx::Array& weight(size_t layer) const { return parameters_[2 * layer]; }
    const cx::Array& bias(size_t layer) const { return parameters_[2 * layer + 1]; }
    size_t layers() const { return parameters_.size() / 2; }

 private:
    void AddParameter(const cx::Array& parameter) {
        parameters_.push_back(parameter.RequireGrad());
        velocities_.push_back(cx::ZerosLike(parameter));
    }

    std::vector<cx::Array> parameters_;
    std::vector<cx::Array> velocities_;
};

inline double Accuracy(const Model& model, const Digits& digits, const std::vector<int64_t>& rows) {
    const cx::NoBackpropModeScope scope;
    const auto n = static_cast<int64_t>(rows.size());
    const Batch batch = Gather(digits, rows.data(), n);
    const cx::Array hits = cx::ArgMax(model(batch.x), 1) == batch.t;
    return static_cast<double>(cx::CountNonzero(hits).Item<int64_t>()) / static_cast<double>(n);
}

// Makes a network on the device when that is the default one.
using Maker = std::function<std::unique_ptr<Model>()>;

inline int Run(const char* path, const char* device, const Maker& make, double learning_rate,
               double min_accuracy) {
    cx::Context context;
    cx::SetGlobalDefaultContext(&context);
    cx::SetDefaultDevice(&cx::GetDevice(device));
    cx::random::Seed(0);
    std::mt19937 shuffler{0};

    const Digits digits = Load(path);
    std::vector<int64_t> train(kTrain);
    std::iota(train.begin(), train.end(), 0);
    std::vector<int64_t> test(static_cast<size_t>(digits.size() - kTrain));
    std::iota(test.begin(), test.end(), kTrain);

    const std::unique_ptr<Model> made = make();
    Model& model = *made;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
        const auto start = std::chrono::steady_clock::now();
        std::shuffle(train.begin(), train.end(), shuffler);
        const double rate = learning_rate * (1 - static_cast<double>(epoch) / kEpochs);
        double total = 0;
        for (int64_t i = 0; i < kTrain; i += kBatch) {
            const int64_t n = std::min(kBatch, kTrain - i);
            const Batch batch = Gather(digits, train.data() + i, n);
            const cx::Array losses = cx::SoftmaxCrossEntropy(model(batch.x), batch.t);
            const cx::Array loss = cx::Sum(losses) * (1.0 / static_cast<double>(n));
            cx::Backward(loss);
            model.Update(rate);
            total += loss.Item<double>() * static_cast<double>(n);
        }
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        std::printf("epoch %2d/%d  loss %.4f  accuracy %.4f  %.0f samples/s\n", epoch + 1, kEpochs,
                    total / kTrain, Accuracy(model, digits, train), kTrain / time.count());
    }
    const double accuracy = Accuracy(model, digits, test);
    std::printf("Final test accuracy: %.4f on %zu digits (device %s)\n", accuracy, test.size(),
                device);
    return accuracy >= min_accuracy ? EXIT_SUCCESS : EXIT_FAILURE;
}

// What `main` of a program called `name` does.
inline int Main(const char* name, int argc, char** argv, const Maker& make, double learning_rate,
                double min_accuracy) {
    if (argc < 2 || argc > 3) {
        std::cerr << "usage: " << name << " digits.csv [device]\n";
        return 2;
    }
    try {
        const char* device = argc > 2 ? argv[2] : "native:0";
        return Run(argv[1], device, make, learning_rate, min_accuracy);
    } catch (const std::exception& e) {
        std::cerr << name << ": " << e.what() << "\n";
        return EXIT_FAILURE;
    }
}
