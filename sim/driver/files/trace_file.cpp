// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/trace_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "models/sparsity/pattern.hpp"
#include "sim/base/error.hpp"
#include "sim/base/texts.hpp"
#include "workloads/trace/matrix/array_file.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirstLine = "# lacuna-trace v1";

void refuse_other_file(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  std::ifstream file(path);
  std::string line;
  const bool is_trace =
      fs::is_regular_file(path, error) && std::getline(file, line) && starts_with(line, kFirstLine);
  if (is_trace) return;
  throw RequestError(fmt::format(
      "--out {}: found something that is not a trace; allowed: a new file, or a trace that begins "
      "with '{}'",
      path, kFirstLine));
}

/// The whole path, without links in its folders: "a/../b" is b only if a is no link. The name of
/// the file stays, as it may be a link whose target has none that says what it holds.
fs::path settled(const fs::path& path) {
  const fs::path whole = fs::absolute(path);
  return fs::weakly_canonical(whole.parent_path()) / whole.filename();
}

/// Files that a row names, by whole paths: only from these can the way from a folder be told.
void place_files(LayerOp& op) {
  const auto whole = [](const std::string& path) {
    const ArrayName name = split_array_name(path);
    return settled(name.file).string() + path.substr(name.file.size());
  };
  if (!op.pattern.file.empty()) op.pattern.file = whole(op.pattern.file);
  if (!op.x_file.empty()) op.x_file = whole(op.x_file);
  const std::string weights = weights_file(op.pattern);
  if (!weights.empty()) set_weights_file(op.pattern, whole(weights));
}

}  // namespace

void write_whole_file(const std::string& path, const std::string& text) {
  const std::string neighbour = fmt::format("{}.{}.part", path, getpid());
  std::error_code error;
  {
    std::ofstream file(neighbour, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      const std::string reason = std::generic_category().message(errno);
      fs::remove(neighbour, error);
      throw RequestError(fmt::format("--out {}: cannot be written: {}", path, reason));
    }
  }
  fs::rename(neighbour, path, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(neighbour, ignored);
  throw RequestError(fmt::format("--out {}: cannot be written: {}", path, error.message()));
}

std::string trace_text(const WorkloadTrace& trace, const std::string& folder,
                       const std::vector<std::string>& comments) {
  std::string text = format_trace(trace, folder, comments);
  try {
    parse_trace(text, fmt::format("({})", trace.name), false);
  } catch (const TraceError& error) {
    throw RequestError(fmt::format("the trace would not be right:\n{}", error.what()));
  }
  return text;
}

void write_trace_file(const std::string& path, const WorkloadTrace& trace,
                      const std::vector<std::string>& comments) {
  refuse_other_file(path);
  const fs::path folder = settled(path).parent_path();
  WorkloadTrace placed = trace;
  for (LayerOp& op : placed.ops) place_files(op);
  write_whole_file(path, trace_text(placed, folder.string(), comments));
}

}  // namespace lacuna
