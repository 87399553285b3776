// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/contains.hpp"
#include "sim/machines/wse/program/yaml_core.hpp"

// The steps of a task: what the main thread does, one after the other.

namespace lacuna {
namespace {

using wse::Element;
using wse::Operand;
using wse::Step;
using wse::SwitchCommand;
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

}  // namespace

std::vector<Step> CoreWriter::steps(const YamlNode& list) {
  std::vector<Step> made;
  for (const YamlNode& said : ProgramText::items(list)) {
    add_step(said, made);
    if (made.size() <= kMostSteps) continue;
    text_.refuse(said.Mark(), fmt::format("more than {} steps", kMostSteps));
  }
  return made;
}

/// The first word of a step says what it does.
void CoreWriter::add_step(const YamlNode& said, std::vector<Step>& into) {
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

void CoreWriter::repeat(const YamlNode& said, std::vector<Step>& into) {
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

wse::Instruction CoreWriter::instruction(const YamlNode& said, VectorOp op) {
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
    if (source->is_fabric()) taken.emplace(source->color, at);
  }
  if (what.to.is_fabric()) sent.emplace(what.to.color, at);
  by_numbers = by_numbers || what.control;
  if (what.to.kind == Operand::Kind::memory || what.to.is_stream()) return what;
  text_.refuse(at.Mark(), fmt::format("found '{}' for a result; allowed: an array, a color, a FIFO",
                                      texts[0]));
}

/// As long as the longest operand, where nothing else is said: others have this
/// length, or one element, which stays the same. With `length` shorter ones are
/// gone round again and again.
void CoreWriter::set_length(const YamlNode& at, const std::vector<CoreSlice>& operands,
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
void CoreWriter::set_element(const YamlNode& said, const std::vector<CoreSlice>& operands,
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

void CoreWriter::set_modifiers(const YamlNode& said, wse::Instruction& what) {
  for (const YamlMember& each :
       text_.members(said, {text_.word(said.begin()->first), "length", "type", "thread", "activate",
                            "unblock", "control", "switch", "simd64", "if"})) {
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
wse::SwitchCommands CoreWriter::commands(const YamlNode& said) {
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

}  // namespace lacuna
