// From addresses of code to names and lines.
#include <backtrace.h>
#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "emulator/fault.h"

namespace oprt::emulator {
namespace {

void ignore(void*, const char*, int) {}

backtrace_state* state() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, ignore, nullptr);
  return state;
}

// Headers through which every kernel reaches memory: the line of interest is their caller's.
bool is_accessor(std::string_view file) {
  return file.ends_with("simt/host.h") || file.ends_with("simt/host_words.h") || file.ends_with("simt/vector.h") ||
         file.find("/include/c++/") != file.npos;
}

struct Lines {
  Place& place;
  bool has_line = false;
};

int add_line(void* data, uintptr_t, const char* file, int line, const char*) {
  auto& lines = *static_cast<Lines*>(data);
  if (file == nullptr) return 0;
  if (!lines.has_line) {
    lines.place.file = file;
    lines.place.line = line;
    lines.has_line = !is_accessor(file);
  } else if (!is_accessor(file)) {
    lines.place.callers.push_back(std::string(file) + ":" + std::to_string(line));
  }
  return 0;
}

// "void a::b<int>(float*)" as "a::b<int>".
std::string without_signature(std::string_view name) {
  int depth = 0;
  size_t begin = 0, end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && c == ' ') begin = i + 1;
    if (depth == 0 && c == '(' && name.substr(i).rfind("(anonymous namespace)", 0) == 0) {
      i += std::strlen("(anonymous namespace)") - 1;
      continue;
    }
    if (depth == 0 && c == '(') {
      end = i;
      break;
    }
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
  }
  return std::string(name.substr(begin, end - begin));
}

}  // namespace

void locate(uintptr_t pc, Place& place) {
  Lines lines{place};
  backtrace_pcinfo(state(), pc - 1, add_line, ignore, &lines);
}

std::string kernel_name(const void* kernel) {
  std::string symbol;
  const auto add = [](void* data, uintptr_t, const char* name, uintptr_t, uintptr_t) {
    if (name != nullptr) *static_cast<std::string*>(data) = name;
  };
  backtrace_syminfo(state(), reinterpret_cast<uintptr_t>(kernel), add, ignore, &symbol);
  if (symbol.empty()) return "a kernel without a symbol";
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  const std::string name = without_signature(readable == nullptr ? symbol : readable);
  std::free(readable);
  return name;
}

}  // namespace oprt::emulator
