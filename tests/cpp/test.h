// A test framework that fits on a page.
//
//     CX_TEST(AddsNumbers) { CHECK_EQ(1 + 1, 2); }
//
// Each test must leave no array body, graph node or buffer behind.
#pragma once

#include <cstdint>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "chainerx/chainerx.h"

namespace cxtest {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& Tests() {
    static std::vector<Test> tests;
    return tests;
}

struct Failure {
    std::string text;
};

[[noreturn]] inline void Fail(const char* file, int line, const std::string& text) {
    throw Failure{std::string{file} + ":" + std::to_string(line) + ": " + text};
}

template <typename T>
std::string Text(const T& value) {
    std::ostringstream out;
    if constexpr (requires { out << value; }) {
        out << value;
    } else if constexpr (requires { value.ToString(); }) {
        out << value.ToString();
    } else if constexpr (requires { value.begin(); }) {
        for (const auto& v : value) out << v << " ";
    } else {
        out << "?";
    }
    return out.str();
}

// A float64 vector.
inline chainerx::Array Vector(const std::vector<double>& values,
                              chainerx::Device& device = chainerx::GetDefaultDevice()) {
    return chainerx::Array::FromHost(values, {static_cast<int64_t>(values.size())}, device);
}

// The elements of a float64 array, in C order.
inline std::vector<double> Values(const chainerx::Array& x) { return x.ToHost<double>(); }

}  // namespace cxtest

#define CX_TEST(Name)                                                                        \
    static void Name();                                                                      \
    static const bool registered_##Name = (cxtest::Tests().push_back({#Name, &Name}), true); \
    static void Name()

#define CHECK(condition) \
    if (!(condition)) cxtest::Fail(__FILE__, __LINE__, "not true: " #condition)

#define CHECK_EQ(a, b)                                          \
    if (const auto [x_, y_] = std::pair{(a), (b)}; !(x_ == y_)) \
    cxtest::Fail(__FILE__, __LINE__,                            \
                 "not equal: " #a " is " + cxtest::Text(x_) + ", " #b " is " + cxtest::Text(y_))

// Checks that the statement throws Error with `part` in its text.
#define CHECK_THROWS(Error, part, ...)                                                          \
    try {                                                                                       \
        __VA_ARGS__;                                                                            \
        cxtest::Fail(__FILE__, __LINE__, "no " #Error " from " #__VA_ARGS__);                   \
    } catch (const Error& e) {                                                                  \
        if (std::strstr(e.what(), part) == nullptr) cxtest::Fail(__FILE__, __LINE__, e.what()); \
    }
