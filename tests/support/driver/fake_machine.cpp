// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/fake_machine.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include "models/sparsity/mask.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/result_builder.hpp"

namespace lacuna::test {

namespace {

/// True once, after as many operations as the file `interrupt_after` beside the presets says; the
/// file is gone then. Never without it.
bool is_time() {
  const char* const config = std::getenv("LACUNA_CONFIG");  // NOLINT(concurrency-mt-unsafe)
  const std::string path = std::string(config == nullptr ? "." : config) + "/interrupt_after";
  unsigned left = 0;
  if (!(std::ifstream(path) >> left)) return false;
  if (left == 0) return unlink(path.c_str()) == 0;
  std::ofstream(path) << left - 1;
  return false;
}

void fail(Fault fault) {
  if (fault == Fault::end_after && is_time()) std::raise(SIGINT);
  if (fault == Fault::interrupt_after && is_time()) fault = Fault::interrupt;
  if (fault == Fault::deadlock) throw DeadlockError("unit 3 waits for a word that never comes");
  if (fault == Fault::memory) throw OutOfMemoryError("needs 5000 bytes, has 4096");
  if (fault == Fault::unsupported) throw UnsupportedError("a fake machine cannot do this");
  if (fault == Fault::crash) std::raise(SIGKILL);
  if (fault == Fault::interrupt) {  // as if the user pressed Ctrl-C while this point runs
    kill(getppid(), SIGINT);
    pause();
  }
}

struct FakeStats : StatGroup {
  FakeStats() : StatGroup("unit") {}
  Counter mac_actual{this, "mac_actual", "MAC", "A counter of the fake machine.", "amp_mac_fp16"};
  Counter mac_skipped{this, "mac_skipped", "MAC", "A counter of the fake machine."};
  Counter mac_zero{this, "mac_zero", "MAC", "A counter of the fake machine."};
  Counter exch_sent{this, "exch_sent", "words", "A counter of the fake machine.", "exch_send"};
  Counter sram_reads{this, "sram_reads", "accesses", "A counter of the fake machine."};
  Counter sram_reads_weight{this, "sram_reads_weight", "accesses", "A counter of the fake machine.",
                            "sram_read"};
  Counter exch_received{this, "exch_received", "words", "A counter of the fake machine.",
                        "exch_recv"};
  Counter exch_deliveries{this, "exch_deliveries", "words", "A counter of the fake machine."};
  Counter busy_cycles{this, "busy_cycles", "cycles", "A counter of the fake machine."};
  Counter idle_cycles{this, "idle_cycles", "cycles", "A counter of the fake machine."};
};

void plant(Fault fault, OpResult& result) {
  const auto add = [&](const char* name, std::uint64_t more) {
    for (StatEntry& entry : result.statistics) entry.value += entry.name == name ? more : 0;
  };
  const Cycle cycles = result.cycles;
  if (fault == Fault::utilisation) result.peaks.flop_per_cycle = 1;
  if (fault == Fault::sram) result.sram_read_bytes = result.units * 24 * cycles + 1;
  if (fault == Fault::fabric) result.fabric_bytes = result.units * 4 * cycles + 1;
  if (fault == Fault::io) result.io_bytes = 16 * cycles + 1;
  if (fault == Fault::stack) ++result.stack.back().cycles;
  if (fault == Fault::words) add("exch_received", 1);
  if (fault == Fault::unsent) {
    add("exch_received", 1);
    add("exch_deliveries", 1);
  }
  if (fault == Fault::classes) add("sram_reads_weight", 1);
  if (fault == Fault::products) add("mac_skipped", 1);
  if (fault == Fault::useful) add("mac_zero", 1);
  if (fault == Fault::busy) add("busy_cycles", 1);
}

}  // namespace

std::vector<DeclaredStatistic> FakeMachine::statistics() const {
  const FakeStats stats;
  return declared({&stats});
}

std::string FakeMachine::extent() const {
  return fmt::format("{} units", static_cast<unsigned>(params_.unit.count));
}

OpResult FakeMachine::run(const LayerOp& op, const Mask* mask, std::uint64_t /*seed*/,
                          const Execution& execution) const {
  const Fault fault = params_.fault;
  fail(fault);
  OpResult result;
  const std::uint64_t units = params_.unit.count;
  const std::uint64_t width = units * params_.unit.macs;
  result.mac_algorithmic = std::uint64_t{op.m} * op.k * op.n * op.batch;
  const std::uint64_t kept = mask == nullptr ? std::uint64_t{op.m} * op.k : mask->nnz();
  result.mac_useful = kept * op.n * op.batch;
  const Cycle busy = (result.mac_useful + width - 1) / width;
  result.cycles = busy + 10;
  result.clock_ghz = params_.clock;
  result.units = units;
  result.sram_read_bytes = 2 * kept;
  result.sram_write_bytes = 2 * std::uint64_t{op.m} * op.n / 100;
  result.fabric_bytes = 4 * units;
  result.io_bytes = 16;
  result.peaks = {2.0 * static_cast<double>(width), 24.0 * static_cast<double>(units),
                  4.0 * static_cast<double>(units), 16.0};
  result.stack = {{Layer::compute, "mac", units * busy}, {Layer::idle, "drained", units * 10}};
  FakeStats stats;
  stats.mac_actual += result.mac_useful;
  stats.mac_skipped += result.mac_algorithmic - result.mac_useful;
  stats.exch_sent += 1;
  stats.sram_reads += kept / 4;
  stats.sram_reads_weight += kept / 4;
  stats.exch_received += units;
  stats.exch_deliveries += units;
  stats.busy_cycles += units * busy;
  stats.idle_cycles += units * 10;
  stats.add_to(result.statistics);
  result.notes = {{"plan", fmt::format("{} units share the rows", units)}};
  if (execution.event_log) {
    result.events = {{0, 0, 0, op.m}, {result.cycles - 1, 1, 1, op.n}};
    result.event_units = {"unit.0", "unit.1"};
    result.event_kinds = {"start", "end"};
  }
  if (execution.values && fault != Fault::not_compared) {
    result.values = ValueCheck{std::uint64_t{op.m} * op.n, fault == Fault::values ? 3U : 0U,
                               fault == Fault::values ? 2.5 : 0.0};
  }
  plant(fault, result);
  return result;
}

const MachineTable& fake_machines() {
  static const MachineTable table = {
      {"ipu", "a machine without hardware", [](std::string name) -> std::unique_ptr<Machine> {
         return std::make_unique<FakeMachine>(std::move(name));
       }}};
  return table;
}

}  // namespace lacuna::test
