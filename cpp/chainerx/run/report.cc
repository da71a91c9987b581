#include "chainerx/run/report.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "chainerx/core/error.h"

namespace chainerx::run {
namespace {

struct Row {
    std::string name;
    std::string note;
    double seconds{0};
    int64_t count{0};
};

std::string Padded(std::string text, size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

std::string Percent(double share) {
    char text[32];
    std::snprintf(text, sizeof(text), "%5.1f %%", 100 * share);
    return text;
}

// Rows of time, share, name and note.
std::string Table(const std::string& title, std::vector<Row> rows, double total) {
    std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::seconds);
    size_t width = 0;
    for (const Row& row : rows) width = std::max(width, row.name.size());
    std::string text = title + "\n";
    for (const Row& row : rows) {
        char time[32];
        std::snprintf(time, sizeof(time), "%11.4f ms", 1e3 * row.seconds);
        text += StrCat(time, "  ", Percent(total > 0 ? row.seconds / total : 0), "  ",
                       Padded(row.name, width), "  ", row.note, "\n");
    }
    return text;
}

std::string DescribeInfos(const std::vector<onnx::ValueInfo>& infos) {
    std::string text;
    for (const onnx::ValueInfo& info : infos) {
        text += StrCat("  ", info.name, ": ", info.ToString(), info.is_required ? "" : ", optional",
                       "\n");
    }
    return text;
}

}  // namespace

std::string DescribeModel(const onnx::Model& model) {
    int64_t n_elements = 0;
    int64_t nbytes = 0;
    const auto parameters = model.parameters();
    for (const auto& [name, x] : parameters) {
        n_elements += x.GetTotalSize();
        nbytes += x.GetNBytes();
    }
    return StrCat("inputs\n", DescribeInfos(model.inputs()), "outputs\n",
                  DescribeInfos(model.outputs()), "parameters\n  ", parameters.size(),
                  " arrays of ", n_elements, " elements, ", nbytes, " bytes\n");
}

double Median(std::vector<double> values) {
    std::ranges::sort(values);
    const size_t middle = values.size() / 2;
    return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string Milliseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.3f ms", 1e3 * seconds);
    return text;
}

std::string DescribeTimes(const std::vector<std::vector<onnx::NodeTime>>& runs) {
    const std::vector<onnx::NodeTime>& first = runs.at(0);
    std::vector<Row> nodes;
    std::vector<Row> ops;
    std::unordered_map<std::string, size_t> places;  // in `ops`
    double total = 0;
    for (size_t i = 0; i < first.size(); ++i) {
        std::vector<double> times;
        for (const auto& run : runs) times.push_back(run.at(i).seconds);
        const double seconds = Median(times);
        total += seconds;
        nodes.push_back({first[i].op, first[i].name, seconds, 1});
        const auto [place, is_new] = places.emplace(first[i].op, ops.size());
        if (is_new) ops.push_back({first[i].op, "", 0, 0});
        ops[place->second].seconds += seconds;
        ++ops[place->second].count;
    }
    for (Row& row : ops) row.note = StrCat(row.count, row.count == 1 ? " node" : " nodes");
    return StrCat(Table(StrCat("operators, median of ", runs.size(), " runs, ", Milliseconds(total),
                               " in all"),
                        ops, total),
                  Table("nodes", nodes, total));
}

}  // namespace chainerx::run
