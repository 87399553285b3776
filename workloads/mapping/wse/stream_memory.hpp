// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "models/wse/program/program.hpp"
#include "workloads/mapping/wse/streaming_job.hpp"
#include "workloads/mapping/wse/streaming_setup.hpp"

namespace lacuna::wse {

/// Types, datapath and look-ahead of a job, in the kernel of its program.
void set_types(DType dtype, Partials partials, const StreamingSetup& setup,
               StreamingKernel& kernel);

/// Cycles of the kernel's beats with `elements` of a row in a core: what a beat moves through the
/// memory's ports, and one more where two of its reads meet in a bank. `scattered` as StreamMemory.
void set_beats(const StreamingSetup& setup, std::uint64_t elements, bool scattered,
               StreamingKernel& kernel);

/// What a core of a product holds: `rows` elements of each of its `inputs` features, `held` in all,
/// and its `outputs`.
struct CoreShare {
  std::uint64_t rows = 0;
  std::uint64_t held = 0;
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
};

/// Bytes of what the cores of a product hold, in the formats of `kernel`.
struct StreamMemory {
  const StreamingJob& job;
  const StreamingSetup& setup;
  const StreamingKernel& kernel;
  bool scattered = false;  // elements are held one by one, each with its place
  std::uint64_t queue_bytes = 0;

  static std::uint64_t bytes_of(const QueueParams& queue) {
    return 4 * (std::uint64_t{queue.stream()} + queue.sums_in() + queue.sums_out());
  }
  std::uint64_t limit() const { return std::uint64_t{setup.mem.kib} * 1024; }

  std::uint64_t held_bytes(std::uint64_t held, std::uint32_t inputs) const;

  /// All of it, with queues and code.
  std::uint64_t core_bytes(const CoreShare& share) const;

  /// Throws OutOfMemoryError with the bytes of each part of what a core of `column` needs.
  [[noreturn]] void refuse(std::uint32_t column, const CoreShare& share) const;
};

/// The part of a message on memory about weights of other products that stay; empty if none do.
std::string beside_text(std::uint64_t bytes);

}  // namespace lacuna::wse
