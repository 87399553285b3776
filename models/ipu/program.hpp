// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/rounding.hpp"
#include "models/ipu/bundle.hpp"
#include "models/ipu/chip_params.hpp"
#include "models/ipu/exchange/plan.hpp"
#include "models/ipu/memory_layout.hpp"
#include "models/ipu/tile_memory.hpp"

namespace lacuna::ipu {

/// "None" wherever an index is optional.
inline constexpr std::uint32_t kNone = 0xffffffffU;

/// One instruction of a codelet. Its count is `count`, plus an argument of the call if `argument`
/// names one (0 to 2; kNoArgument: none). A count may come out as zero, never as negative.
struct Instr {
  enum class Op : std::uint8_t {
    issue,  // bundle `what`, count times: one issue slot each of a worker, one clock each of the
            // supervisor
    loop,   // the next `what` instructions, count times; nested loops are fine, up to eight deep
    run,    // supervisor only: launches the workers of the vertex's worker set `what` + argument
            // and waits for them; see Program
  };
  static constexpr std::uint8_t kNoArgument = 0xff;

  Op op;
  std::uint8_t argument;
  std::uint16_t what;
  std::int32_t count;
};

inline Instr issue(std::uint32_t bundle, std::int32_t count,
                   std::uint8_t argument = Instr::kNoArgument) {
  return {Instr::Op::issue, argument, static_cast<std::uint16_t>(bundle), count};
}
inline Instr loop(std::uint32_t body, std::int32_t count,
                  std::uint8_t argument = Instr::kNoArgument) {
  return {Instr::Op::loop, argument, static_cast<std::uint16_t>(body), count};
}
/// `ahead`: clocks of supervisor work that begin when the first worker has exited. They end before
/// it goes on: the step takes max(slots * longest, slots * shortest + ahead) clocks.
inline Instr run(std::uint32_t set, std::int32_t ahead = 0,
                 std::uint8_t argument = Instr::kNoArgument) {
  return {Instr::Op::run, argument, static_cast<std::uint16_t>(set), ahead};
}

/// A piece of code, for a worker or for the supervisor. What differs from call to call (how many
/// non-zeros a row has, how many columns) comes as arguments, as it does from meta-information
/// in the real machine.
using Codelet = std::vector<Instr>;

/// One call of a codelet.
struct Call {
  std::uint32_t codelet;
  std::array<std::uint32_t, 3> arguments;
};

/// The count of `instr` in this call. InternalError if it is negative.
std::uint64_t instr_count(const Instr& instr, const Call& call);

/// A range of Program::calls, made one after another: the whole of a worker's program, or of a
/// supervisor's.
struct CallRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// A vertex, written once for both engines: the supervisor's calls, and the worker sets they
/// launch. Vertices have no place: any number of tiles may execute the same one.
struct Vertex {
  CallRange supervisor;
  std::uint32_t first_set = 0;  // in units of worker sets
  std::uint32_t sets = 0;
};

/// What a vertex computes, apart from time. Called once, in the cycle the vertex ends.
using VertexFunction = std::function<void(TileMemory&)>;

/// One thing a tile does in a compute set.
struct WorkItem {
  enum class Kind : std::uint8_t {
    vertex,        // executes Program::vertices[index]
    port_send,     // sends `words` words from `address` to the module bound to the tile's port
    port_receive,  // stores `words` words from the module bound to the tile's port at `address`
  };
  Kind kind = Kind::vertex;
  std::uint32_t index = kNone;
  std::uint32_t function = kNone;  // of Program::functions; only with values
  std::uint32_t address = 0;
  std::uint32_t words = 0;
  std::uint64_t mac_edge = 0;  // products formed outside m * k * n, to fill the hardware's width
  std::uint64_t mac_zero = 0;  // products within it with a weight that is zero
};

/// The items of each tile, in the order of execution.
struct ComputeSet {
  std::string name;
  std::vector<std::uint32_t> first;  // of a tile in `items`, one more at the end
  std::vector<WorkItem> items;
};

/// One exchange phase.
struct ExchangePhase {
  std::string name;
  ExchangePlan plan;
  TransferList transfers = {};  // what it moves, for those who build on this program
};

/// A compute set, then a sync and an exchange; either may be absent (kNone).
struct Superstep {
  std::uint32_t compute = kNone;
  std::uint32_t exchange = kNone;
};

/// Words that are in a tile's memory before the program begins.
struct Image {
  Place place;
  std::vector<std::uint32_t> words;
};

/// What a chip executes. Everything is known beforehand: nothing in it asks for a time.
///
/// Supersteps are executed one after another, beginning in cycle 0.
///   1. Compute. A tile with items first spends `tile.launch` clocks of its supervisor, then
///      executes its items in order. A vertex takes the sum of its supervisor's clocks: `issue`
///      one clock each; `run`: with W issue slots (TileParams::slots()), worker w of the set issues
///      its bundle i in clock W * i + w of the step, so that N bundles occupy W * N clocks, and the
///      step lasts as long as the longest worker (or as `ahead` demands). A set may leave workers
///      out (kNone). What precedes the first bundle of a worker (about six clocks of `runall`) and
///      what follows the last exit (about six of `sync`) is written as `issue` by the codelet.
///   2. Sync, if the superstep has an exchange. Each tile arrives when its items are done, a tile
///      without items at once; all are released `sync.cycles` after the last arrival.
///   3. Exchange. The plan's send and receive instructions run relative to the release; every
///      tile leaves the phase when the last word of all has landed.
/// A superstep without an exchange ends for each tile by itself. The run ends in the cycle in
/// which the last tile has finished the last superstep.
struct Program {
  std::vector<Bundle> bundles;
  std::vector<Codelet> codelets;
  std::vector<Call> calls;
  std::vector<CallRange> workers;        // worker programs
  std::uint32_t set_size = 6;            // equals TileParams::slots()
  std::vector<std::uint32_t> set_table;  // set_size worker programs (or kNone) for each set
  std::vector<Vertex> vertices;
  std::vector<ComputeSet> computes;
  std::vector<ExchangePhase> exchanges;
  std::vector<Superstep> supersteps;
  std::uint64_t mac_algorithmic = 0;  // m * k * n * batch of the operation

  RoundMode round = RoundMode::nearest;  // of fp16 results, on all tiles
  std::uint64_t round_seed = 0;          // of the workers' random bits
  /// Slots (of a worker) or clocks (of the supervisor) that each bundle loses to memory elements
  /// with two accesses at once, beside its own; empty: none. See place_operands().
  std::vector<std::uint32_t> conflicts;
  /// Bundles that an idealised chip (ChipParams::without) executes in no time; empty: none. They
  /// are counted all the same.
  std::vector<std::uint8_t> free;
  bool free_ahead = false;  // likewise the work of `run` that is ahead

  // for runs with values
  bool values = false;
  std::uint32_t memory_words = 0;  // of each tile
  std::vector<Image> images;
  std::vector<VertexFunction> functions;
};

/// The worker set of `vertex` that `instr`, a `run`, launches in this call.
inline std::uint32_t run_set(const Instr& instr, const Call& call) {
  return instr.what +
         (instr.argument == Instr::kNoArgument ? 0U : call.arguments.at(instr.argument));
}

/// The slots or clocks that `bundle` loses to conflicts.
inline std::uint32_t conflicts_of(const Program& program, std::uint32_t bundle) {
  return program.conflicts.empty() ? 0 : program.conflicts[bundle];
}

/// Whether `bundle` takes neither a slot nor a clock.
inline bool is_free(const Program& program, std::uint32_t bundle) {
  return !program.free.empty() && program.free[bundle] != 0;
}

/// The program of worker `w` of a set of `vertex`, or kNone.
inline std::uint32_t worker_of(const Program& program, const Vertex& vertex, std::uint32_t set,
                               std::uint32_t w) {
  return program.set_table[(std::size_t{vertex.first_set} + set) * program.set_size + w];
}

/// Puts a program together.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const ChipParams& params);

  std::uint32_t bundle(Bundle bundle);
  std::uint32_t codelet(Codelet codelet);

  /// Calls are copied.
  CallRange calls(const std::vector<Call>& calls);
  std::uint32_t worker(const std::vector<Call>& calls);

  /// `sets` holds tile.workers worker programs (or kNone) for each of its worker sets, which
  /// `run` instructions of the vertex number from 0.
  std::uint32_t vertex(const std::vector<Call>& supervisor, const std::vector<std::uint32_t>& sets);

  /// Gives `tile` one more thing to do in the compute set under construction.
  void work(TileId tile, const WorkItem& item);
  void work(TileId tile, std::uint32_t vertex, std::uint32_t function = kNone);

  /// Closes the compute set under construction; kNone if it has no items.
  std::uint32_t compute_set(std::string name);

  /// Schedules the transfers; kNone if there are none.
  std::uint32_t exchange(std::string name, TransferList list);

  /// Adds a superstep, unless both are kNone.
  void superstep(std::uint32_t compute, std::uint32_t exchange);

  std::uint32_t function(VertexFunction function);

  /// Says what the fullest tile has in its memory: bundles lose slots where its elements have to
  /// be shared. Without it there are no conflicts.
  void operands(const OperandBytes& operands) { operands_ = operands; }

  /// The program so far; set what remains (images, memory_words, ...) directly. One that was taken
  /// may be put back here and gone on with: its bundles lose what they lost.
  Program& program() { return program_; }
  Program take();

 private:
  const ChipParams params_;
  Program program_;
  std::vector<std::pair<TileId, WorkItem>> open_;
  OperandBytes operands_;
};

/// How long a vertex takes, and how its clocks are spent; the last four add up to the first.
struct VertexCost {
  std::uint64_t cycles = 0;
  std::uint64_t worker = 0;      // clocks in which a worker issues a bundle
  std::uint64_t supervisor = 0;  // clocks in which the supervisor issues, or works on `ahead`
  std::uint64_t slot = 0;        // clocks whose slot has no live worker, while others run
  std::uint64_t conflict = 0;    // clocks lost to conflicts of memory elements
};

/// The cost of a vertex without executing it: what planners may ask, and the event engine uses.
/// Adds the number of issues of each bundle to `issues`, which has Program::bundles.size() places.
VertexCost vertex_cost(const Program& program, const Vertex& vertex, std::uint64_t* issues);
inline VertexCost vertex_cost(const Program& program, const Vertex& vertex,
                              std::vector<std::uint64_t>& issues) {
  return vertex_cost(program, vertex, issues.data());
}

/// The slots worker program `worker` occupies: one for each bundle, and those its conflicts cost; 0
/// for kNone.
std::uint64_t worker_slots(const Program& program, std::uint32_t worker);

}  // namespace lacuna::ipu
