// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/validate/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/ipu/floor_plan.hpp"
#include "models/ipu/ipu_chip.hpp"
#include "sim/base/split.hpp"
#include "sim/base/texts.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/driver/validate/outcome.hpp"
#include "sim/kernel/sim_context.hpp"
#include "workloads/mapping/ipu/reference_kernels.hpp"

namespace lacuna {
namespace {

using ipu::ChipParams;

constexpr std::uint32_t kManyTurns = 4000;

/// A chip as the parameters of its preset say.
struct KernelChip {
  ChipParams chip;
  double clock = 0;  // GHz
  Engine engine = Engine::event;

  unsigned tiles() const { return chip.ipu.tiles; }

  /// Cycles of a program on the chip's first two tiles.
  Cycle run(const std::function<ipu::Program(const ChipParams&)>& make) const {
    ChipParams small = chip;
    small.set("ipu.tiles", "2");
    small.set("tile.launch", "0");  // a kernel's own entry is in its program
    const ipu::Program program = make(small);
    const SimContext context;
    ClockDomain domain("clock", sc_core::sc_time(1, sc_core::SC_NS), engine);
    ipu::IpuChip one("chip", domain, small, program, engine);
    return one.run();
  }

  /// Bytes per second of all tiles in a loop, 10^9.
  double bandwidth(const ipu::LoopKernel& loop) const {
    const unsigned workers = chip.tile.workers;
    const Cycle cycles = run(
        [&](const ChipParams& small) { return loop_program(small, loop, kManyTurns, workers); });
    const double bytes = static_cast<double>(loop.bytes) * kManyTurns * workers;
    return bytes / static_cast<double>(cycles) * clock * tiles();
  }
};

/// The preset of a system: "GC2x1@1.6GHz" and "Mk1" are gc2; a number of any of them is Bow's.
std::string preset_of(const std::string& system) {
  const std::string name = lower_case(system.substr(0, system.find('@')));
  static const std::map<std::string, const char*> presets = {
      {"gc200", "gc200"}, {"gc2x1", "gc2"}, {"c600x1", "c600"}, {"gc2", "gc2"}, {"c600", "c600"},
      {"bow", "bow"},     {"mk2", "gc200"}, {"mk1", "gc2"},     {"any", "bow"}};
  const auto found = presets.find(name);
  return found == presets.end() ? "" : found->second;
}

KernelChip make_chip(const Machine& machine, Engine engine) {
  KernelChip made;
  made.engine = engine;
  machine.parameters().for_each([&](const std::string& path, const ParamBase& parameter) {
    if (made.chip.find(path) != nullptr) made.chip.set(path, parameter.value_text());
  });
  made.clock = number_of(machine, "clock");
  return made;
}

std::optional<double> stream(const KernelChip& chip, const ValidationPoint& point) {
  if (point.metric != "bandwidth" || point.unit != "GB/s") return {};
  const std::string workload = lower_case(point.workload);
  std::string kind;
  if (workload.find("naive") != std::string::npos) kind = "naive";
  if (workload.find("optimised") != std::string::npos) kind = "vector";
  if (workload.find("assembly") != std::string::npos) kind = "assembly";
  const ipu::LoopKernel* const loop =
      ipu::find_loop("triad " + kind + " " + lower_case(point.dtype));
  if (loop == nullptr) return {};
  return chip.bandwidth(*loop);
}

/// One worker whose loads depend on each other: the time between two of them.
double load_latency(const KernelChip& chip) {
  const ipu::LoopKernel chain{"chain", "l", 4, 1, ""};
  const auto cycles = [&](std::uint32_t turns) {
    return chip.run([&](const ChipParams& small) { return loop_program(small, chain, turns, 1); });
  };
  return static_cast<double>(cycles(2 * kManyTurns) - cycles(kManyTurns)) / kManyTurns;
}

std::optional<double> micro(const KernelChip& chip, const ValidationPoint& point) {
  const double word_rate = 4e-3 * chip.tiles() * chip.clock;  // TB/s
  if (point.metric == "read_bandwidth_theoretical") {
    return chip.chip.tile.memory.load_bytes * 1e-3 * chip.tiles() * chip.clock;
  }
  if (point.metric == "read_bandwidth_assembly") {
    return chip.bandwidth(*ipu::find_loop("read assembly")) * 1e-3;
  }
  if (point.metric == "exchange_theoretical") return word_rate;
  if (point.metric == "local_memory_latency") return load_latency(chip);
  return {};
}

std::optional<double> kernel(const KernelChip& chip, const ValidationPoint& point) {
  if (point.metric != "cycles") return {};
  const auto copy = [&](std::uint64_t bytes) {
    return static_cast<double>(
        chip.run([&](const ChipParams& small) { return copy_program(small, bytes); }));
  };
  if (point.workload.find("local copy call") == 0) return copy(0);
  if (point.workload.find("8 KiB panel copy") == 0) return copy(8192);
  if (point.workload.find("AMP-left pack of 640") == 0) {
    // within the same kind of call as a copy: two halves a turn, shared by the workers
    const ipu::LoopKernel& pack = *ipu::find_loop("pack");
    const unsigned workers = chip.chip.tile.workers;
    const auto turns = static_cast<std::uint32_t>((640 / pack.elements + workers - 1) / workers);
    const auto fixed = static_cast<std::uint32_t>(copy(0)) - 12 * workers;
    return static_cast<double>(chip.run(
        [&](const ChipParams& small) { return loop_program(small, pack, turns, workers, fixed); }));
  }
  return {};
}

/// The share `part` of all latencies between two different tiles, sorted; the mean if negative.
double latency(const KernelChip& chip, double part) {
  const ipu::LatencyTable table(chip.chip);
  std::vector<unsigned> all;
  double sum = 0;
  for (unsigned sender = 0; sender < chip.tiles(); ++sender) {
    for (unsigned receiver = 0; receiver < chip.tiles(); ++receiver) {
      if (sender == receiver) continue;
      all.push_back(table.latency(sender, receiver));
      sum += all.back();
    }
  }
  if (part < 0) return sum / static_cast<double>(all.size());
  const auto place = static_cast<std::size_t>(part * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place), all.end());
  return all[place];
}

std::optional<double> hardware(const KernelChip& chip, const ValidationPoint& point) {
  const ipu::TileParams& tile = chip.chip.tile;
  const double tflops = 2e-3 * chip.tiles() * chip.clock;
  const std::map<std::string, double> known = {
      {"tiles", chip.tiles()},
      {"sram_per_tile", tile.memory.kib},
      {"clock", chip.clock},
      {"peak_fp16", tflops * tile.amp.fp16_macs},
      {"peak_fp32", tflops * tile.amp.fp32_macs},
      {"peak_fp8", tflops * tile.amp.fp8_macs},
      {"exchange_aggregate_4B_per_cycle", 4e-3 * chip.tiles() * chip.clock},
      {"threads_per_tile", tile.workers},
      {"exchange_send_rate", 4},
      {"load_rate_interleaved", tile.memory.load_bytes},
      {"flop_per_cycle_tile_fp16", 2 * tile.amp.fp16_macs},
      {"flop_per_cycle_tile_fp32", 2 * tile.amp.fp32_macs},
      {"flop_per_cycle_tile_fp8", 2 * tile.amp.fp8_macs},
      {"onchip_sync", chip.chip.sync.cycles}};
  if (const auto found = known.find(point.metric); found != known.end()) return found->second;
  static const std::map<std::string, double> latencies = {
      {"min", 0}, {"median", 0.5}, {"mean", -1}, {"p95", 0.95}, {"max", 1}};
  const std::string begin = "send_to_remote_sram_latency_";
  if (!starts_with(point.metric, begin)) return {};
  const auto part = latencies.find(point.metric.substr(begin.size()));
  return part == latencies.end() ? std::optional<double>() : latency(chip, part->second);
}

}  // namespace

std::optional<double> simulate_point(const ValidationPoint& point, const MachineTable& table,
                                     const std::vector<std::string>& settings, Engine engine) {
  const std::string preset = preset_of(point.system);
  if (preset.empty()) return {};
  const auto machines = make_machines(table, {preset}, settings);
  if (std::string(machines.at(0)->kind()) != "ipu") return {};
  const KernelChip chip = make_chip(*machines[0], engine);
  if (point.workload.find("STREAM triad") == 0) return stream(chip, point);
  if (point.workload == "hardware parameter") return hardware(chip, point);
  if (point.mode == "micro") return micro(chip, point);
  return kernel(chip, point);
}

void simulate_kernels(const ValidationPoints& points, const MachineTable& table,
                      const ValidationRunSettings& run, Outcomes& outcomes) {
  simulate_points(points, outcomes, [&](const ValidationPoint& point, ValidationOutcome& outcome) {
    const auto simulated = simulate_point(point, table, run.settings, run.execution.engine);
    const bool stream = point.workload.find("STREAM") == 0;
    if (simulated) {
      outcome.family =
          fmt::format("ipu {}", stream                                   ? "STREAM triad"
                                : point.workload == "hardware parameter" ? point.workload
                                                                         : "kernels and latencies");
    }
    return simulated;
  });
}

}  // namespace lacuna
