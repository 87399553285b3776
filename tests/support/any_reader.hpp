// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/generate/module_rules.hpp"
#include "workloads/import/import_table.hpp"
#include "workloads/import/request_file.hpp"
#include "workloads/trace/matrix/pattern_file.hpp"
#include "workloads/trace/op_cost.hpp"
#include "workloads/trace/trace_reader.hpp"
#include "workloads/trace/trace_writer.hpp"

namespace lacuna::test {

/// Reads bytes as one of the readers does, in a folder of its own. What it reads must be right: it
/// can be written and read again. std::logic_error if not.
class AnyReader {
 public:
  AnyReader(std::string name, std::filesystem::path folder)
      : name_(std::move(name)), folder_(std::move(folder)) {}

  /// True if the bytes were read, false if one of our errors says why not.
  bool read(const std::string& bytes) {
    try {
      read_or_throw(bytes);
      return true;
    } catch (const TraceError&) {
      return false;
    } catch (const RequestError&) {
      return false;
    }
  }

 private:
  [[noreturn]] static void wrong(const std::string& what) { throw std::logic_error(what); }

  void read_or_throw(const std::string& bytes) {
    if (name_ == "trace") return check_trace(parse_trace(bytes, "input.csv", false));
    if (name_ == "smtx") return check_mask(parse_smtx(bytes, "input.smtx").mask);
    if (name_ == "mtx") return check_mask(parse_mtx(bytes, "input.mtx").mask);
    if (name_ == "requests") return check_requests(read_requests(bytes, "input.csv"));
    if (name_ == "recipe") return check_recipe(put("recipe.yaml", bytes));
    check_rows(name_ == "folder"  ? import_workload({folder(bytes)}, {{"layers", "1"}})
               : name_ == "index" ? import_workload({index(bytes)}, {{"n", "4"}})
               : name_ == "npy"   ? import_workload({put("input.npz", bytes)}, {{"n", "4"}})
               : name_ == "safetensors"
                   ? import_workload({put("in.safetensors", bytes)}, {{"n", "4"}})
                   : import_text(bytes, "input." + name_, settings()));
  }

  std::string put(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// A model's folder: its config.json, a line "---", and its weights.
  std::string folder(const std::string& bytes) const {
    const std::string line = "\n---\n";
    const std::size_t mark = std::min(bytes.find(line), bytes.size());
    put("config.json", bytes.substr(0, mark));
    put("model.safetensors", bytes.substr(std::min(mark + line.size(), bytes.size())));
    return folder_.string();
  }

  /// An index beside a shard that has the tensors a and b.
  std::string index(const std::string& bytes) const {
    std::string header = R"({"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]},)"
                         R"("b":{"dtype":"F16","shape":[1,2],"data_offsets":[4,8]}})";
    const std::string length = std::string(1, static_cast<char>(header.size()));
    put("one.safetensors",
        length + std::string(7, '\0') + header + std::string("\1\0\1\0\0\0\1\0", 8));
    return put("model.safetensors.index.json", bytes);
  }

  Pairs settings() const {
    Pairs pairs = {{"format", name_}};
    const auto add = [&](const Pairs& more) {
      pairs.insert(pairs.end(), more.begin(), more.end());
    };
    if (name_ == "chakra" || name_ == "chakra-json") {
      add({{"ranks", "4"}, {"comm-size", "64"}, {"drop-missing", "1"}, {"collectives", "keep"}});
    }
    if (name_ == "config") add({{"layers", "1"}, {"tokens", "1"}});
    return pairs;
  }

  static void check_mask(const Mask& mask) {
    if (!(parse_smtx(format_smtx(mask), "again.smtx").mask == mask)) wrong("another mask");
  }

  static void check_trace(const WorkloadTrace& trace) {
    for (const LayerOp& op : trace.ops) masked_elements(op);
    const std::string written = format_trace(trace);
    try {
      if (format_trace(parse_trace(written, "again.csv", false)) == written) return;
    } catch (const TraceError& error) {
      wrong(error.what());
    }
    wrong("another trace");
  }

  static void check_rows(const Imported& imported) {
    try {
      parse_trace(format_trace(imported.trace), "again.csv", false);
    } catch (const TraceError& error) {
      // products of dimensions may be too large together, which only the whole trace shows
      if (std::string(error.what()).find("E213") == std::string::npos) wrong(error.what());
    }
  }

  static void check_requests(const RequestFile& file) {
    std::uint64_t latest = 0;
    for (const ServingRequest& request : file.requests) {
      if (request.arrival_ns < latest || request.cached >= request.prompt) wrong("a request");
      latest = request.arrival_ns;
    }
  }

  static void check_recipe(const std::string& path) {
    const ModelShape& shape = find_model_shape("bert-tiny");
    for (const ModuleRule& rule : read_recipe(path)) rules_of(rule, shape, 1, "input");
  }

  std::string name_;
  std::filesystem::path folder_;
};

}  // namespace lacuna::test
