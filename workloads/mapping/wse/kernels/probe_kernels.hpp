// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/wse/program/task_program.hpp"
#include "workloads/mapping/wse/code_costs.hpp"

// Programs of published measurements of wafers, as a compiler makes them: set-up of vector
// operations and tasks by the parameters vec.*, task.* and scalar.*. They carry no values.

namespace lacuna::wse {

/// One vector operation of one core. Its arrays lie one behind the other from address 0 on, each a
/// multiple of 16 bytes: the result (which multiply-accumulates read too), then the sources.
struct VectorProbe {
  enum class Kind { copy, fill, fma, add, sum, to_register };

  Kind kind = Kind::copy;
  Element element = Element::fp16;
  std::uint32_t length = 1;
  std::int32_t stride = 1;   // of what is read
  std::uint32_t offset = 0;  // bytes between result and first source beyond their places
};
TaskProgram plan_vector_probe(const VectorProbe& probe, const CodeCosts& costs);

/// A holder at the west end of a row sends `words` once to all `receivers`. Each receiver has armed
/// an asynchronous bulk move and takes its stamp in the completion task. With `last_only` the
/// routers between copy nothing to their cores.
struct LineProbe {
  std::uint32_t words = 1;
  std::uint32_t receivers = 1;
  bool last_only = false;
  bool stamps = true;  // the receiver's completion task
};
TaskProgram plan_line_probe(const LineProbe& probe, const CodeCosts& costs);

/// What a data task does with each word, in the instructions of scalar code that this takes.
enum class WordWork { count, store, relay, forward };

/// A core sends `words` words in bulk to a neighbour, whose data task treats each; a relay or a
/// forwarder sends it on to a third.
TaskProgram plan_word_tasks(WordWork kind, std::uint32_t words, const CodeCosts& costs);

/// A line of stages, each of which receives `words` in bulk, then sends them in bulk.
TaskProgram plan_store_and_forward(std::uint32_t stages, std::uint32_t words,
                                   const CodeCosts& costs);

/// The way back of traces/programs/park.yaml: storage south of a column of `cores` sends each core
/// its words in a loop of one-word sends, then a control word that switches that core's router from
/// taking to passing on. A core takes them in data tasks or, with `bulk`, in one move.
TaskProgram plan_reload(std::uint32_t cores, std::uint32_t words, bool bulk,
                        const CodeCosts& costs);

/// A vector operation of so many beats, then scalar code of as many cycles.
TaskProgram plan_overlap(std::uint32_t vector, std::uint32_t scalar);

}  // namespace lacuna::wse
