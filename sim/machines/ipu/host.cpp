// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sim/machines/result_sequence.hpp"

namespace lacuna {
namespace {

std::uint64_t whole_ns(double ns) { return static_cast<std::uint64_t>(std::ceil(ns)); }

void add(OpResult& result, const char* name, const char* unit, std::uint64_t value,
         const char* doc) {
  StatEntry entry;
  entry.path = "host";
  entry.name = name;
  entry.unit = unit;
  entry.doc = doc;
  entry.value = value;
  result.statistics.push_back(std::move(entry));
}

/// Values of all kept blocks of all instances, in the device's order.
std::uint64_t value_bytes(const Mask& mask, const LayerOp& op) {
  return mask.blocks() * std::uint64_t{mask.block_rows} * mask.block_cols * bytes_of(op.dtype) *
         op.batch;
}

}  // namespace

void add_sparse_result(const IpuHostParams& host, const Mask& mask, const LayerOp& op,
                       OpResult& result) {
  add(result, "result_device_bytes", "B", value_bytes(mask, op),
      "Values of a sparse result, as the device has them.");
  add(result, "result_user_bytes", "B",
      ipu::user_bytes(host.format, mask, op.dtype).total() * op.batch,
      "The sparse result in the user's format.");
}

void add_host_encoding(const IpuHostParams& host, const ipu::PlannedOperation& planned,
                       std::uint64_t x_bytes, OpResult& result) {
  const std::uint64_t values =
      planned.blocks * std::uint64_t{planned.block} * planned.block * planned.types.bytes();
  const double link = static_cast<double>(x_bytes + planned.bucket_bytes) / host.link_gbs;
  const double work = static_cast<double>(planned.blocks) * host.block_ns +
                      static_cast<double>(x_bytes + values) * host.byte_ns;
  OpResult before;
  before.cycles = static_cast<Cycle>(std::ceil((link + work) * result.clock_ghz));
  before.stack = {{Layer::stall, "host", before.cycles * result.units}};
  before.phases = {{"encode on the host", before.cycles, 0, 0, 0}};
  for (StatEntry& entry : result.statistics) {
    if (entry.name == "idle_cycles") entry.value += before.cycles * result.units;
  }
  add(result, "x_bytes", "B", x_bytes, "Activations that go to the host to be encoded.");
  add(result, "device_bytes", "B", planned.bucket_bytes, "What a host sends of it to the device.");
  add(result, "encode_ns", "ns", whole_ns(work), "Host time to make buckets of activations.");
  add(result, "link_ns", "ns", whole_ns(link), "Time of activations and buckets on the link.");
  put_before(std::move(before), result);
}

void add_host_side(const IpuHostParams& host, const Mask& mask, const LayerOp& op,
                   const ipu::PlannedOperation& planned, OpResult& result) {
  const ipu::UserFormat format = host.format;
  const ipu::FormatBytes bytes = ipu::user_bytes(format, mask, op.dtype);
  add(result, "user_bytes", "B", bytes.total() * op.batch,
      "The sparse operand in the user's format.");
  if (planned.bucket_bytes == 0) {
    // The pattern is compiled in; what the host may still send is values in the device's order.
    add(result, "device_bytes", "B", value_bytes(mask, op),
        "What a host sends of it to the device.");
    return;
  }
  add(result, "device_bytes", "B", planned.bucket_bytes, "What a host sends of it to the device.");
  const std::uint64_t values =
      planned.blocks * std::uint64_t{planned.block} * planned.block * bytes_of(op.dtype);
  const bool sorts = format == ipu::UserFormat::coo;
  const std::uint64_t convert =
      whole_ns(static_cast<double>(planned.blocks) * host.block_ns +
               static_cast<double>(values) * host.byte_ns +
               (sorts ? static_cast<double>(mask.nnz() * op.batch) * host.coo_ns : 0.0));
  const std::uint64_t transfer =
      whole_ns(static_cast<double>(planned.bucket_bytes) / host.link_gbs);
  const std::uint64_t device = whole_ns(static_cast<double>(result.cycles) / result.clock_ghz *
                                        static_cast<double>(host.products.value()));
  // Pipelined, the slowest of the three stages sets the pace; else they follow each other.
  const std::uint64_t step =
      host.overlap ? std::max({convert, transfer, device}) : convert + transfer + device;
  add(result, "convert_ns", "ns", convert, "Host time to make buckets of the user's format.");
  add(result, "transfer_ns", "ns", transfer, "Time of the buckets on the host link.");
  add(result, "exposed_ns", "ns", step - device, "Part of both that is not hidden by products.");
  add(result, "step_ns", "ns", step, "From pattern to pattern: products and what is exposed.");
  result.notes.emplace_back(
      "host", fmt::format("conversion {} ns, transfer of {} B {} ns, exposed {} ns; a step of {} "
                          "product(s) {} ns",
                          convert, planned.bucket_bytes, transfer, step - device,
                          host.products.value(), step));
}

}  // namespace lacuna
