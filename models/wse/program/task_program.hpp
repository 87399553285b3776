// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "models/wse/program/routes.hpp"
#include "models/wse/program/wavelet.hpp"

namespace lacuna::wse {

/// What a tensor instruction does with each element: to = a, a + b, a - b, a * b, to + a * b,
/// max(a, b), ... `work` is scalar code: `length` issue slots of the main thread, no operands.
enum class VectorOp : std::uint8_t {
  move,
  add,
  sub,
  mul,
  fma,
  max,
  abs,
  divide,  // a / b
  exp,
  rsqrt,
  tanh,
  sigmoid,
  erf,
  work,
};

/// Types of an instruction's elements. fp16_32 takes halves and gives (or adds to) single
/// precision; fp32_16 takes single precision and gives halves.
enum class Element : std::uint8_t { fp16, fp32, fp16_32, fp32_16, int16, int32 };

constexpr unsigned source_bytes(Element element) {
  return element == Element::fp32 || element == Element::int32 || element == Element::fp32_16 ? 4
                                                                                              : 2;
}
constexpr unsigned result_bytes(Element element) {
  return element == Element::fp32 || element == Element::int32 || element == Element::fp16_32 ? 4
                                                                                              : 2;
}

/// Where an instruction finds or puts its elements: what a data-structure register describes.
struct Operand {
  enum class Kind : std::uint8_t {
    none,
    memory,  // element i at address + ((i % inner) * stride + (i / inner) * outer) elements
    fabric,  // the words of `color`, two halves or one other element each
    fifo,    // a software FIFO in memory, by its number; words as of the fabric
    number,  // `value` for every element
    cell,    // the element at `address`, read once, when the instruction starts
    word,    // what the wavelet that started the task holds: FP16 in the low half, or FP32
  };

  Kind kind = Kind::none;
  Color color{};
  std::uint8_t fifo = 0;
  std::uint32_t address = 0;  // bytes
  std::int32_t stride = 1;    // elements; 0: the same element every time, kept in a register
  std::uint32_t inner = 0;    // elements of the inner dimension; 0: there is only one
  std::int32_t outer = 0;     // elements from one inner dimension to the next
  // times the upper and the lower half of the word that started the task, added to `address`
  std::uint32_t index_bytes = 0;
  std::uint32_t offset_bytes = 0;
  float value = 0;

  bool is_fabric() const { return kind == Kind::fabric; }
  bool is_fifo() const { return kind == Kind::fifo; }
  bool is_stream() const { return is_fabric() || is_fifo(); }
};

inline Operand in_memory(std::uint32_t address, std::int32_t stride = 1) {
  Operand operand;
  operand.kind = Operand::Kind::memory;
  operand.address = address;
  operand.stride = stride;
  return operand;
}

/// The first `length` elements at `address` again and again: a circular buffer.
inline Operand around(std::uint32_t address, std::uint32_t length) {
  Operand operand = in_memory(address);
  operand.inner = length;
  return operand;
}

/// At `address` plus the index of the task's wavelet times `index_bytes`.
inline Operand at_index(std::uint32_t address, std::uint32_t index_bytes) {
  Operand operand = in_memory(address);
  operand.index_bytes = index_bytes;
  return operand;
}

/// The same with the lower half.
inline Operand at_offset(std::uint32_t address, std::uint32_t offset_bytes) {
  Operand operand = in_memory(address);
  operand.offset_bytes = offset_bytes;
  return operand;
}

inline Operand on_fabric(Color color) {
  Operand operand;
  operand.kind = Operand::Kind::fabric;
  operand.color = color;
  return operand;
}

inline Operand in_fifo(std::uint8_t fifo) {
  Operand operand;
  operand.kind = Operand::Kind::fifo;
  operand.fifo = fifo;
  return operand;
}

inline Operand number(float value) {
  Operand operand;
  operand.kind = Operand::Kind::number;
  operand.value = value;
  return operand;
}

inline Operand cell(std::uint32_t address) {
  Operand operand = in_memory(address);
  operand.kind = Operand::Kind::cell;
  return operand;
}

inline Operand task_word() {
  Operand operand;
  operand.kind = Operand::Kind::word;
  return operand;
}

/// The task `kNoTask` is none.
using TaskIndex = std::uint16_t;
inline constexpr TaskIndex kNoTask = 0xFFFF;

/// Threads of a core: the main thread, then the microthreads.
inline constexpr std::size_t kMicrothreads = 8;
inline constexpr std::uint8_t kMainThread = 0;

/// One tensor instruction.
struct Instruction {
  VectorOp op = VectorOp::move;
  Element element = Element::fp32;
  Operand to;
  Operand a;
  Operand b;
  std::uint32_t length = 0;           // elements
  std::uint8_t thread = kMainThread;  // 1 to 8: a microthread runs it, the main thread goes on
  TaskIndex activates = kNoTask;      // when it is complete
  TaskIndex unblocks = kNoTask;
  bool starts_sum = false;      // a mul that is counted as the first multiply-accumulate of sums
  bool control = false;         // the words it sends are control wavelets
  bool simd64 = false;          // takes and sends two wavelets in an issue slot, if the core can
  SwitchCommands switches = 0;  // carried by the last word it sends
};

/// Code that tasks share: instructions of the main thread, one after the other, on memory and
/// numbers alone. They neither use the word that started the task nor activate or unblock tasks.
using Routine = std::vector<Instruction>;

/// One step of a task, taken by the main thread. Activating, blocking and a `stamp`, which notes
/// the cycle for those who measure, take no time; a `call` takes what its routine takes.
struct Step {
  enum class Kind : std::uint8_t { vector, activate, block, unblock, call, stamp };

  Kind kind = Kind::vector;
  TaskIndex task = kNoTask;  // of the kinds that name one
  Instruction vector;
  std::uint32_t routine = 0;  // by its number
};

inline Step run(const Instruction& instruction) {
  return {Step::Kind::vector, kNoTask, instruction, 0};
}
inline Step activate(TaskIndex task) { return {Step::Kind::activate, task, {}, 0}; }
inline Step block(TaskIndex task) { return {Step::Kind::block, task, {}, 0}; }
inline Step unblock(TaskIndex task) { return {Step::Kind::unblock, task, {}, 0}; }
inline Step call(std::uint32_t routine) { return {Step::Kind::call, kNoTask, {}, routine}; }
inline Step stamp() { return {Step::Kind::stamp, kNoTask, {}, 0}; }

/// Scalar code that takes `cycles` issue slots; 0 is nothing.
inline Step work(std::uint32_t cycles) {
  Instruction instruction;
  instruction.op = VectorOp::work;
  instruction.length = cycles;
  return run(instruction);
}

/// What a core does when it is triggered: by each wavelet of a color (`data`), by being activated
/// (`local`), or by a control wavelet whose upper half is `id` (`control`). It runs when it is
/// triggered and not blocked, to its end.
struct Task {
  enum class Kind : std::uint8_t { data, local, control };

  Kind kind = Kind::local;
  Color color{};            // data
  std::uint8_t id = 0;      // control, 0 to 63
  bool active = false;      // local: from the start on, without dispatch
  bool blocked = false;     // from the start on
  std::vector<Step> steps;  // one after the other
};

/// The tasks of a core, in their order. Tasks that many cores have are held once: copies of a list
/// share all of theirs, and a task is made the list's own when it is asked for to be changed. What
/// is asked for so is changed before the list is copied.
class TaskList {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Task;
    using difference_type = std::ptrdiff_t;
    using pointer = const Task*;
    using reference = const Task&;

    explicit Iterator(const std::shared_ptr<Task>* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const std::shared_ptr<Task>* at_;
  };

  TaskList() = default;
  TaskList(std::initializer_list<Task> tasks) {
    for (const Task& task : tasks) push_back(task);
  }
  TaskList(std::vector<Task> tasks) {  // NOLINT(google-explicit-constructor)
    for (Task& task : tasks) push_back(std::move(task));
  }

  bool empty() const { return tasks_.empty(); }
  std::size_t size() const { return tasks_.size(); }
  const Task& operator[](std::size_t index) const { return *tasks_[index]; }
  const Task& front() const { return *tasks_.front(); }
  Iterator begin() const { return Iterator(tasks_.data()); }
  Iterator end() const { return Iterator(tasks_.data() + tasks_.size()); }

  Task& operator[](std::size_t index) { return own(tasks_[index]); }
  Task& front() { return own(tasks_.front()); }
  Task& back() { return own(tasks_.back()); }
  void push_back(Task task) { tasks_.push_back(std::make_shared<Task>(std::move(task))); }
  void emplace_back() { push_back({}); }
  void reserve(std::size_t size) { tasks_.reserve(size); }
  void resize(std::size_t size) {
    while (tasks_.size() < size) emplace_back();
  }

  /// One that others have, too.
  void share(std::shared_ptr<Task> task) { tasks_.push_back(std::move(task)); }

 private:
  static Task& own(std::shared_ptr<Task>& task) {
    if (task.use_count() > 1) task = std::make_shared<Task>(*task);
    return *task;
  }

  std::vector<std::shared_ptr<Task>> tasks_;
};

/// The queue, by its number, that a core uses for a color. The depths are parameters.
struct QueueUse {
  Color color{};
  std::uint8_t queue = 0;
};

/// A FIFO that software keeps in memory: a beat to put a word in, a beat to take it out.
struct SoftwareFifo {
  std::uint32_t address = 0;   // bytes
  std::uint32_t capacity = 0;  // words
};

/// What one core does.
struct CoreProgram {
  TaskList tasks;
  std::vector<QueueUse> in;   // one for each color that comes down the ramp; none: queue 0
  std::vector<QueueUse> out;  // one for each color it sends; none: queue 2
  std::vector<SoftwareFifo> fifos;
};

/// What a rectangle of cores executes: routes and tasks. Cores that do the same share a
/// description. With values each core has a memory to begin with; without, only time passes.
struct TaskProgram : Fabric {
  std::vector<CoreProgram> cores;
  std::vector<Routine> routines;                  // of all cores
  std::vector<std::uint32_t> core_of;             // by core, row-major
  std::vector<std::vector<std::uint8_t>> memory;  // by core, row-major; empty: no values
};

}  // namespace lacuna::wse
