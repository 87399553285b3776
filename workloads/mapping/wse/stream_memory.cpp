// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping/wse/stream_memory.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/base/error.hpp"
#include "workloads/mapping/wse/layers/plan.hpp"

namespace lacuna::wse {

void set_types(const StreamingJob& job, const StreamingSetup& setup, StreamingKernel& kernel) {
  const Partials partials = job.gemm.partials;
  kernel.fp32 = job.gemm.dtype == DType::fp32;
  kernel.int8 = job.gemm.dtype == DType::int8;
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
  kernel.instances = job.batch;
}

std::uint64_t StreamMemory::held_bytes(std::uint64_t held, std::uint32_t inputs) const {
  const std::uint64_t places = scattered ? 2 * (held + inputs + 1) : 0;
  return (held * element_bytes() + places) * job.batch;
}

std::uint64_t StreamMemory::core_bytes(const CoreShare& share) const {
  return held_bytes(share.held, share.inputs) +
         share.rows * share.outputs * output_bytes() * job.batch +
         kernel.lookahead * share.rows * sum_bytes() + queue_bytes +
         std::uint64_t{setup.mem.code_kib} * 1024 + job.beside;
}

void StreamMemory::refuse(std::uint32_t column, const CoreShare& share) const {
  const std::string what =
      job.resident
          ? fmt::format("{} weights of {} x {} held{} + {} outputs x {} tokens x {} B", share.held,
                        share.rows, share.inputs, scattered ? ", each with its place," : "",
                        share.rows, share.outputs, output_bytes())
      : kernel.int8 ? fmt::format("{} tokens x ({} input features + {} output features x 4 B)",
                                  share.rows, share.inputs, share.outputs)
                    : fmt::format("{} tokens x ({} input + {} output features) x {} B", share.rows,
                                  share.inputs, share.outputs, element_bytes());
  throw OutOfMemoryError(fmt::format(
      "a core of column {} needs {} bytes of {}: {}{} + {} partial-sum vectors x {} {} x {} B + "
      "queues {} B + code {} B{}",
      column, core_bytes(share), limit(), what,
      job.batch == 1 ? "" : fmt::format(" of each of {} products", job.batch), kernel.lookahead,
      share.rows, job.resident ? "outputs" : "tokens", sum_bytes(), queue_bytes,
      std::uint64_t{setup.mem.code_kib} * 1024, beside_text(job.beside)));
}

}  // namespace lacuna::wse
