// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/ipu/program.hpp"
#include "workloads/mapping/ipu/target.hpp"

namespace lacuna::ipu {

/// What a loop of a vertex does for one 64-bit vector of its operands: four elements of FP16, or
/// two of FP32.
///
/// A bundle has one main instruction (loads and stores) and one aux instruction (arithmetic). Loops
/// are software-pipelined: a vector takes as many bundles as the longer of the two needs. A main
/// instruction does two loads and a store at once (ld2xst64pace). An aux instruction adds or
/// multiplies a whole vector (f16v4add, f32v2mul, ...); special functions take half a vector
/// (f16v2tanh, f32exp, ...). Sources: vertex assembly guide (docs.graphcore.ai);
/// graphcore/ipu_assembly_support (MIT).
struct VectorPass {
  unsigned inputs = 0;      // 64-bit loads of activations or gradients
  unsigned parameters = 0;  // of weights and what belongs to them
  unsigned outputs = 0;     // 64-bit stores
  unsigned adds = 0;        // instructions: additions, comparisons, maxima
  unsigned muls = 0;        // multiplications
  unsigned specials = 0;    // of a whole vector each: exp, tanh, sigmoid, 1/x, square root
  unsigned converts = 0;    // changes of type
  unsigned integers = 0;    // on bits: masks, random numbers
  unsigned singles = 0;     // of the outputs, the last ones: FP32 though the vector is of FP16

  unsigned aux() const { return adds + muls + 2 * specials + converts + integers; }
  unsigned main() const {
    const unsigned loads = (inputs + parameters + 1) / 2;
    return loads > outputs ? loads : outputs;
  }
  /// Bundles of one vector.
  unsigned bundles() const {
    const unsigned most = aux() > main() ? aux() : main();
    return most == 0 ? 1 : most;
  }

  std::array<unsigned, 9> key() const {
    return {inputs, parameters, outputs, adds, muls, specials, converts, integers, singles};
  }
  bool operator<(const VectorPass& other) const { return key() < other.key(); }
};

/// A pass of loads of operands and of shared vectors, stores, additions, multiplications, special
/// functions, conversions, integer operations.
constexpr VectorPass make_pass(unsigned inputs, unsigned parameters, unsigned outputs,
                               unsigned adds, unsigned muls, unsigned specials = 0,
                               unsigned converts = 0, unsigned integers = 0) {
  return {inputs, parameters, outputs, adds, muls, specials, converts, integers};
}

/// A stretch of vectors that a worker goes through: set-up bundles, then the loop.
struct Stretch {
  VectorPass pass;
  std::uint64_t setup = 0;
  std::uint64_t vectors = 0;

  std::uint64_t bundles() const { return setup + vectors * pass.bundles(); }
};

/// The stretches of a worker, one after another.
using WorkerCode = std::vector<Stretch>;

// popops' Cast1D, on the pattern of which element-wise vertices are built: the supervisor's
// part, and a worker's before its loop, 18 of them to find its share.
// Source: PopLibs popops/PerformanceEstimation.cpp, castWorkerCycles (MIT).
inline constexpr std::uint64_t kVectorSupervisor = 12;
inline constexpr std::uint64_t kVectorEntry = 37;

/// Writes vertices that go through vectors of elements into a program.
class VectorCodelets {
 public:
  VectorCodelets(ProgramBuilder& builder, const Target& target, DType type)
      : VectorCodelets(builder, target, type, type) {}

  /// Vectors of `type` that are computed on in `arithmetic`; instructions of a pass are of vectors
  /// of the latter.
  VectorCodelets(ProgramBuilder& builder, const Target& target, DType type, DType arithmetic);

  /// Elements of a 64-bit vector.
  unsigned width() const { return width_; }
  std::uint64_t vectors_of(std::uint64_t elements) const {
    return (elements + width_ - 1) / width_;
  }

  /// A vertex whose workers share `elements`, vector by vector.
  std::uint32_t shared_vertex(const VectorPass& pass, std::uint64_t elements);

  /// A vertex of one launch for each of `launches`, which hold the code of each worker (missing
  /// ones do nothing). `between`: clocks of the supervisor before each launch but the first.
  std::uint32_t vertex(const std::vector<std::vector<WorkerCode>>& launches,
                       std::uint64_t between = 0);

 private:
  std::uint32_t codelet(const VectorPass& pass);
  std::uint32_t bundle(const VectorPass& pass, unsigned index);
  std::uint32_t worker(const WorkerCode& code);
  std::uint32_t clocks(std::uint64_t count);
  std::uint32_t launch(std::uint32_t set);

  ProgramBuilder& builder_;
  const Target target_;
  const DType type_;
  const DType arithmetic_;
  const unsigned width_;
  std::uint32_t overhead_ = 0;
  std::map<VectorPass, std::uint32_t> codelets_;
  std::map<Tallies, std::uint32_t> bundles_;
  std::map<std::uint64_t, std::uint32_t> clocks_;
  std::map<std::uint32_t, std::uint32_t> launches_;
  std::map<std::vector<std::tuple<VectorPass, std::uint64_t, std::uint64_t>>, std::uint32_t>
      workers_;
  std::map<std::pair<std::vector<std::uint32_t>, std::uint64_t>, std::uint32_t> vertices_;
};

/// Which of its instructions make a vector take the bundles it takes.
std::string limit(const VectorPass& pass);

/// The clocks of a compute set of VectorCodelets::shared_vertex of so many vectors.
Cycle shared_clocks(const ChipParams& chip, const Target& target, const VectorPass& pass,
                    std::uint64_t vectors);

/// The bundles of the busiest worker of VectorCodelets::shared_vertex.
std::uint64_t shared_bundles(const Target& target, const VectorPass& pass, std::uint64_t vectors);

}  // namespace lacuna::ipu
