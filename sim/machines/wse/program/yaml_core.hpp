// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "sim/machines/wse/program/yaml_text.hpp"

namespace lacuna {

/// An array in the memory of a core.
struct CoreArray {
  wse::Element element = wse::Element::fp32;
  std::vector<std::uint32_t> shape;  // one or two dimensions
  std::uint32_t address = 0;         // bytes
  YamlNode said;                     // what the file says of it

  std::uint32_t end() const;
};

/// What an operand of an instruction names, or what is read back.
struct CoreSlice {
  wse::Operand operand;
  std::optional<wse::Element> element;  // of what has a type
  std::vector<std::uint32_t> shape;     // of what has a length; a single element has none

  std::uint32_t size() const;
};

using ColorPlaces = std::map<wse::Color, YamlNode>;

/// Writes the code of one core: what the entries of a file that the core lies
/// in say together.
class CoreWriter {
 public:
  using Colors = std::map<std::string, wse::Color>;

  CoreWriter(ProgramText& text, const Colors& colors) : text_(text), colors_(colors) {}

  wse::CoreProgram write(const std::vector<YamlNode>& entries);

  /// `x`, `x[3]`, `x[1:9]`, `a[0, :]` of an array.
  CoreSlice slice(const YamlNode& at, const std::string& text);

  // what it has written
  std::map<std::string, CoreArray> arrays;
  std::uint32_t bytes = 0;
  ColorPlaces taken;  // where each color that it takes is said first,
  ColorPlaces sent;   // and each that it sends
  bool control_tasks = false;
  bool by_numbers = false;  // its cycles depend on the numbers that it works on

 private:
  void add_array(const YamlMember& said);
  void add_task(const YamlMember& said, wse::Task& task);
  wse::Element element(const YamlNode& said);
  void check_name(const YamlMember& said);
  std::vector<std::string> indices(const YamlNode& at, const std::string& text,
                                   const CoreArray& array) const;
  std::vector<wse::Step> steps(const YamlNode& list);
  void add_step(const YamlNode& said, std::vector<wse::Step>& into);
  void repeat(const YamlNode& said, std::vector<wse::Step>& into);
  wse::Instruction instruction(const YamlNode& said, wse::VectorOp op);
  void set_length(const YamlNode& at, const std::vector<CoreSlice>& operands,
                  wse::Instruction& what) const;
  void set_element(const YamlNode& said, const std::vector<CoreSlice>& operands,
                   wse::Instruction& what);
  void set_modifiers(const YamlNode& said, wse::Instruction& what);
  wse::SwitchCommands commands(const YamlNode& said);
  CoreSlice operand(const YamlNode& at, const std::string& text);
  void check_ends(const std::vector<YamlMember>& said) const;

  ProgramText& text_;
  const Colors& colors_;
  wse::CoreProgram program_;
  std::set<std::string> names_;
  std::map<std::string, std::uint8_t> fifos_;
  std::map<std::string, wse::TaskIndex> tasks_;
  ColorPlaces data_tasks_;
};

/// The types of arrays by their names.
const std::map<std::string, wse::Element>& element_names();

}  // namespace lacuna
