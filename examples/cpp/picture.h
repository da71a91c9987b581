// Pictures as SVG, for a browser: curves, gray squares, and text.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

class Picture {
 public:
    Picture(double width, double height) {
        svg_ << std::fixed << std::setprecision(2);
        svg_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\""
             << height << "\" font-family=\"sans-serif\" font-size=\"12\">\n";
        Square(0, 0, width, height, 1);
    }

    void Write(double x, double y, const std::string& text, const std::string& color = "black") {
        svg_ << "<text x=\"" << x << "\" y=\"" << y << "\" fill=\"" << color << "\">"
             << Escape(text) << "</text>\n";
    }

    // A square filled with gray, from 0 (black) to 1 (white).
    void Square(double x, double y, double width, double height, double gray) {
        const int level = static_cast<int>(255 * std::clamp(gray, 0.0, 1.0));
        svg_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
             << height << "\" fill=\"rgb(" << level << "," << level << "," << level << ")\"/>\n";
    }

    // Values over their indices from 1 on, in a frame with its scale. The curve skips values
    // that are not finite.
    void Curve(double x, double y, double width, double height, const std::string& title,
               const std::vector<double>& values) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (double value : values) {
            if (!std::isfinite(value)) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
        Write(x, y - 8, title);
        svg_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\""
             << height << "\" fill=\"none\" stroke=\"gray\"/>\n";
        Write(x, y + height + 16, "1");
        Write(x + width - 16, y + height + 16, std::to_string(values.size()));
        if (low > high) return;  // no points at all
        Write(x - 44, y + 12, Number(high));
        Write(x - 44, y + height, Number(low));
        const double across = width / std::max<double>(1, static_cast<double>(values.size()) - 1);
        const double range = high > low ? high - low : 1;
        std::ostringstream points;
        points << std::fixed << std::setprecision(2);
        const auto end_line = [&] {
            if (points.tellp() > 0) {
                svg_ << "<polyline fill=\"none\" stroke=\"steelblue\" stroke-width=\"2\" points=\""
                     << points.str() << "\"/>\n";
            }
            points.str("");
        };
        for (size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i])) {
                end_line();
                continue;
            }
            const double px = x + across * static_cast<double>(i);
            const double py = y + height * (1 - (values[i] - low) / range);
            points << (points.tellp() > 0 ? " " : "") << px << "," << py;
            svg_ << "<circle cx=\"" << px << "\" cy=\"" << py
                 << "\" r=\"3\" fill=\"steelblue\"/>\n";
        }
        end_line();
    }

    void Save(const std::string& path) const {
        std::ofstream file{path};
        file << svg_.str() << "</svg>\n";
        file.close();
        if (!file) throw std::runtime_error{"cannot write " + path};
    }

 private:
    static std::string Number(double value) {
        std::ostringstream text;
        text << std::setprecision(3) << value;
        return text.str();
    }

    static std::string Escape(const std::string& text) {
        std::string escaped;
        for (char c : text) {
            escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string{c};
        }
        return escaped;
    }

    std::ostringstream svg_;
};
