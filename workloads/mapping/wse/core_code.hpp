// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "workloads/mapping/wse/code_costs.hpp"
#include "workloads/mapping/wse/inference/params.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna::wse {

/// Routines that cores of different programs share, each once.
class SharedRoutines {
 public:
  explicit SharedRoutines(TaskBuilder& builder) : builder_(builder) {}
  std::uint32_t of(const Routine& routine);

 private:
  TaskBuilder& builder_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;  // by all that is said of them
};

/// What says how long an instruction on memory takes.
struct Datapath {
  SimdParams simd;
  MemoryParams mem;
};

/// Cycles of a core between two of its stamps, as its code has them; what is left of the time it
/// waits for words of others.
struct CodeShares {
  Cycle setup = 0;       // scalar code, loads of descriptors and dispatches
  Cycle arithmetic = 0;  // beats of tensor instructions on its memory
  Cycle rewriting = 0;   // of routes
  Cycle words = 0;       // beats of instructions that send or take words

  Cycle all() const { return setup + arithmetic + rewriting + words; }
};

/// The code of a core, written one step after the other, all of it in the main thread: scalar code
/// and tensor instructions with the set-up that compiled programs pay (CodeCosts). It writes all
/// programs of rows and models; kernels, whose tasks follow each other, take the same costs.
class CoreCode {
 public:
  /// What lies between two instructions on words is a routine, which equal cores share.
  CoreCode(const CodeCosts& costs, const InferenceParams& params, SharedRoutines& routines)
      : costs_(costs), params_(params), routines_(&routines) {}

  /// Every instruction is a step of its own.
  CoreCode(const CodeCosts& costs, const InferenceParams& params)
      : costs_(costs), params_(params) {}

  const CodeCosts& costs() const { return costs_; }
  const InferenceParams& params() const { return params_; }

  void scalar(std::uint32_t cycles);

  /// Routes of so many colors are rewritten, at the end of what uses the old ones.
  void rewrite(unsigned routes);

  /// Something that is there is tested, and the branch is taken.
  void test() { scalar(costs_.scalar.dependent + costs_.scalar.branch_taken); }

  /// A tensor instruction behind another: its descriptors are loaded, and a source that is a number
  /// is brought into a register. An operand that is the result too has no descriptor of its own.
  void vector(VectorOp op, Element element, const Operand& to, const Operand& a, const Operand& b,
              std::uint64_t length);
  void move(Element element, const Operand& to, const Operand& a, std::uint64_t length) {
    vector(VectorOp::move, element, to, a, Operand(), length);
  }

  /// One of a loop over it: the edge of the loop too, unless that is written out.
  void step(VectorOp op, Element element, const Operand& to, const Operand& a, const Operand& b,
            std::uint32_t length);

  /// The same of a matrix-vector product: to = a * b if it is the `first`, else to + a * b. Behind
  /// another of the same length a descriptor stays or moves on by itself, from the load that began
  /// the loop on always the same: if both stand where they have to, as in a mapped loop, the load
  /// of the scalar and the dispatch are all.
  void accumulate(bool first, Element element, const Operand& to, const Operand& a,
                  const Operand& b, std::uint32_t length);

  /// The same of a product of tiles, whose instructions add to one vector each: of such a loop, and
  /// none begins it.
  void stream(Element element, const Operand& to, const Operand& a, const Operand& b,
              std::uint32_t length);

  /// to + a * b behind scalar code that has loaded the number: the loads of two descriptors, or,
  /// if they `stand` in their registers, where that code has written what is new, the dispatch.
  void multiply_add(bool stand, Element element, const Operand& to, const Operand& a,
                    const Operand& b, std::uint32_t length);

  /// What `write` appends, all of it in memory, as scalar code of as many cycles: for programs
  /// without values whose cores all have code of their own.
  void as_one_piece(const Datapath& datapath, const std::function<void()>& write);

  /// The cycles of that, of which nothing is appended.
  Cycle cycles_of(const Datapath& datapath, const std::function<void()>& write);

  /// Started in microthread `thread` beside what follows, once it is idle; waited for.
  void beside(std::uint8_t thread, Element element, const Operand& to, const Operand& a,
              std::uint64_t length);
  void wait_for(std::uint8_t thread);

  /// The last word of the instruction before carries these commands to switches.
  void switch_after(SwitchCommands commands);

  /// An operation on one number, which the next waits for.
  void number_op(VectorOp op, Element element, std::uint32_t to, const Operand& a,
                 const Operand& b = Operand());

  /// Queues of colors; slot by slot the same, whatever axis the color is for.
  void take(Color color, std::uint8_t slot);
  void send(Color color, std::uint8_t slot);

  /// What `write` appends, all of it in memory, for later calls: code of steps that are many.
  std::uint32_t keep(const std::function<void()>& write);
  void call_kept(std::uint32_t number);

  /// Notes the cycle.
  void stamp();

  /// From now on what is written is counted, too, on a core like this.
  void count(const Datapath& datapath);
  /// Of the stretches that ended with a stamp since then. Kept code is in none.
  const std::vector<CodeShares>& shares() const { return shares_; }

  /// A core that runs this once, from the beginning.
  CoreProgram finish() &&;
  /// The steps, for a task of another program.
  std::vector<Step> take_steps() &&;

 private:
  /// Where a descriptor stands before an instruction, and what its registers were loaded to do:
  /// `loaded`: nothing has followed yet.
  struct Descriptor {
    enum class Way : std::uint8_t { loaded, stays, moves };

    std::uint32_t address = 0;
    Way way = Way::loaded;

    /// Whether it is at the operand by itself, behind one of so many bytes; then it stands there.
    bool follows(const Operand& operand, std::uint32_t bytes);
  };
  struct MappedLoop {
    std::uint32_t length = 0;  // 0: none
    Descriptor to;
    Descriptor a;
  };

  void flush();
  void loop_edge();
  void dispatch();
  bool goes_on(Element element, const Operand& to, const Operand& a, std::uint32_t length);
  void put(const Instruction& instruction);
  void count(const Instruction& what);

  const CodeCosts& costs_;
  const InferenceParams& params_;
  SharedRoutines* routines_ = nullptr;
  Routine local_;  // steps on memory alone that have not been written yet
  std::vector<Step> steps_;
  MappedLoop loop_;  // of the last instruction
  const Datapath* counts_ = nullptr;
  CodeShares stretch_;  // since the last stamp
  std::vector<CodeShares> shares_;
  std::map<Color, std::uint8_t> in_;
  std::map<Color, std::uint8_t> out_;
};

}  // namespace lacuna::wse
