// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/contains.hpp"
#include "sim/machines/wse/program/yaml_core.hpp"

// The steps of a task: what the main thread does, one after the other.

namespace lacuna {
namespace {

using wse::Element;
using wse::Instruction;
using wse::Operand;
using wse::Step;
using wse::VectorOp;

constexpr std::int64_t kMostElements = 1 << 24;
constexpr std::size_t kMostSteps = std::size_t{1} << 20U;  // of a task, repeated ones too

struct NamedOperation {
  const char* name;
  VectorOp op;
  std::size_t operands;  // the result, then the sources
};
const std::vector<NamedOperation>& operations() {
  static const std::vector<NamedOperation> all = {
      {"move", VectorOp::move, 2}, {"add", VectorOp::add, 3},
      {"sub", VectorOp::sub, 3},   {"mul", VectorOp::mul, 3},
      {"fma", VectorOp::fma, 3},   {"max", VectorOp::max, 3},
      {"abs", VectorOp::abs, 2},   {"divide", VectorOp::divide, 3},
      {"exp", VectorOp::exp, 2},   {"rsqrt", VectorOp::rsqrt, 2},
      {"tanh", VectorOp::tanh, 2}, {"sigmoid", VectorOp::sigmoid, 2},
      {"erf", VectorOp::erf, 2}};
  return all;
}

struct NamedCommand {
  const char* name;
  wse::SwitchCommand command;
};
const std::vector<NamedCommand>& commands() {
  static const std::vector<NamedCommand> all = {{"none", wse::SwitchCommand::none},
                                                {"advance", wse::SwitchCommand::advance},
                                                {"reset", wse::SwitchCommand::reset},
                                                {"teardown", wse::SwitchCommand::teardown}};
  return all;
}

/// The type of sources of one type and a result of another.
std::optional<Element> converting(Element source, Element result) {
  if (source == result) return source;
  if (source == Element::fp16 && result == Element::fp32) return Element::fp16_32;
  if (source == Element::fp32 && result == Element::fp16) return Element::fp32_16;
  return std::nullopt;
}

}  // namespace

std::vector<Step> CoreWriter::steps(const YAML::Node& list) {
  if (!list.IsSequence()) text_.refuse(list.Mark(), "found no list; allowed: a list of steps");
  std::vector<Step> made;
  for (const YAML::Node& said : list) {
    add_step(said, made);
    if (made.size() > kMostSteps) {
      text_.refuse(said.Mark(), fmt::format("a task of more than {} steps", kMostSteps));
    }
  }
  return made;
}

/// The first word of a step says what it does.
void CoreWriter::add_step(const YAML::Node& said, std::vector<Step>& into) {
  if (said.IsScalar() && said.Scalar() == "stamp") return into.push_back(wse::stamp());
  std::vector<std::string> allowed = names_in(operations());
  for (const char* other : {"work", "activate", "block", "unblock", "stamp", "repeat"}) {
    allowed.emplace_back(other);
  }
  if (!said.IsMap() || said.size() == 0) {
    text_.refuse_word(said, said.IsScalar() ? said.Scalar() : "a list", allowed);
  }
  const YAML::Node key = said.begin()->first;
  const YAML::Node value = said.begin()->second;
  const std::string& word = text_.word(key, allowed);
  const YAML::Node condition = said["if"];
  if (condition.IsDefined() && !text_.flag(condition)) return;
  if (word == "repeat") return repeat(said, into);
  if (const NamedOperation* const found = find_named(operations(), word)) {
    return into.push_back(wse::run(instruction(said, found->op, found->operands)));
  }
  text_.each(said, {word, "if"}, [](const auto&...) {});
  if (word == "work") {
    into.push_back(wse::work(static_cast<std::uint32_t>(text_.whole(value, 0, kMostElements))));
  } else if (word == "activate") {
    into.push_back(wse::activate(task_of(value)));
  } else if (word == "block") {
    into.push_back(wse::block(task_of(value)));
  } else {
    into.push_back(wse::unblock(task_of(value)));
  }
}

void CoreWriter::repeat(const YAML::Node& said, std::vector<Step>& into) {
  std::string counter;
  std::int64_t times = 0;
  YAML::Node list;
  text_.each(said, {"repeat", "as", "steps", "if"},
             [&](const std::string& key, const YAML::Node& /*at*/, const YAML::Node& value) {
               if (key == "repeat") times = text_.whole(value, 0, kMostElements);
               if (key == "as") counter = text_.word(value);
               if (key == "steps") list.reset(value);
             });
  auto& numbers = text_.names.numbers;
  if (numbers.count(counter) != 0) {
    text_.refuse(said.Mark(), fmt::format("'{}' is given twice", counter));
  }
  for (std::int64_t k = 0; k < times; ++k) {
    if (!counter.empty()) numbers[counter] = static_cast<double>(k);
    const std::vector<Step> made = steps(list);
    into.insert(into.end(), made.begin(), made.end());
    if (into.size() > kMostSteps) break;  // steps() refuses them
  }
  numbers.erase(counter);
}

Instruction CoreWriter::instruction(const YAML::Node& said, VectorOp op, std::size_t operands) {
  const YAML::Node at = said.begin()->second;
  const std::vector<std::string> texts = parts_of(text_.word(at), ',');
  if (texts.size() != operands) {
    text_.refuse(at.Mark(), fmt::format("found {} operands; allowed: {}, the result first",
                                        texts.size(), operands));
  }
  std::vector<CoreSlice> parsed;
  for (const std::string& text : texts) parsed.push_back(operand(at, text));
  Instruction what;
  what.op = op;
  set_element(said, parsed, what);
  const YAML::Node length = said["length"];
  if (length.IsDefined()) {
    what.length = static_cast<std::uint32_t>(text_.whole(length, 1, kMostElements));
  }
  set_length(at, parsed, what);
  set_modifiers(said, what);
  if (what.to.kind != Operand::Kind::memory && !what.to.is_stream()) {
    text_.refuse(at.Mark(), fmt::format("'{}' is no place for a result; allowed: an array, a "
                                        "color, a FIFO",
                                        texts[0]));
  }
  for (const Operand* const source : {&what.a, &what.b}) {
    if (source->is_fabric()) taken_.emplace(source->color, at);
  }
  if (what.to.is_fabric()) sent_.emplace(what.to.color, at);
  for (const CoreSlice& each : parsed) by_numbers_ = by_numbers_ || each.by_word;
  by_numbers_ = by_numbers_ || what.control;
  return what;
}

/// As long as the longest operand, where nothing else is said: others have this length, or one
/// element, which stays the same. With `length` shorter ones are gone round again and again.
void CoreWriter::set_length(const YAML::Node& at, const std::vector<CoreSlice>& operands,
                            Instruction& what) {
  const bool said = what.length != 0;
  for (const CoreSlice& each : operands) {
    if (!said && each.operand.kind == Operand::Kind::memory) {
      what.length = std::max(what.length, each.size());
    }
  }
  if (what.length == 0) text_.refuse(at.Mark(), "has no array; allowed: `length: N` beside it");
  const std::array<Operand*, 3> places{&what.to, &what.a, &what.b};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const CoreSlice& each = operands[i];
    Operand& operand = *places.at(i) = each.operand;
    if (operand.kind != Operand::Kind::memory || each.size() == what.length) continue;
    if (each.size() == 1) {
      operand.stride = 0;
    } else if (said && operand.inner == 0 && each.size() < what.length) {
      operand.inner = each.size();
    } else {
      text_.refuse(at.Mark(), fmt::format("operand {} has {} elements; allowed: {} or 1", i + 1,
                                          each.size(), what.length));
    }
  }
}

/// The type of arrays; where there are none `type`, or fp32.
void CoreWriter::set_element(const YAML::Node& said, const std::vector<CoreSlice>& operands,
                             Instruction& what) {
  const YAML::Node at = said.begin()->second;
  std::optional<Element> source;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::optional<Element>& own = operands[i].element;
    if (own && source && *own != *source) text_.refuse(at.Mark(), "sources of two types");
    if (own) source = own;
  }
  const YAML::Node type = said["type"];
  std::optional<Element> named;
  if (type.IsDefined()) named = element_of(type);
  if (!source) source = named ? *named : operands[0].element.value_or(Element::fp32);
  const Element result = operands[0].element.value_or(named.value_or(*source));
  const std::optional<Element> both = converting(*source, result);
  if (!both) {
    text_.refuse(at.Mark(),
                 "sources and result of two types; allowed: one, fp16 to fp32, fp32 to "
                 "fp16");
  }
  what.element = *both;
}

void CoreWriter::set_modifiers(const YAML::Node& said, Instruction& what) {
  const std::string first = said.begin()->first.Scalar();
  text_.each(said,
             {first, "length", "type", "thread", "activate", "unblock", "control", "switch",
              "simd64", "if"},
             [&](const std::string& key, const YAML::Node& /*at*/, const YAML::Node& value) {
               if (key == "thread") {
                 what.thread = static_cast<std::uint8_t>(
                     text_.whole(value, 1, static_cast<std::int64_t>(wse::kMicrothreads)));
               }
               if (key == "activate") what.activates = task_of(value);
               if (key == "unblock") what.unblocks = task_of(value);
               if (key == "control") what.control = text_.flag(value);
               if (key == "simd64") what.simd64 = text_.flag(value);
               if (key != "switch") return;
               unsigned place = 0;
               std::vector<std::string> allowed = names_in(commands());
               allowed.emplace_back("own");
               text_.each(value, [&](const YAML::Node& each) {
                 const std::string& word = text_.word(each, allowed);
                 const NamedCommand* const found = find_named(commands(), word);
                 const unsigned bits = found == nullptr
                                           ? wse::kOwnRouterOnly
                                           : wse::first_command(found->command) << 2 * place++;
                 if (place > 7) text_.refuse(each.Mark(), "more than 7 commands");
                 what.switches = static_cast<wse::SwitchCommands>(what.switches | bits);
               });
             });
}

}  // namespace lacuna
