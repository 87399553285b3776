// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/contains.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"

namespace lacuna {
namespace {

using wse::CoreProgram;
using wse::Element;
using wse::Operand;
using wse::Step;
using wse::Task;
using wse::TaskIndex;

struct NamedElement {
  const char* name;
  Element element;
};
const std::vector<NamedElement>& elements() {
  static const std::vector<NamedElement> all = {{"fp16", Element::fp16},
                                                {"fp32", Element::fp32},
                                                {"int16", Element::int16},
                                                {"int32", Element::int32}};
  return all;
}

}  // namespace

Element CoreWriter::element_of(const YAML::Node& node) const {
  return find_named(elements(), text_.word(node, names_in(elements())))->element;
}

CoreProgram CoreWriter::write(const std::vector<YAML::Node>& entries) {
  for (const YAML::Node& entry : entries) add_arrays(entry["data"]);
  for (const YAML::Node& entry : entries) add_fifos(entry["fifos"]);
  for (const YAML::Node& entry : entries) name_tasks(entry["tasks"]);
  program_.tasks.resize(said_.size());
  for (std::size_t i = 0; i < said_.size(); ++i) add_task(said_[i], program_.tasks[i]);
  for (const YAML::Node& entry : entries) add_queues(entry["queues"]);
  share_queues();
  check_ends();
  return std::move(program_);
}

void CoreWriter::add_arrays(const YAML::Node& data) {
  text_.each(data, {}, [&](const std::string& name, const YAML::Node& at, const YAML::Node& said) {
    CoreArray array;
    array.address = wse::aligned(bytes_);
    array.said = said;
    text_.each(
        said, {"type", "shape", "values", "address"},
        [&](const std::string& key, const YAML::Node& /*at*/, const YAML::Node& value) {
          if (key == "type") {
            array.element = element_of(value);
          } else if (key == "shape") {
            text_.each(value, [&](const YAML::Node& side) {
              array.shape.push_back(static_cast<std::uint32_t>(text_.whole(side, 1, 1 << 24)));
            });
          } else if (key == "address") {
            array.address = static_cast<std::uint32_t>(text_.whole(value, 0, 1 << 24));
          }
        });
    if (array.shape.empty() || array.shape.size() > 2) {
      text_.refuse(at.Mark(),
                   fmt::format("{} has {} dimensions; allowed: `shape: N` or `shape: [M, N]`", name,
                               array.shape.size()));
    }
    bytes_ = std::max(bytes_, array.end());
    if (!arrays_.emplace(name, array).second || colors_.count(name) != 0) {
      text_.refuse(at.Mark(), fmt::format("'{}' is given twice", name));
    }
  });
}

void CoreWriter::add_fifos(const YAML::Node& fifos) {
  text_.each(fifos, {}, [&](const std::string& name, const YAML::Node& at, const YAML::Node& said) {
    const auto words = static_cast<std::uint32_t>(text_.whole(said, 1, 1 << 16));
    const auto number = static_cast<std::uint8_t>(program_.fifos.size());
    program_.fifos.push_back({wse::aligned(bytes_), words});
    bytes_ = program_.fifos.back().address + 4 * words;
    if (!fifos_.emplace(name, number).second || arrays_.count(name) + colors_.count(name) != 0) {
      text_.refuse(at.Mark(), fmt::format("'{}' is given twice", name));
    }
  });
}

void CoreWriter::name_tasks(const YAML::Node& tasks) {
  text_.each(tasks, {}, [&](const std::string& name, const YAML::Node& at, const YAML::Node& said) {
    if (!tasks_.emplace(name, static_cast<TaskIndex>(said_.size())).second) {
      text_.refuse(at.Mark(), fmt::format("task '{}' is given twice", name));
    }
    said_.push_back(said);
  });
}

void CoreWriter::add_task(const YAML::Node& said, Task& task) {
  if (said.IsSequence()) {
    task.steps = steps(said);
    return;
  }
  text_.each(said, {"color", "control", "active", "blocked", "steps"},
             [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
               if (key == "steps") task.steps = steps(value);
               if (key == "active") task.active = text_.flag(value);
               if (key == "blocked") task.blocked = text_.flag(value);
               if (key == "control") {
                 task.kind = Task::Kind::control;
                 task.id = static_cast<std::uint8_t>(text_.whole(value, 0, 63));
                 has_control_tasks_ = true;
               }
               if (key != "color") return;
               task.kind = Task::Kind::data;
               task.color = color_of(value);
               taken_.emplace(task.color, at);
               const auto [first, fresh] = data_tasks_.emplace(task.color, at);
               if (fresh) return;
               text_.refuse(at.Mark(),
                            fmt::format("a second task on color {}; the first is in line {}",
                                        value.Scalar(), first->second.Mark().line + 1));
             });
}

wse::Color CoreWriter::color_of(const YAML::Node& node) const {
  const std::string& name = text_.word(node);
  const wse::Color* const found = value_in(colors_, name);
  if (found == nullptr) text_.refuse_word(node, name, keys_of(colors_));
  return *found;
}

TaskIndex CoreWriter::task_of(const YAML::Node& node) const {
  const std::string& name = text_.word(node);
  const TaskIndex* const found = value_in(tasks_, name);
  if (found == nullptr) text_.refuse_word(node, name, keys_of(tasks_));
  return *found;
}

void CoreWriter::add_queues(const YAML::Node& queues) {
  text_.each(
      queues, {"in", "out"},
      [&](const std::string& way, const YAML::Node& /*at*/, const YAML::Node& colors) {
        text_.each(
            colors, keys_of(colors_),
            [&](const std::string& name, const YAML::Node&, const YAML::Node& value) {
              const auto queue = static_cast<std::uint8_t>(text_.whole(value, 0, 7));
              (way == "in" ? program_.in : program_.out).push_back({colors_.at(name), queue});
            });
      });
}

/// Colors of which nothing is said: the first two input queues are the deepest, and so are output
/// queues 2 and 3.
void CoreWriter::share_queues() {
  const auto share = [](const std::map<wse::Color, YAML::Node>& colors,
                        std::vector<wse::QueueUse>& uses, unsigned first, unsigned count) {
    const std::vector<wse::QueueUse> said = uses;
    unsigned next = 0;
    for (const auto& [color, at] : colors) {
      const bool known = std::any_of(said.begin(), said.end(),
                                     [c = color](const auto& use) { return use.color == c; });
      if (!known) uses.push_back({color, static_cast<std::uint8_t>(first + next++ % count)});
    }
  };
  share(taken_, program_.in, 0, 8);
  share(sent_, program_.out, 2, 2);
}

/// Local tasks that activate each other in a circle run for ever if none of them waits for words.
void CoreWriter::check_ends() const {
  const auto waits = [](const wse::Instruction& what) {
    return what.a.is_stream() || what.b.is_stream();
  };
  const auto next_of = [&](TaskIndex task) {
    std::vector<TaskIndex> next;
    for (const Step& step : program_.tasks[task].steps) {
      if (step.kind == Step::Kind::block) return std::vector<TaskIndex>();
      if (step.kind == Step::Kind::vector && waits(step.vector)) return std::vector<TaskIndex>();
      const TaskIndex made = step.kind == Step::Kind::activate ? step.task : step.vector.activates;
      if (made != wse::kNoTask) next.push_back(made);
    }
    return next;
  };
  for (const auto& [name, task] : tasks_) {
    std::vector<TaskIndex> reached = next_of(task);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const TaskIndex more : next_of(reached[i])) {
        if (!contains(reached, more)) reached.push_back(more);
      }
    }
    if (!contains(reached, task)) continue;
    text_.refuse(said_[task].Mark(),
                 fmt::format("task '{}' activates itself and never ends; allowed: `repeat: N`, or "
                             "a task of the circle that takes words or blocks one",
                             name));
  }
}

std::vector<std::string> CoreWriter::indices(const YAML::Node& at, const std::string& text,
                                             const CoreArray& array) const {
  const std::size_t open = text.find('[');
  if (open == std::string::npos) return std::vector<std::string>(array.shape.size(), ":");
  if (text.back() != ']') text_.refuse(at.Mark(), fmt::format("'{}' has no ] at its end", text));
  std::vector<std::string> said = parts_of(text.substr(open + 1, text.size() - open - 2), ',');
  if (said.size() == array.shape.size()) return said;
  text_.refuse(at.Mark(), fmt::format("found {} indices in '{}'; allowed: {}", said.size(), text,
                                      array.shape.size()));
}

CoreSlice CoreWriter::slice(const YAML::Node& at, const std::string& text) {
  const std::string name = text.substr(0, text.find('['));
  const CoreArray* const array = value_in(arrays_, name);
  if (array == nullptr) text_.refuse_word(at, name, keys_of(arrays_));
  const std::vector<std::string> said = indices(at, text, *array);
  CoreSlice slice;
  slice.element = array->element;
  Operand& operand = slice.operand;
  operand.kind = Operand::Kind::memory;
  operand.stride = 0;
  const unsigned bytes = wse::source_bytes(array->element);
  std::int64_t first = 0;
  for (std::size_t d = 0; d < said.size(); ++d) {
    const TextRange index = text_.range(at, said[d], array->shape[d], true);
    const std::int64_t pitch = d + 1 < said.size() ? array->shape[1] : 1;
    first += index.first * pitch;
    const auto apart = static_cast<std::uint32_t>(pitch * bytes);
    if (index.half == "upper") operand.index_bytes += apart;
    if (index.half == "lower") operand.offset_bytes += apart;
    slice.by_word = slice.by_word || !index.half.empty();
    if (index.single) continue;
    if (!slice.shape.empty()) {  // the second dimension is the inner one
      operand.outer = operand.stride;
      operand.inner = static_cast<std::uint32_t>(index.count);
    }
    operand.stride = static_cast<std::int32_t>(index.step * pitch);
    slice.shape.push_back(static_cast<std::uint32_t>(index.count));
  }
  // addresses are modulo 2^32: with what the word adds it is in the array again
  operand.address = static_cast<std::uint32_t>(array->address + first * bytes);
  return slice;
}

CoreSlice CoreWriter::operand(const YAML::Node& at, const std::string& text) {
  const std::string name = text.substr(0, text.find('['));
  if (arrays_.count(name) != 0) return slice(at, text);
  CoreSlice made;
  if (const wse::Color* const color = value_in(colors_, text)) {
    made.operand = wse::on_fabric(*color);
  } else if (const std::uint8_t* const fifo = value_in(fifos_, text)) {
    made.operand = wse::in_fifo(*fifo);
  } else if (text == "word") {
    made.operand = wse::task_word();
  } else {
    made.operand = wse::number(static_cast<float>(text_.number(at, text)));
  }
  return made;
}

}  // namespace lacuna
