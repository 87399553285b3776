// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/base/contains.hpp"
#include "sim/base/ranges.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna {
namespace {

using wse::Element;
using wse::Operand;
using wse::Step;
using wse::Task;
using wse::TaskIndex;

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

wse::CoreProgram CoreWriter::write(const std::vector<YamlNode>& entries) {
  std::vector<YamlMember> tasks;
  for (const YamlNode& entry : entries) {
    for (const YamlMember& said : text_.members(entry["data"])) add_array(said);
    for (const YamlMember& said : text_.members(entry["fifos"])) {
      check_name(said);
      fifos_[said.name] = static_cast<std::uint8_t>(program_.fifos.size());
      program_.fifos.push_back({wse::aligned(bytes), text_.count(said.value, 1, 1 << 16)});
      bytes = program_.fifos.back().address + 4 * program_.fifos.back().capacity;
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
        (way.name == "in" ? program_.in : program_.out)
            .push_back({text_.one_of(said.at, colors_), queue});
      }
    }
  }
  program_.tasks.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) add_task(tasks[i], program_.tasks[i]);
  check_ends(tasks);
  // the first two input queues are the deepest, and so are output queues 2 and
  // 3
  share_queues(taken, 0, 8, program_.in);
  share_queues(sent, 2, 2, program_.out);
  return std::move(program_);
}

/// Arrays, FIFOs, tasks and colors are named apart.
void CoreWriter::check_name(const YamlMember& said) {
  if (names_.insert(said.name).second && colors_.count(said.name) == 0) return;
  text_.refuse(said.at.Mark(), fmt::format("'{}' is given twice", said.name));
}

void CoreWriter::add_array(const YamlMember& said) {
  check_name(said);
  CoreArray array;
  array.address = wse::aligned(bytes);
  array.said = said.value;
  for (const YamlMember& each : text_.members(said.value, {"type", "shape", "values", "address"})) {
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
  bytes = std::max(bytes, array.end());
  arrays.emplace(said.name, array);
}

/// The word of a type, or a constant that is given as one.
Element CoreWriter::element(const YamlNode& said) {
  const double* const number = value_in(text_.names.numbers, text_.word(said));
  for (const auto& [name, element] : element_names()) {
    if (number != nullptr && *number == static_cast<double>(element)) return element;
  }
  return text_.one_of(said, element_names());
}

void CoreWriter::add_task(const YamlMember& said, Task& task) {
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
      control_tasks = true;
    }
    if (each.name != "color") continue;
    task.kind = Task::Kind::data;
    task.color = text_.one_of(each.value, colors_);
    taken.emplace(task.color, each.at);
    const auto [first, fresh] = data_tasks_.emplace(task.color, each.at);
    if (fresh) continue;
    text_.refuse(each.at.Mark(), fmt::format("a second task on color {}; the first is in line {}",
                                             each.value.Scalar(), first->second.Mark().line + 1));
  }
}

/// Tasks that activate each other in a circle run for ever if none of them
/// waits for words.
void CoreWriter::check_ends(const std::vector<YamlMember>& said) const {
  std::vector<std::set<std::size_t>> next(said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    for (const Step& step : program_.tasks[i].steps) {
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

std::vector<std::string> CoreWriter::indices(const YamlNode& at, const std::string& text,
                                             const CoreArray& array) const {
  const std::size_t open = text.find('[');
  if (open == std::string::npos) return std::vector<std::string>(array.shape.size(), ":");
  std::vector<std::string> said = parts_of(text.substr(open + 1, text.size() - open - 2), ',');
  if (text.back() == ']' && said.size() == array.shape.size()) return said;
  text_.refuse(at.Mark(),
               fmt::format("found '{}'; allowed: {} indices in [ ]", text, array.shape.size()));
}

CoreSlice CoreWriter::slice(const YamlNode& at, const std::string& text) {
  const std::string name = text.substr(0, text.find('['));
  const CoreArray* const array = value_in(arrays, name);
  if (array == nullptr) text_.refuse_word(at, name, keys_of(arrays));
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
  by_numbers = by_numbers || operand.index_bytes + operand.offset_bytes != 0;
  // addresses are modulo 2^32: with what the word adds it is in the array again
  operand.address = static_cast<std::uint32_t>(array->address + first * bytes_each);
  return slice;
}

CoreSlice CoreWriter::operand(const YamlNode& at, const std::string& text) {
  if (arrays.count(text.substr(0, text.find('['))) != 0) return slice(at, text);
  if (const wse::Color* const color = value_in(colors_, text_.numbered(at, text)))
    return {wse::on_fabric(*color), {}, {}};
  if (const std::uint8_t* const fifo = value_in(fifos_, text)) return {wse::in_fifo(*fifo), {}, {}};
  if (text == "word") return {wse::task_word(), {}, {}};
  return {wse::number(static_cast<float>(text_.number(at, text))), {}, {}};
}

}  // namespace lacuna
