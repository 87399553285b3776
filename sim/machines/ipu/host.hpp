// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/parameter.hpp"
#include "sim/report/result.hpp"
#include "workloads/mapping/ipu/device_format.hpp"
#include "workloads/mapping/ipu/gemm.hpp"
#include "workloads/trace/layer_op.hpp"

namespace lacuna {

struct Mask;

/// The host of a chip, as far as sparse operands with a pattern that changes are concerned.
struct IpuHostParams : ParameterSet {
  Param<ipu::UserFormat> format =
      param(this, "format", ipu::UserFormat::csr,
            Choices<ipu::UserFormat>{{"csr", ipu::UserFormat::csr},
                                     {"coo", ipu::UserFormat::coo},
                                     {"bsr", ipu::UserFormat::bsr}},
            "How the user holds sparse operands; device formats are made of it and back.");
  Param<double> link_gbs = param(this, "link_gbs", 15.75, range(0.001, 10000.0), "GB/s",
                                 "Rate of the link from the host to the chip, 10^9 bytes.");
  Param<double> block_ns = param(this, "block_ns", 95.0, range(0.0, 1e6), "ns",
                                 "Host time to deal one stored block into its bucket; measured on "
                                 "our converter.");
  Param<double> byte_ns = param(this, "byte_ns", 0.54, range(0.0, 1e6), "ns",
                                "Host time to copy one byte of values into a bucket; likewise.");
  Param<double> coo_ns = param(this, "coo_ns", 20.0, range(0.0, 1e6), "ns",
                               "Host time to sort one element of format coo; likewise.");
  Param<bool> overlap = flag(this, "overlap", true,
                             "Convert and send the next pattern while the chip uses this one.");
  Param<unsigned> products = param(this, "products", 1U, range(1U, 1U << 30U), "products",
                                   "Products with one pattern before the next.");
};

/// All statistics that these functions add, their values 0.
std::vector<StatEntry> host_statistics();

/// Adds what the host does for the sparse operand `mask` of a finished product `op`; each instance
/// of a batch has values of its own. These are bytes in the user's and in the device's format. With
/// buckets also the times of conversion and transfer, the part not hidden behind products, and the
/// time from pattern to pattern.
void add_host_side(const IpuHostParams& host, const Mask& mask, const LayerOp& op,
                   const ipu::PlannedOperation& planned, OpResult& result);

/// Puts before a product the time in which the host makes the buckets of activations that the chip
/// has just made, `x_bytes` of them. All go to the host and are read there, and the buckets come
/// back. The tiles wait.
void add_host_encoding(const IpuHostParams& host, const ipu::PlannedOperation& planned,
                       std::uint64_t x_bytes, OpResult& result);

/// Adds the bytes of a finished product's sparse result, whose pattern the user has: in the
/// device's order and in the user's format.
void add_sparse_result(const IpuHostParams& host, const Mask& mask, const LayerOp& op,
                       OpResult& result);

}  // namespace lacuna
