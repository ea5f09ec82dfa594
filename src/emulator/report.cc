// Reports for people and for programs.
#include <cstdio>
#include <fstream>

#include "emulator/emulator.h"

namespace oprt::emulator {
namespace {

std::string source_line(const std::string& file, int line) {
  std::ifstream stream(file);
  std::string text;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(stream, text)) return "";
  }
  const size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin);
}

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      json += escape;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string json_of(uint3 v) { return "[" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "]"; }

template <class T, class ToJson>
std::string json_array(const std::vector<T>& items, ToJson&& to_json) {
  std::string json = "[";
  for (size_t i = 0; i < items.size(); ++i) json += (i == 0 ? "" : ", ") + to_json(items[i]);
  return json + "]";
}

std::string json_of(const Place& place) {
  return "{\"block\": " + json_of(place.block) + ", \"thread\": " + json_of(place.thread) +
         ", \"access\": " + quoted(place.access) + ", \"file\": " + quoted(place.file) +
         ", \"line\": " + std::to_string(place.line) + ", \"callers\": " + json_array(place.callers, quoted) + "}";
}

std::string text_of(const Place& place) {
  if (place.file.empty()) return "";
  std::string text = "\n  " + place.file + ":" + std::to_string(place.line) + ": " + source_line(place.file, place.line);
  for (const std::string& caller : place.callers) text += "\n    from " + caller;
  return text;
}

}  // namespace

std::string to_text(const Report& report) {
  std::string text = report.text + text_of(report.at);
  for (const Place& place : report.other) text += text_of(place);
  return text + "\n";
}

std::string to_json(const std::vector<Report>& reports) {
  return json_array(reports, [](const Report& report) {
    return "{\"kind\": " + quoted(kind_name(report.kind)) + ", \"kernel\": " + quoted(report.kernel) +
           ", \"text\": " + quoted(report.text) + ", \"readable\": " + quoted(to_text(report)) + ", \"at\": " + json_of(report.at) +
           ", \"other\": " + json_array(report.other, [](const Place& place) { return json_of(place); }) + "}";
  });
}

}  // namespace oprt::emulator
