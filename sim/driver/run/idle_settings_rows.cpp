// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/run/idle_settings_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "sim/base/ranges.hpp"
#include "sim/base/texts.hpp"
#include "sim/machines/system/parameters_of.hpp"
#include "sim/machines/system/store_system.hpp"
#include "workloads/trace/op_kind.hpp"

namespace lacuna {
namespace {

/// A parameter of a kernel, or a group of them, and the rows that run it.
struct KernelRows {
  const char* path;  // a group ends with a dot
  const char* rows;
  bool (*runs)(const LayerOp& op);
};

bool runs_dynamic(const LayerOp& op) { return has_weights(op) && op.mode == Mode::dynamic; }

bool runs_dense(const LayerOp& op) {
  return has_weights(op) && op.pattern.name == "dense" && op.mode != Mode::dynamic;
}

bool runs_stencil(const LayerOp& op) { return op.op == "stencil"; }

bool runs_gemv(const LayerOp& op) { return op.op == "gemv"; }

/// Functions have a model's code, and so have moves of operands between rows.
bool runs_functions(const LayerOp& op) { return !has_weights(op) || !op.depends_on.empty(); }

const std::vector<KernelRows>& kernel_rows() {
  static const std::vector<KernelRows> all = {
      {"kernel.spmm_format", "products in mode dynamic", runs_dynamic},
      {"kernel.spmm_phases", "products in mode dynamic", runs_dynamic},
      {"kernel.protocol_cycles", "products in mode dynamic", runs_dynamic},
      {"kernel.gemm", "dense products with weights", runs_dense},
      {"kernel.stencil", "rows of op stencil", runs_stencil},
      {"kernel.iterations", "rows of op stencil", runs_stencil},
      {"kernel.gemv_reduce", "rows of op gemv", runs_gemv},
      {"kernel.gemv_walk", "rows of op gemv", runs_gemv},
      {"kernel.gemv_repeats", "rows of op gemv", runs_gemv},
      {"llm.", "language models (--model) and rows beside products with weights", runs_functions},
  };
  return all;
}

template <class Is>
bool any_row(const std::vector<Point>& points, Is&& is) {
  return any_of(points, [&](const Point& point) { return any_of(point.workload.ops, is); });
}

std::string stage_remark(const std::vector<Point>& points) {
  if (!any_row(points, [](const LayerOp& op) { return op.stage != 0; })) return "";
  return "lacuna: column 'stage' changes nothing: every chip runs all rows, one after the other\n";
}

}  // namespace

bool acts_on_streams_alone(const std::string& setting) {
  return any_of(std::array{"ws.reduce=", "ws.exchange=", "io.gbit="},
                [&](const char* path) { return starts_with(setting, path); });
}

std::string idle_for_rows(const std::vector<Point>& points,
                          const std::vector<std::string>& settings) {
  std::string text = stage_remark(points);
  for (const std::string& setting : settings) {
    const std::string path = setting.substr(0, setting.find('='));
    const std::string alone = path.substr(path.find(':') + 1);  // of any machine
    for (const KernelRows& kernel : kernel_rows()) {
      const std::string_view of_chip = std::string_view(alone).substr(
          starts_with(alone, kChipPrefix) ? std::strlen(kChipPrefix) : 0);
      const bool group = std::string_view(kernel.path).back() == '.';
      if (group ? !starts_with(of_chip, kernel.path) : of_chip != kernel.path) continue;
      const bool known = any_of(points, [&](const Point& point) {
        return find_parameter(*point.machine, alone) != nullptr;
      });
      if (!known || any_row(points, kernel.runs)) continue;
      text +=
          fmt::format("lacuna: {} acts on {} alone, and there are none here\n", alone, kernel.rows);
    }
  }
  return text;
}

}  // namespace lacuna
