// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  YamlNode said = nullptr;           // what the file says of it

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

/// The code of one core, and what it says of itself.
struct CoreCode {
  struct Read {
    std::string name;
    CoreSlice slice;
    YamlNode expected;
  };
  wse::CoreProgram program;
  std::map<std::string, CoreArray> arrays;
  std::vector<Read> read;
  std::uint32_t bytes = 0;
  ColorPlaces taken;  // where each color that it takes is said first,
  ColorPlaces sent;   // and each that it sends
  bool control_tasks = false;
  bool by_numbers = false;  // its cycles depend on the numbers that it works on
};

using ColorNames = std::map<std::string, wse::Color>;

/// What the entries of a file that a core lies in say together.
CoreCode core_code(ProgramText& text, const ColorNames& colors,
                   const std::vector<YamlNode>& entries);

/// The types of arrays by their names.
const std::map<std::string, wse::Element>& element_names();

}  // namespace lacuna
