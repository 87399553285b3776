// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna {
namespace {

using wse::Element;
using wse::Operand;
using wse::Step;
using wse::SwitchCommand;
using wse::Task;
using wse::TaskIndex;
using wse::VectorOp;

constexpr std::int64_t kMostElements = 1 << 24;
constexpr std::size_t kMostSteps = std::size_t{1} << 20U;  // of a task, repeated ones too

const std::map<std::string, VectorOp>& operations() {
  static const std::map<std::string, VectorOp> all = {
      {"move", VectorOp::move},       {"add", VectorOp::add},   {"sub", VectorOp::sub},
      {"mul", VectorOp::mul},         {"fma", VectorOp::fma},   {"max", VectorOp::max},
      {"abs", VectorOp::abs},         {"exp", VectorOp::exp},   {"divide", VectorOp::divide},
      {"rsqrt", VectorOp::rsqrt},     {"tanh", VectorOp::tanh}, {"erf", VectorOp::erf},
      {"sigmoid", VectorOp::sigmoid}, {"work", VectorOp::work}};
  return all;
}

/// The result, then the sources.
std::size_t operands_of(VectorOp op) {
  const bool two = (op >= VectorOp::add && op <= VectorOp::max) || op == VectorOp::divide;
  return two ? 3 : 2;
}

std::uint32_t product(const std::vector<std::uint32_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1U, std::multiplies<>());
}

/// Queues of colors of which nothing is said, in turn.
void share_queues(const ColorPlaces& colors, unsigned first, unsigned count,
                  std::vector<wse::QueueUse>& uses) {
  const std::vector<wse::QueueUse> said = uses;
  unsigned next = 0;
  for (const auto& [color, at] : colors) {
    const bool known = any_of(said, [c = color](const auto& use) { return use.color == c; });
    if (!known) uses.push_back({color, static_cast<std::uint8_t>(first + next++ % count)});
  }
}

/// Writes the code of one core.
class CoreWriter {
 public:
  CoreWriter(ProgramText& text, const ColorNames& colors) : text_(text), colors_(colors) {}

  CoreCode write(const std::vector<YamlNode>& entries) {
    std::vector<YamlMember> tasks;
    for (const YamlNode& entry : entries) {
      for (const YamlMember& said : text_.members(entry["data"])) add_array(said);
      for (const YamlMember& said : text_.members(entry["fifos"])) {
        check_name(said);
        fifos_[said.name] = static_cast<std::uint8_t>(made_.program.fifos.size());
        const std::uint32_t words = text_.count(said.value, 1, 1 << 16);
        made_.program.fifos.push_back({wse::aligned(made_.bytes), words});
        made_.bytes = wse::aligned(made_.bytes) + 4 * words;
      }
      for (const YamlMember& said : text_.members(entry["tasks"])) {
        check_name(said);
        tasks_[said.name] = static_cast<TaskIndex>(tasks.size());
        tasks.push_back(said);
      }
      const YamlNode queues = entry["queues"];
      for (const YamlMember& way : text_.members(queues, {"in", "out"})) {
        for (const YamlMember& said : text_.members(way.value)) {
          const auto queue = static_cast<std::uint8_t>(text_.count(said.value, 0, 7));
          (way.name == "in" ? made_.program.in : made_.program.out)
              .push_back({text_.one_of(said.at, colors_), queue});
        }
      }
    }
    made_.program.tasks.resize(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) add_task(tasks[i], made_.program.tasks[i]);
    check_ends(tasks);
    // the first two input queues are the deepest, and so are output queues 2 and 3
    share_queues(made_.taken, 0, 8, made_.program.in);
    share_queues(made_.sent, 2, 2, made_.program.out);
    for (const YamlNode& entry : entries) {
      for (const auto& [name, at, value] : text_.members(entry["read"])) {
        made_.read.push_back({name, slice(at, name), value});
      }
    }
    return std::move(made_);
  }

 private:
  /// Arrays, FIFOs, tasks and colors are named apart.
  void check_name(const YamlMember& said) {
    if (names_.insert(said.name).second && colors_.count(said.name) == 0) return;
    text_.refuse(said.at.Mark(), fmt::format("'{}' is given twice", said.name));
  }

  void add_array(const YamlMember& said) {
    check_name(said);
    CoreArray array;
    array.address = wse::aligned(made_.bytes);
    array.said = said.value;
    for (const YamlMember& each :
         text_.members(said.value, {"type", "shape", "values", "address"})) {
      if (each.name == "type") array.element = element(each.value);
      if (each.name == "address") array.address = text_.count(each.value, 0, 1 << 24);
      if (each.name != "shape") continue;
      for (const YamlNode& side : ProgramText::items(each.value)) {
        array.shape.push_back(text_.count(side, 1, 1 << 24));
      }
    }
    if (array.shape.empty() || array.shape.size() > 2) {
      text_.refuse(said.at.Mark(), fmt::format("'{}' has {} dimensions; allowed: `shape: N` or "
                                               "`shape: [M, N]`",
                                               said.name, array.shape.size()));
    }
    made_.bytes = std::max(made_.bytes, array.end());
    made_.arrays.emplace(said.name, array);
  }

  /// The word of a type, or a constant that is given as one.
  Element element(const YamlNode& said) {
    const double* const number = value_in(text_.names.numbers, text_.word(said));
    for (const auto& [name, element] : element_names()) {
      if (number != nullptr && *number == static_cast<double>(element)) return element;
    }
    return text_.one_of(said, element_names());
  }

  void add_task(const YamlMember& said, Task& task) {
    if (said.value.IsSequence()) {
      task.steps = steps(said.value);
      return;
    }
    for (const YamlMember& each :
         text_.members(said.value, {"color", "control", "active", "blocked", "steps"})) {
      if (each.name == "steps") task.steps = steps(each.value);
      if (each.name == "active") task.active = text_.flag(each.value);
      if (each.name == "blocked") task.blocked = text_.flag(each.value);
      if (each.name == "control") {
        task.kind = Task::Kind::control;
        task.id = static_cast<std::uint8_t>(text_.count(each.value, 0, 63));
        made_.control_tasks = true;
      }
      if (each.name != "color") continue;
      task.kind = Task::Kind::data;
      task.color = text_.one_of(each.value, colors_);
      made_.taken.emplace(task.color, each.at);
      const auto [first, fresh] = data_tasks_.emplace(task.color, each.at);
      if (fresh) continue;
      text_.refuse(each.at.Mark(), fmt::format("a second task on color {}; the first is in line {}",
                                               each.value.Scalar(), first->second.Mark().line + 1));
    }
  }

  /// Tasks that activate each other in a circle run for ever if none of them
  /// waits for words.
  void check_ends(const std::vector<YamlMember>& said) const {
    std::vector<std::set<std::size_t>> next(said.size());
    for (std::size_t i = 0; i < said.size(); ++i) {
      for (const Step& step : made_.program.tasks[i].steps) {
        const bool takes = step.vector.a.is_stream() || step.vector.b.is_stream();
        if (takes || step.kind == Step::Kind::block) {
          next[i].clear();
          break;
        }
        if (step.kind == Step::Kind::activate) next[i].insert(step.task);
        next[i].insert(step.vector.activates);
      }
    }
    for (std::size_t by = 0; by < said.size(); ++by) {
      for (auto& each : next) {
        if (each.count(by) != 0) each.insert(next[by].begin(), next[by].end());
      }
    }
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (next[i].count(i) == 0) continue;
      text_.refuse(said[i].at.Mark(),
                   fmt::format("task '{}' activates itself and never ends; allowed: `repeat: N`",
                               said[i].name));
    }
  }

  std::vector<std::string> indices(const YamlNode& at, const std::string& text,
                                   const CoreArray& array) const {
    const std::size_t open = text.find('[');
    if (open == std::string::npos) return std::vector<std::string>(array.shape.size(), ":");
    std::vector<std::string> said = parts_of(text.substr(open + 1, text.size() - open - 2), ',');
    if (text.back() == ']' && said.size() == array.shape.size()) return said;
    text_.refuse(at.Mark(),
                 fmt::format("found '{}'; allowed: {} indices in [ ]", text, array.shape.size()));
  }

  CoreSlice slice(const YamlNode& at, const std::string& text) {
    const std::string name = text.substr(0, text.find('['));
    const CoreArray* const array = value_in(made_.arrays, name);
    if (array == nullptr) text_.refuse_word(at, name, keys_of(made_.arrays));
    const std::vector<std::string> said = indices(at, text, *array);
    CoreSlice slice;
    slice.element = array->element;
    Operand& operand = slice.operand;
    operand = wse::in_memory(0, 0);
    const unsigned bytes_each = wse::source_bytes(array->element);
    std::int64_t first = 0;
    for (std::size_t d = 0; d < said.size(); ++d) {
      const TextRange index = text_.range(at, said[d], array->shape[d], true);
      const std::int64_t pitch = d + 1 < said.size() ? array->shape[1] : 1;
      first += index.first * pitch;
      const auto apart = static_cast<std::uint32_t>(pitch * bytes_each);
      if (index.half == "upper") operand.index_bytes += apart;
      if (index.half == "lower") operand.offset_bytes += apart;
      if (index.single) continue;
      if (!slice.shape.empty()) {  // the second dimension is the inner one
        operand.outer = operand.stride;
        operand.inner = static_cast<std::uint32_t>(index.count);
      }
      operand.stride = static_cast<std::int32_t>(index.step * pitch);
      slice.shape.push_back(static_cast<std::uint32_t>(index.count));
    }
    made_.by_numbers = made_.by_numbers || operand.index_bytes + operand.offset_bytes != 0;
    // addresses are modulo 2^32: with what the word adds it is in the array again
    operand.address = static_cast<std::uint32_t>(array->address + first * bytes_each);
    return slice;
  }

  CoreSlice operand(const YamlNode& at, const std::string& text) {
    if (made_.arrays.count(text.substr(0, text.find('['))) != 0) return slice(at, text);
    if (const wse::Color* const color = value_in(colors_, text_.numbered(at, text)))
      return {wse::on_fabric(*color), {}, {}};
    if (const std::uint8_t* const fifo = value_in(fifos_, text))
      return {wse::in_fifo(*fifo), {}, {}};
    if (text == "word") return {wse::task_word(), {}, {}};
    return {wse::number(static_cast<float>(text_.number(at, text))), {}, {}};
  }

  // The steps of a task: what the main thread does, one after the other.

  std::vector<Step> steps(const YamlNode& list) {
    std::vector<Step> made;
    for (const YamlNode& said : ProgramText::items(list)) {
      add_step(said, made);
      if (made.size() <= kMostSteps) continue;
      text_.refuse(said.Mark(), fmt::format("more than {} steps", kMostSteps));
    }
    return made;
  }

  /// The first word of a step says what it does.
  void add_step(const YamlNode& said, std::vector<Step>& into) {
    if (said.IsScalar() && said.Scalar() == "stamp") return into.push_back(wse::stamp());
    if (!said.IsMap() || said.size() == 0)
      text_.refuse(said.Mark(), "found no step, such as work: 4");
    const YamlNode key = said.begin()->first;
    const YamlNode value = said.begin()->second;
    const std::string& word = text_.word(key);
    const YamlNode condition = said["if"];
    if (condition && !text_.flag(condition)) return;
    if (word == "repeat") return repeat(said, into);
    const VectorOp* const op = value_in(operations(), word);
    if (op != nullptr && *op != VectorOp::work) {
      return into.push_back(wse::run(instruction(said, *op)));
    }
    text_.members(said, {word, "if"});
    if (word == "work") return into.push_back(wse::work(text_.count(value, 0, kMostElements)));
    if (word == "activate") return into.push_back(wse::activate(text_.one_of(value, tasks_)));
    if (word == "block") return into.push_back(wse::block(text_.one_of(value, tasks_)));
    if (word == "unblock") return into.push_back(wse::unblock(text_.one_of(value, tasks_)));
    std::vector<std::string> allowed = keys_of(operations());
    allowed.insert(allowed.end(), {"activate", "block", "unblock", "stamp", "repeat"});
    text_.refuse_word(key, word, allowed);
  }

  void repeat(const YamlNode& said, std::vector<Step>& into) {
    text_.members(said, {"repeat", "as", "steps", "if"});
    const std::string counter = said["as"] ? text_.word(said["as"]) : "";
    const std::uint32_t times = text_.count(said["repeat"], 0, kMostElements);
    auto& numbers = text_.names.numbers;
    if (numbers.count(counter) != 0) {
      text_.refuse(said.Mark(), fmt::format("'{}' is given twice", counter));
    }
    for (std::uint32_t k = 0; k < times && into.size() <= kMostSteps; ++k) {
      if (!counter.empty()) numbers[counter] = k;
      const std::vector<Step> made = steps(said["steps"]);
      into.insert(into.end(), made.begin(), made.end());
    }
    numbers.erase(counter);
  }

  wse::Instruction instruction(const YamlNode& said, VectorOp op) {
    const YamlNode at = said.begin()->second;
    const std::vector<std::string> texts = parts_of(text_.word(at), ',');
    if (texts.size() != operands_of(op)) {
      text_.refuse(at.Mark(), fmt::format("found {} operands; allowed: {}, the result first",
                                          texts.size(), operands_of(op)));
    }
    std::vector<CoreSlice> operands;
    for (const std::string& text : texts) operands.push_back(operand(at, text));
    wse::Instruction what;
    what.op = op;
    set_modifiers(said, what);
    set_element(said, operands, what);
    set_length(at, operands, what);
    for (const Operand* const source : {&what.a, &what.b}) {
      if (source->is_fabric()) made_.taken.emplace(source->color, at);
    }
    if (what.to.is_fabric()) made_.sent.emplace(what.to.color, at);
    made_.by_numbers = made_.by_numbers || what.control;
    if (what.to.kind == Operand::Kind::memory || what.to.is_stream()) return what;
    text_.refuse(
        at.Mark(),
        fmt::format("found '{}' for a result; allowed: an array, a color, a FIFO", texts[0]));
  }

  /// As long as the longest operand, where nothing else is said: others have this
  /// length, or one element, which stays the same. With `length` shorter ones are
  /// gone round again and again.
  void set_length(const YamlNode& at, const std::vector<CoreSlice>& operands,
                  wse::Instruction& what) const {
    const bool said = what.length != 0;
    for (const CoreSlice& each : operands) {
      const bool counts = !said && each.operand.kind == Operand::Kind::memory;
      if (counts) what.length = std::max(what.length, each.size());
    }
    if (what.length == 0) text_.refuse(at.Mark(), "has no array; allowed: `length: N` beside it");
    const std::array<Operand*, 3> places{&what.to, &what.a, &what.b};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::uint32_t size = operands[i].size();
      Operand& operand = *places.at(i) = operands[i].operand;
      if (operand.kind != Operand::Kind::memory || size == what.length) continue;
      const bool round = said && operand.inner == 0 && size < what.length;
      if (size == 1) {
        operand.stride = 0;
      } else if (round) {
        operand.inner = size;
      } else {
        text_.refuse(at.Mark(), fmt::format("operand {} has {} elements; allowed: {} or 1", i + 1,
                                            size, what.length));
      }
    }
  }

  /// The type of arrays; where there are none `type`, or fp32.
  void set_element(const YamlNode& said, const std::vector<CoreSlice>& operands,
                   wse::Instruction& what) {
    const YamlNode type = said["type"];
    const Element otherwise = type ? element(type) : operands[0].element.value_or(Element::fp32);
    const Element last = operands.back().element.value_or(operands[1].element.value_or(otherwise));
    const Element first = operands[1].element.value_or(last);
    const Element result = operands[0].element.value_or(type ? otherwise : last);
    what.element = last;
    if (first == last && result == last) return;
    const bool wider = last == Element::fp16 && result == Element::fp32;
    what.element = wider ? Element::fp16_32 : Element::fp32_16;
    const bool narrower = last == Element::fp32 && result == Element::fp16;
    if (first == last && (wider || narrower)) return;
    text_.refuse(said.begin()->second.Mark(),
                 "operands of two types; allowed: one, or sources of fp16 and a "
                 "result of fp32, or "
                 "the other way");
  }

  void set_modifiers(const YamlNode& said, wse::Instruction& what) {
    for (const YamlMember& each :
         text_.members(said, {text_.word(said.begin()->first), "length", "type", "thread",
                              "activate", "unblock", "control", "switch", "simd64", "if"})) {
      const YamlNode& value = each.value;
      if (each.name == "length") what.length = text_.count(value, 1, kMostElements);
      if (each.name == "thread") what.thread = static_cast<std::uint8_t>(text_.count(value, 1, 8));
      if (each.name == "activate") what.activates = text_.one_of(value, tasks_);
      if (each.name == "unblock") what.unblocks = text_.one_of(value, tasks_);
      if (each.name == "control") what.control = text_.flag(value);
      if (each.name == "simd64") what.simd64 = text_.flag(value);
      if (each.name == "switch") what.switches = commands(value);
    }
  }

  /// Commands for switches, of this router and those behind it; `own`: for this
  /// router alone.
  wse::SwitchCommands commands(const YamlNode& said) {
    static const std::map<std::string, SwitchCommand> all = {{"none", SwitchCommand::none},
                                                             {"advance", SwitchCommand::advance},
                                                             {"reset", SwitchCommand::reset},
                                                             {"teardown", SwitchCommand::teardown}};
    unsigned made = 0;
    unsigned place = 0;
    for (const YamlNode& each : ProgramText::items(said)) {
      if (text_.word(each) == "own") {
        made |= wse::kOwnRouterOnly;
        continue;
      }
      if (place == 14) text_.refuse(each.Mark(), "an eighth command");
      made |= static_cast<unsigned>(text_.one_of(each, all)) << place;
      place += 2;
    }
    return static_cast<wse::SwitchCommands>(made);
  }

  ProgramText& text_;
  const ColorNames& colors_;
  CoreCode made_;
  std::set<std::string> names_;
  std::map<std::string, std::uint8_t> fifos_;
  std::map<std::string, wse::TaskIndex> tasks_;
  ColorPlaces data_tasks_;
};

}  // namespace

const std::map<std::string, Element>& element_names() {
  static const std::map<std::string, Element> all = {{"fp16", Element::fp16},
                                                     {"fp32", Element::fp32},
                                                     {"int16", Element::int16},
                                                     {"int32", Element::int32}};
  return all;
}

std::uint32_t CoreArray::end() const {
  return address + product(shape) * wse::source_bytes(element);
}

std::uint32_t CoreSlice::size() const { return product(shape); }

CoreCode core_code(ProgramText& text, const ColorNames& colors,
                   const std::vector<YamlNode>& entries) {
  return CoreWriter(text, colors).write(entries);
}

}  // namespace lacuna
