// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <regex>
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

constexpr std::int64_t kMostElements = 1 << 26;
constexpr std::int64_t kMostBytes = 1 << 26;               // of a core
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
    const auto each_task = [&](const auto& take) {
      for (YamlNode entry : entries) {
        for (const YamlMember& said : text_.members(entry->at("tasks"))) {
          repeated(said.value, [&] { take(said); });
        }
      }
    };
    for (YamlNode entry : entries) {
      for (const YamlMember& said : text_.members(entry->at("data"))) add_array(said);
      for (const YamlMember& said : text_.members(entry->at("fifos"))) {
        check_name(said);
        fifos_[said.name] = static_cast<std::uint8_t>(made_.program.fifos.size());
        const std::uint32_t words = text_.count(said.value, 1, 1 << 16);
        made_.program.fifos.push_back({wse::aligned(made_.bytes), words});
        made_.bytes = wse::aligned(made_.bytes) + 4 * words;
      }
      for (const YamlMember& way : text_.members(entry->at("queues"), {"in", "out"})) {
        for (const YamlMember& said : text_.members(way.value)) {
          const auto queue = text_.count<std::uint8_t>(said.value, 0, 7);
          (way.name == "in" ? made_.program.in : made_.program.out)
              .push_back({text_.one_of(said.at, colors_), queue});
        }
      }
    }
    each_task([&](const YamlMember& said) {
      tasks.push_back({text_.numbered(said.at, said.name), said.at, said.value});
      check_name(tasks.back());
      tasks_.emplace(tasks.back().name, static_cast<TaskIndex>(tasks_.size()));
    });
    each_task([&](const YamlMember& said) {
      made_.program.tasks.emplace_back();
      add_task(said, made_.program.tasks.back());
    });
    check_ends(tasks);
    // the first two input queues are the deepest, and so are output queues 2 and 3
    share_queues(made_.taken, 0, 8, made_.program.in);
    share_queues(made_.sent, 2, 2, made_.program.out);
    for (YamlNode entry : entries) {
      for (const auto& [name, at, value] : text_.members(entry->at("read"))) {
        made_.read.push_back({name, slice(at, name), value});
      }
    }
    return std::move(made_);
  }

 private:
  /// Arrays, FIFOs, tasks and colors are named apart.
  void check_name(const YamlMember& said) {
    if (names_.insert(said.name).second && colors_.count(said.name) == 0) return;
    text_.refuse(said.at, fmt::format("'{}' is given twice", said.name));
  }

  void add_array(const YamlMember& said) {
    check_name(said);
    CoreArray array;
    array.address = wse::aligned(made_.bytes);
    array.said = said.value;
    for (const YamlMember& each :
         text_.members(said.value, {"type", "shape", "values", "address"})) {
      if (each.name == "type") array.element = element(each.value);
      if (each.name == "address") array.address = text_.count(each.value, 0, kMostBytes);
      if (each.name != "shape") continue;
      for (YamlNode side : ProgramText::items(each.value)) {
        array.shape.push_back(text_.count(side, 1, kMostElements));
      }
    }
    if (array.shape.empty() || array.shape.size() > 2) {
      text_.refuse(said.at, fmt::format("'{}' has {} dimensions; allowed: `shape: N` or "
                                        "`shape: [M, N]`",
                                        said.name, array.shape.size()));
    }
    made_.bytes = std::max(made_.bytes, array.end());
    if (said.name.back() == ']') numbered_.insert(said.name.substr(0, said.name.find('[')));
    made_.arrays.emplace(said.name, array);
  }

  /// The word of a type, or a constant that is given as one.
  Element element(YamlNode said) {
    const auto* const number = value_in(text_.names.numbers, text_.word(said));
    for (const auto& [name, element] : element_names()) {
      if (number != nullptr && *number == static_cast<double>(element)) return element;
    }
    return text_.one_of(said, element_names());
  }

  void add_task(const YamlMember& said, Task& task) {
    if (said.value->is_list()) {
      steps(said.value, task.steps);
      return;
    }
    for (const YamlMember& each : text_.members(
             said.value, {"color", "control", "active", "blocked", "repeat", "as", "steps"})) {
      if (each.name == "steps") steps(each.value, task.steps);
      if (each.name == "active") task.active = text_.flag(each.value);
      if (each.name == "blocked") task.blocked = text_.flag(each.value);
      if (each.name == "control") {
        task.kind = Task::Kind::control;
        task.id = text_.count<std::uint8_t>(each.value, 0, 63);
        made_.control_tasks = true;
      }
      if (each.name != "color") continue;
      task.kind = Task::Kind::data;
      task.color = text_.one_of(each.value, colors_);
      made_.taken.emplace(task.color, each.at);
      const auto [first, fresh] = data_tasks_.emplace(task.color, each.at);
      if (fresh) continue;
      text_.refuse(each.at, fmt::format("a second task on color {}; the first is in line {}",
                                        each.value->word, first->second->mark.line + 1));
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
      text_.refuse(said[i].at,
                   fmt::format("task '{}' activates itself and never ends; allowed: `repeat: N`",
                               said[i].name));
    }
  }

  /// The array that a text begins with, and what follows its name.
  std::pair<const CoreArray*, std::string> array_of(YamlNode at, const std::string& text) {
    std::size_t end = std::min(text.find('['), text.size());
    std::string name = text.substr(0, end);
    if (numbered_.count(name) != 0) {
      end = std::min(text.find(']'), text.size() - 1) + 1;
      name = text_.numbered(at, text.substr(0, end));
    }
    return {value_in(made_.arrays, name), text.substr(end)};
  }

  CoreSlice slice(YamlNode at, const std::string& text) {
    const auto [array, rest] = array_of(at, text);
    if (array == nullptr) {
      text_.refuse_word(at, text.substr(0, text.find('[')), keys_of(made_.arrays));
    }
    const std::size_t dimensions = array->shape.size();
    const std::vector<std::string> said = rest.empty()
                                              ? std::vector<std::string>(dimensions, ":")
                                              : text_.parts(rest.substr(1, rest.size() - 2), ',');
    if (said.size() != dimensions || (!rest.empty() && rest.back() != ']')) {
      text_.refuse(at, fmt::format("found '{}'; allowed: {} indices in [ ]", text, dimensions));
    }
    // a half of the word that started the task, and what is added to it
    static const std::regex by_word("(upper|lower) *([-+].*)?");
    CoreSlice slice;
    slice.element = array->element;
    Operand& operand = slice.operand;
    operand = wse::in_memory(0, 0);
    const unsigned bytes_each = wse::source_bytes(array->element);
    std::int64_t first = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::int64_t pitch = d + 1 < dimensions ? array->shape[1] : 1;
      const auto apart = static_cast<std::uint32_t>(pitch * bytes_each);
      std::smatch half;
      if (std::regex_match(said[d], half, by_word)) {
        (half[1] == "upper" ? operand.index_bytes : operand.offset_bytes) += apart;
        first += text_.whole(at, "0" + half.str(2), -kMostElements, kMostElements) * pitch;
        continue;
      }
      const TextRange index = text_.range(at, said[d], array->shape[d]);
      first += index.first * pitch;
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

  CoreSlice operand(YamlNode at, const std::string& text) {
    if (array_of(at, text).first != nullptr) return slice(at, text);
    if (const wse::Color* const color = value_in(colors_, text_.numbered(at, text)))
      return {wse::on_fabric(*color), {}, {}};
    if (const std::uint8_t* const fifo = value_in(fifos_, text))
      return {wse::in_fifo(*fifo), {}, {}};
    if (text == "word") return {wse::task_word(), {}, {}};
    return {wse::number(static_cast<float>(text_.number(at, text))), {}, {}};
  }

  // The steps of a task: what the main thread does, one after the other.

  void steps(YamlNode list, std::vector<Step>& into) {
    for (YamlNode said : ProgramText::items(list)) {
      add_step(said, into);
      if (into.size() <= kMostSteps) continue;
      text_.refuse(said, fmt::format("more than {} steps", kMostSteps));
    }
  }

  /// The first word of a step says what it does.
  void add_step(YamlNode said, std::vector<Step>& into) {
    if (said->word == "stamp") return into.push_back(wse::stamp());
    if (said->members.empty()) text_.refuse(said, "found no step, such as work: 4");
    const auto& [word, key, value] = said->members.front();
    if (!text_.holds(said)) return;
    if (word == "repeat") {
      text_.members(said, {"repeat", "as", "steps", "if"});
      return repeated(said, [&] { steps(said->at("steps"), into); });
    }
    const VectorOp* const op = value_in(operations(), word);
    if (op != nullptr && *op != VectorOp::work) {
      return into.push_back(wse::run(instruction(said, *op)));
    }
    text_.members(said, {word.c_str(), "if"});
    if (word == "work") return into.push_back(wse::work(text_.count(value, 0, kMostElements)));
    if (word == "activate") return into.push_back(wse::activate(text_.one_of(value, tasks_)));
    if (word == "block") return into.push_back(wse::block(text_.one_of(value, tasks_)));
    if (word == "unblock") return into.push_back(wse::unblock(text_.one_of(value, tasks_)));
    std::vector<std::string> allowed = keys_of(operations());
    allowed.insert(allowed.end(), {"activate", "block", "unblock", "stamp", "repeat"});
    text_.refuse_word(key, word, allowed);
  }

  /// What may be said of it to have several: `repeat`, and a counter.
  void repeated(YamlNode said, const std::function<void()>& each) {
    YamlNode times = said->at("repeat");
    YamlNode as = said->at("as");
    std::optional<double>& counter = text_.names.numbers[as == nullptr ? "" : text_.word(as)];
    if (counter) text_.refuse(said, fmt::format("'{}' is given twice", as->word));
    const std::uint32_t count = times == nullptr ? 1 : text_.count(times, 0, kMostElements);
    for (std::uint32_t k = 0; k < count; ++k) {
      if (as != nullptr) counter = k;
      each();
    }
    counter.reset();
  }

  wse::Instruction instruction(YamlNode said, VectorOp op) {
    YamlNode at = said->members.front().value;
    const std::vector<std::string>& texts = text_.parts(text_.word(at), ',');
    if (texts.size() != operands_of(op)) {
      text_.refuse(at, fmt::format("found {} operands; allowed: {}, the result first", texts.size(),
                                   operands_of(op)));
    }
    std::vector<CoreSlice> operands;
    operands.reserve(texts.size());
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
        at, fmt::format("found '{}' for a result; allowed: an array, a color, a FIFO", texts[0]));
  }

  /// As long as the longest operand, where nothing else is said: others have this
  /// length, or one element, which stays the same. With `length` shorter ones are
  /// gone round again and again.
  void set_length(YamlNode at, const std::vector<CoreSlice>& operands,
                  wse::Instruction& what) const {
    const bool said = what.length != 0;
    for (const CoreSlice& each : operands) {
      const bool counts = !said && each.operand.kind == Operand::Kind::memory;
      if (counts) what.length = std::max(what.length, each.size());
    }
    if (what.length == 0) text_.refuse(at, "has no array; allowed: `length: N` beside it");
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
        text_.refuse(at, fmt::format("operand {} has {} elements; allowed: {} or 1", i + 1, size,
                                     what.length));
      }
    }
  }

  /// The type of arrays; where there are none `type`, or fp32.
  void set_element(YamlNode said, const std::vector<CoreSlice>& operands, wse::Instruction& what) {
    YamlNode type = said->at("type");
    const Element otherwise =
        type != nullptr ? element(type) : operands[0].element.value_or(Element::fp32);
    const Element last = operands.back().element.value_or(operands[1].element.value_or(otherwise));
    const Element first = operands[1].element.value_or(last);
    const Element result = operands[0].element.value_or(type != nullptr ? otherwise : last);
    what.element = last;
    if (first == last && result == last) return;
    const bool wider = last == Element::fp16 && result == Element::fp32;
    what.element = wider ? Element::fp16_32 : Element::fp32_16;
    const bool narrower = last == Element::fp32 && result == Element::fp16;
    if (first == last && (wider || narrower)) return;
    text_.refuse(said->members.front().value,
                 "operands of two types; allowed: one, or sources of fp16 and a "
                 "result of fp32, or "
                 "the other way");
  }

  void set_modifiers(YamlNode said, wse::Instruction& what) {
    for (const YamlMember& each :
         text_.members(said, {said->members.front().name.c_str(), "length", "type", "thread",
                              "activate", "unblock", "control", "switch", "simd64", "if"})) {
      YamlNode value = each.value;
      if (each.name == "length") what.length = text_.count(value, 1, kMostElements);
      if (each.name == "thread") what.thread = text_.count<std::uint8_t>(value, 1, 8);
      if (each.name == "activate") what.activates = text_.one_of(value, tasks_);
      if (each.name == "unblock") what.unblocks = text_.one_of(value, tasks_);
      if (each.name == "control") what.control = text_.flag(value);
      if (each.name == "simd64") what.simd64 = text_.flag(value);
      if (each.name == "switch") what.switches = commands(value);
    }
  }

  /// Commands for switches, of this router and those behind it; `own`: for this
  /// router alone.
  wse::SwitchCommands commands(YamlNode said) {
    static const std::map<std::string, SwitchCommand> all = {{"none", SwitchCommand::none},
                                                             {"advance", SwitchCommand::advance},
                                                             {"reset", SwitchCommand::reset},
                                                             {"teardown", SwitchCommand::teardown}};
    unsigned made = 0;
    unsigned place = 0;
    for (YamlNode each : ProgramText::items(said)) {
      if (text_.word(each) == "own") {
        made |= wse::kOwnRouterOnly;
        continue;
      }
      if (place == 14) text_.refuse(each, "an eighth command");
      made |= static_cast<unsigned>(text_.one_of(each, all)) << place;
      place += 2;
    }
    return static_cast<wse::SwitchCommands>(made);
  }

  ProgramText& text_;
  const ColorNames& colors_;
  CoreCode made_;
  std::set<std::string> names_;
  std::set<std::string> numbered_;  // arrays of which there are several
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
