// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/ipu/host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/machines/result_sequence.hpp"

namespace lacuna {
namespace {

std::uint64_t whole_ns(double ns) { return static_cast<std::uint64_t>(std::ceil(ns)); }

/// A statistic of the host; a product has those that its operands ask for.
struct HostStatistic {
  const char* name;
  const char* unit;
  const char* doc;
};

constexpr HostStatistic kUserBytes{"user_bytes", "B", "The sparse operand in the user's format."};
constexpr HostStatistic kXBytes{"x_bytes", "B", "Activations that go to the host to be encoded."};
constexpr HostStatistic kDeviceBytes{"device_bytes", "B", "What a host sends of it to the device."};
constexpr HostStatistic kConvert{"convert_ns", "ns",
                                 "Host time to make buckets of the user's format."};
constexpr HostStatistic kTransfer{"transfer_ns", "ns", "Time of the buckets on the host link."};
constexpr HostStatistic kExposed{"exposed_ns", "ns",
                                 "Part of both that is not hidden by products."};
constexpr HostStatistic kStep{"step_ns", "ns",
                              "From pattern to pattern: products and what is exposed."};
constexpr HostStatistic kEncode{"encode_ns", "ns", "Host time to make buckets of activations."};
constexpr HostStatistic kLink{"link_ns", "ns", "Time of activations and buckets on the link."};
constexpr HostStatistic kResultDevice{"result_device_bytes", "B",
                                      "Values of a sparse result, as the device has them."};
constexpr HostStatistic kResultUser{"result_user_bytes", "B",
                                    "The sparse result in the user's format."};

StatEntry entry_of(const HostStatistic& statistic, std::uint64_t value) {
  return {"host", statistic.name, statistic.unit, statistic.doc, "", value};
}

void add(OpResult& result, const HostStatistic& statistic, std::uint64_t value) {
  result.statistics.push_back(entry_of(statistic, value));
}

/// Values of all kept blocks of all instances, in the device's order.
std::uint64_t value_bytes(const Mask& mask, const LayerOp& op) {
  return mask.blocks() * std::uint64_t{mask.block_rows} * mask.block_cols * bytes_of(op.dtype) *
         op.batch;
}

}  // namespace

std::vector<StatEntry> host_statistics() {
  std::vector<StatEntry> all;
  for (const HostStatistic& each : {kUserBytes, kXBytes, kDeviceBytes, kConvert, kTransfer,
                                    kExposed, kStep, kEncode, kLink, kResultDevice, kResultUser}) {
    all.push_back(entry_of(each, 0));
  }
  return all;
}

void add_sparse_result(const IpuHostParams& host, const Mask& mask, const LayerOp& op,
                       OpResult& result) {
  add(result, kResultDevice, value_bytes(mask, op));
  add(result, kResultUser, ipu::user_bytes(host.format, mask, op.dtype).total() * op.batch);
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
  add(result, kXBytes, x_bytes);
  add(result, kDeviceBytes, planned.bucket_bytes);
  add(result, kEncode, whole_ns(work));
  add(result, kLink, whole_ns(link));
  put_before(std::move(before), result);
}

void add_host_side(const IpuHostParams& host, const Mask& mask, const LayerOp& op,
                   const ipu::PlannedOperation& planned, OpResult& result) {
  const ipu::UserFormat format = host.format;
  const ipu::FormatBytes bytes = ipu::user_bytes(format, mask, op.dtype);
  add(result, kUserBytes, bytes.total() * op.batch);
  if (planned.bucket_bytes == 0) {
    // The pattern is compiled in; what the host may still send is values in the device's order.
    add(result, kDeviceBytes, value_bytes(mask, op));
    return;
  }
  add(result, kDeviceBytes, planned.bucket_bytes);
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
  add(result, kConvert, convert);
  add(result, kTransfer, transfer);
  add(result, kExposed, step - device);
  add(result, kStep, step);
  result.notes.emplace_back(
      "host", fmt::format("conversion {} ns, transfer of {} B {} ns, exposed {} ns; a step of {} "
                          "product(s) {} ns",
                          convert, planned.bucket_bytes, transfer, step - device,
                          host.products.value(), step));
}

}  // namespace lacuna
