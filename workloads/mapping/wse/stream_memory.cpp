// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/stream_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"

namespace lacuna::wse {

void set_types(DType dtype, Partials partials, const StreamingSetup& setup,
               StreamingKernel& kernel) {
  kernel.fp32 = dtype == DType::fp32;
  kernel.int8 = dtype == DType::int8;
  const bool wide = kernel.fp32 || kernel.int8;
  kernel.psum_fp32 = wide || (partials == Partials::automatic ? setup.ws.psum == Precision::fp32
                                                              : partials == Partials::fp32);
  kernel.ring_fp32 = wide || setup.ws.ring == Precision::fp32;
  kernel.simd = kernel.int8        ? setup.simd.int8
                : kernel.fp32      ? setup.simd.fma32
                : kernel.psum_fp32 ? setup.simd.fma16_32
                                   : setup.simd.fma16;
  kernel.stalls = setup.mem.model == MemoryModel::none || kernel.int8 ? 0U
                  : kernel.fp32 ? setup.mem.fma32_stalls.value()
                                : setup.mem.fma16_stalls.value();
  kernel.ring_elements = kernel.ring_fp32 ? 1 : 2;
  kernel.lookahead = setup.ws.lookahead;
}

void set_beats(const StreamingSetup& setup, std::uint64_t elements, bool scattered,
               StreamingKernel& kernel) {
  const std::uint32_t element = 8 * kernel.element_bytes();
  const std::uint32_t output = 8 * kernel.output_bytes();
  kernel.psum_cached =
      setup.core.psum_cache && elements * kernel.sum_bytes() <= setup.core.cache_bytes;
  const std::uint32_t in_sram = kernel.psum_cached ? 0 : 8 * kernel.sum_bytes();
  const MemoryPorts ports = setup.mem.ports();
  const bool conflict =
      setup.mem.model == MemoryModel::rule && in_sram != 0 && setup.map.align == Alignment::bad;
  const std::uint64_t e = std::uint64_t{kernel.ring_elements} * setup.core.fabric_words_per_issue;
  kernel.first_beats = {ports, element, in_sram, 1};
  kernel.beats_that_add = {ports, element + in_sram, in_sram, conflict ? 2U : 1U};
  kernel.reduce_cycles = ports.cycles(e * in_sram, e * output);
  kernel.gather_cycles = ports.cycles(e * in_sram, e * in_sram);
  kernel.exchange.send_cycles = ports.cycles(e * output, 0);
  kernel.exchange.take_cycles = ports.cycles(0, e * output);
  if (scattered) kernel.beats_that_add = {{}, 0, 0, setup.resident.nonzero_cycles};
  // see residual_place()
  if (scattered || kernel.beats_that_add.cycles(0, kernel.simd) != 1) kernel.stalls = 0;
}

std::uint64_t StreamMemory::held_bytes(std::uint64_t held, std::uint32_t inputs) const {
  const std::uint64_t places = scattered ? 2 * (held + inputs + 1) : 0;
  return (held * kernel.element_bytes() + places) * job.batch;
}

std::uint64_t StreamMemory::core_bytes(const CoreShare& share) const {
  return held_bytes(share.held, share.inputs) +
         share.rows * share.outputs * kernel.output_bytes() * job.batch +
         kernel.lookahead * share.rows * kernel.sum_bytes() + queue_bytes +
         std::uint64_t{setup.mem.code_kib} * 1024 + job.beside;
}

void StreamMemory::refuse(std::uint32_t column, const CoreShare& share) const {
  const std::string what =
      job.resident
          ? fmt::format("{} weights of {} x {} held{} + {} outputs x {} tokens x {} B", share.held,
                        share.rows, share.inputs, scattered ? ", each with its place," : "",
                        share.rows, share.outputs, kernel.output_bytes())
      : kernel.int8 ? fmt::format("{} tokens x ({} input features + {} output features x 4 B)",
                                  share.rows, share.inputs, share.outputs)
                    : fmt::format("{} tokens x ({} input + {} output features) x {} B", share.rows,
                                  share.inputs, share.outputs, kernel.element_bytes());
  throw OutOfMemoryError(fmt::format(
      "a core of column {} needs {} bytes of {}: {}{} + {} partial-sum vectors x {} {} x {} B + "
      "queues {} B + code {} B{}",
      column, core_bytes(share), limit(), what,
      job.batch == 1 ? "" : fmt::format(" of each of {} products", job.batch), kernel.lookahead,
      share.rows, job.resident ? "outputs" : "tokens", kernel.sum_bytes(), queue_bytes,
      std::uint64_t{setup.mem.code_kib} * 1024, beside_text(job.beside)));
}

std::string beside_text(std::uint64_t bytes) {
  if (bytes == 0) return "";
  return fmt::format(" + {} B of weights that stay (residency streamed leaves them outside)",
                     bytes);
}

}  // namespace lacuna::wse
