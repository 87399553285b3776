// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/wse/program/task_program.hpp"
#include "sim/machines/wse/program/yaml_text.hpp"

namespace lacuna {

/// An array in the memory of a core.
struct CoreArray {
  wse::Element element = wse::Element::fp32;
  std::vector<std::uint32_t> shape;  // one or two dimensions
  std::uint32_t address = 0;         // bytes
  YAML::Node said;                   // what the file says of it

  std::uint32_t size() const { return shape.size() == 1 ? shape[0] : shape[0] * shape[1]; }
  std::uint32_t end() const { return address + size() * wse::source_bytes(element); }
};

/// A part of a core's memory as an instruction, or who reads it back, names it.
struct CoreSlice {
  wse::Operand operand;
  std::optional<wse::Element> element;  // of what has a type
  std::vector<std::uint32_t> shape;     // of what has a length; a single element has none
  bool by_word = false;                 // its place is in the word that started the task

  std::uint32_t size() const {
    std::uint32_t all = 1;
    for (const std::uint32_t side : shape) all *= side;
    return all;
  }
};

/// Writes the code of one core: what the entries of a file that the core lies in say together.
class CoreWriter {
 public:
  using Colors = std::map<std::string, wse::Color>;

  CoreWriter(ProgramText& text, const Colors& colors) : text_(text), colors_(colors) {}

  wse::CoreProgram write(const std::vector<YAML::Node>& entries);

  const std::map<std::string, CoreArray>& arrays() const { return arrays_; }
  std::uint32_t bytes() const { return bytes_; }

  /// Where each color that it takes or sends is said first.
  const std::map<wse::Color, YAML::Node>& taken() const { return taken_; }
  const std::map<wse::Color, YAML::Node>& sent() const { return sent_; }
  bool has_control_tasks() const { return has_control_tasks_; }
  /// Whether its cycles depend on the numbers it works on.
  bool by_numbers() const { return by_numbers_; }

  /// `x`, `x[3]`, `x[1:9]`, `a[0, :]` of an array.
  CoreSlice slice(const YAML::Node& at, const std::string& text);

 private:
  std::vector<std::string> indices(const YAML::Node& at, const std::string& text,
                                   const CoreArray& array) const;
  void add_arrays(const YAML::Node& data);
  void add_fifos(const YAML::Node& fifos);
  void name_tasks(const YAML::Node& tasks);
  void add_task(const YAML::Node& said, wse::Task& task);
  void add_queues(const YAML::Node& queues);
  void share_queues();
  std::vector<wse::Step> steps(const YAML::Node& list);
  void add_step(const YAML::Node& said, std::vector<wse::Step>& into);
  void repeat(const YAML::Node& said, std::vector<wse::Step>& into);
  wse::Instruction instruction(const YAML::Node& said, wse::VectorOp op, std::size_t operands);
  void set_length(const YAML::Node& at, const std::vector<CoreSlice>& operands,
                  wse::Instruction& what);
  void set_element(const YAML::Node& said, const std::vector<CoreSlice>& operands,
                   wse::Instruction& what);
  void set_modifiers(const YAML::Node& said, wse::Instruction& what);
  CoreSlice operand(const YAML::Node& at, const std::string& text);
  wse::TaskIndex task_of(const YAML::Node& node) const;
  wse::Color color_of(const YAML::Node& node) const;
  wse::Element element_of(const YAML::Node& node) const;
  void check_ends() const;

  ProgramText& text_;
  const Colors& colors_;
  wse::CoreProgram program_;
  std::map<std::string, CoreArray> arrays_;
  std::map<std::string, std::uint8_t> fifos_;
  std::map<std::string, wse::TaskIndex> tasks_;
  std::vector<YAML::Node> said_;  // by task
  std::map<wse::Color, YAML::Node> taken_;
  std::map<wse::Color, YAML::Node> sent_;
  std::map<wse::Color, YAML::Node> data_tasks_;
  std::uint32_t bytes_ = 0;
  bool has_control_tasks_ = false;
  bool by_numbers_ = false;
};

}  // namespace lacuna
