// The options of a program: `--name value` pairs, then positional arguments.
#pragma once

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Options {
    std::map<std::string, std::string> values;  // by "--name": all options with their defaults
    std::vector<std::string> rest;

    const std::string& operator[](const std::string& name) const { return values.at(name); }

    // A positive integer.
    int Count(const std::string& name) const {
        const std::string& text = values.at(name);
        size_t end = 0;
        int count = 0;
        try {
            count = std::stoi(text, &end);
        } catch (const std::exception&) {  // not a number, or out of the range of int
        }
        if (count < 1 || end != text.size()) {
            throw std::invalid_argument{name + " is " + text + ", expected a number of at least 1"};
        }
        return count;
    }
};

inline Options ParseOptions(int argc, char** argv, std::map<std::string, std::string> defaults) {
    Options options{std::move(defaults), {}};
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word.rfind("--", 0) != 0) {
            options.rest.push_back(word);
        } else if (options.values.count(word) == 0) {
            throw std::invalid_argument{"there is no option " + word};
        } else if (++i == argc) {
            throw std::invalid_argument{word + " needs a value"};
        } else {
            options.values[word] = argv[i];
        }
    }
    return options;
}

// The body of `main`: shows `usage` for --help, runs the program, and reports errors.
template <typename Program>
int RunProgram(int argc, char** argv, const std::string& usage,
               std::map<std::string, std::string> defaults, const Program& program) {
    for (int i = 1; i < argc; ++i) {
        if (const std::string word = argv[i]; word == "--help" || word == "-h") {
            std::cout << usage;
            return 0;
        }
    }
    try {
        return program(ParseOptions(argc, argv, std::move(defaults)));
    } catch (const std::invalid_argument& e) {
        std::cerr << usage.substr(0, usage.find('\n')) << "\n"
                  << argv[0] << ": " << e.what() << "\n";
        return 2;
    } catch (const std::exception& e) {
        std::cerr << argv[0] << ": " << e.what() << "\n";
        return 1;
    }
}
