// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "models/wse/fabric/route_rule.hpp"
#include "models/wse/pe/vector_unit.hpp"
#include "sim/base/contains.hpp"
#include "sim/base/error.hpp"
#include "sim/machines/wse/program/yaml_core.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/trace/matrix/array_numbers.hpp"

namespace lacuna {
namespace {

using wse::Color;
using wse::Port;
using wse::PortSet;

constexpr std::size_t kLongestProgram = std::size_t{1} << 24U;
constexpr std::int64_t kMostCores = 4096;  // along a side

/// The numbers of a list, or of lists of equal length.
void add_numbers(ProgramText& text, const YAML::Node& list, NamedArray& into, std::size_t depth) {
  if (!list.IsSequence()) return into.values.push_back(text.number(list));
  const auto size = static_cast<std::uint32_t>(list.size());
  if (into.shape.size() == depth) into.shape.push_back(size);
  if (depth > 1 || into.shape[depth] != size || size == 0) {
    text.refuse(list.Mark(),
                "found lists of several lengths or depths; allowed: a list of "
                "numbers, or of such lists of equal length");
  }
  for (const YAML::Node& each : list) add_numbers(text, each, into, depth + 1);
}

NamedArray numbers_of_file(const std::string& path) {
  PartFile file(path);
  ByteSource bytes = file.source(0, file.size());
  const ArrayHeader header = read_npy_header(bytes, path);
  NamedArray made;
  for (const std::uint64_t side : header.shape) {
    made.shape.push_back(static_cast<std::uint32_t>(side));
  }
  if (header.by_columns && made.shape.size() > 1) {
    refuse_array(path, "an array by columns", "one by rows (numpy.ascontiguousarray)");
  }
  OpenArray array{path, header, std::move(bytes)};
  for_each_number(array, [&](std::uint64_t, std::uint64_t bits) {
    const ElementType& type = *header.type;
    const bool negative = type.sign != 0 && (bits & type.sign) != 0;
    made.values.push_back(negative ? -type.magnitude(bits) : type.magnitude(bits));
  });
  return made;
}

/// What a core's router does with words of a color that come in at a port.
struct OneRoute {
  Color color{};
  Port from = wse::kRamp;
  PortSet to = 0;
  unsigned position = 0;
  YAML::Mark at;
};

/// What the entries that a core lies in say of it: for all such cores, unless something in it
/// depends on the place.
struct CoreText {
  std::uint32_t program = 0;
  std::map<std::string, CoreArray> arrays;
  struct Read {
    std::string name;
    CoreSlice slice;
    YAML::Node expected;
  };
  std::vector<Read> read;
};

/// Whether an integer of so many bytes, which is kept as a float, is that number.
bool is_held(double value, unsigned bytes) {
  const double most = std::ldexp(1, static_cast<int>(8 * bytes) - 1);
  return value == std::floor(value) && value >= -most && value < most &&
         static_cast<double>(static_cast<float>(value)) == value;
}

std::vector<std::string> port_names() {
  std::vector<std::string> names;
  for (unsigned port = 0; port < wse::kPorts; ++port) names.emplace_back(wse::port_name(port));
  return names;
}

class ProgramReader {
 public:
  ProgramReader(const std::string& path, const WseParams& params, bool values)
      : path_(path), params_(params), values_(values), text_(path) {
    text_.names.parameters = &params;
  }

  OwnProgram read(const Pairs& constants);

 private:
  void read_constants(const YAML::Node& said, const Pairs& given);
  void read_inputs(const YAML::Node& inputs);
  void read_colors(const YAML::Node& colors);
  std::uint32_t read_side(const YAML::Node& root, const char* key, unsigned most);
  void place_entry(const YAML::Node& entry, std::size_t number);
  std::vector<std::uint32_t> range(const YAML::Node& node, std::uint32_t size);
  void stand_at(std::size_t core);
  void read_routes(std::size_t core, const YAML::Node& routes);
  void read_route(std::size_t core, Color color, const YAML::Node& said);
  void read_position(std::size_t core, Color color, const YAML::Node& said, unsigned position);
  wse::WaveletFilter filter_of(const YAML::Node& said);
  PortSet ports_of(const YAML::Node& said) const;
  void check_routes() const;
  std::shared_ptr<const CoreText> write_core(std::size_t core);
  void check_ramp(std::size_t core, const CoreWriter& writer) const;
  void check_memory(std::size_t core, const CoreWriter& writer);
  std::vector<std::uint8_t> memory_of(const CoreText& core);
  void add_read(std::size_t core, const CoreText& text);
  std::vector<double> numbers(const YAML::Node& said, const std::vector<std::uint32_t>& shape);
  std::string core_name(std::size_t core) const {
    return fmt::format("core ({}, {})", core % columns_, core / columns_);
  }
  std::string color_name(Color color) const;
  bool carries() const { return values_ || by_numbers_; }

  const std::string path_;
  const WseParams& params_;
  const bool values_;
  ProgramText text_;
  CoreWriter::Colors colors_;
  std::vector<YAML::Node> entries_;
  std::uint32_t columns_ = 0;
  std::uint32_t rows_ = 0;
  std::optional<wse::TaskBuilder> builder_;
  std::vector<std::vector<std::size_t>> in_;   // by core: the entries it lies in
  std::vector<std::vector<OneRoute>> routes_;  // by core
  OwnProgram made_;
  bool by_numbers_ = false;
};

OwnProgram ProgramReader::read(const Pairs& constants) {
  const YAML::Node root = text_.load(kLongestProgram, "program: `columns`, `rows` and `cores`");
  text_.each(root, {"columns", "rows", "constants", "inputs", "colors", "cores"},
             [](const auto&...) {});
  read_constants(root["constants"], constants);
  read_inputs(root["inputs"]);
  read_colors(root["colors"]);
  columns_ = read_side(root, "columns", params_.wafer.columns);
  rows_ = read_side(root, "rows", params_.wafer.rows);
  builder_.emplace(columns_, rows_);
  in_.resize(std::size_t{columns_} * rows_);
  routes_.resize(in_.size());
  const YAML::Node cores = root["cores"];
  if (!cores.IsDefined() || !cores.IsSequence()) {
    text_.refuse(root.Mark(), "has no list `cores`; allowed: a list of rectangles of cores");
  }
  for (const YAML::Node& entry : cores) place_entry(entry, entries_.size());
  check_routes();
  std::map<std::vector<std::size_t>, std::shared_ptr<const CoreText>> known;
  std::vector<std::shared_ptr<const CoreText>> texts;
  for (std::size_t core = 0; core < in_.size(); ++core) {
    std::shared_ptr<const CoreText>& like = known[in_[core]];
    if (like == nullptr) {
      text_.names.asked_place = false;
      like = write_core(core);
      texts.push_back(like);
      if (text_.names.asked_place) like.reset();
    } else {
      texts.push_back(like);
      builder_->core(core, like->program);
    }
  }
  made_.program = std::move(*builder_).finish();
  for (std::size_t core = 0; core < texts.size() && carries(); ++core) {
    stand_at(core);
    made_.program.memory.push_back(memory_of(*texts[core]));
    add_read(core, *texts[core]);
  }
  return std::move(made_);
}

void ProgramReader::read_constants(const YAML::Node& said, const Pairs& given) {
  std::map<std::string, std::string> left(given.begin(), given.end());
  text_.each(said, {}, [&](const std::string& name, const YAML::Node& at, const YAML::Node& value) {
    const auto own = left.find(name);
    const double number = own == left.end() ? text_.number(value) : text_.number(at, own->second);
    text_.names.numbers[name] = number;
    if (own != left.end()) left.erase(own);
  });
  if (left.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, value] : text_.names.numbers) names.push_back(name);
  throw RequestError(fmt::format(
      "{}: found '{}={}'; allowed: {}", path_, left.begin()->first, left.begin()->second,
      names.empty() ? "no constant, as it has none" : fmt::format("{}", fmt::join(names, ", "))));
}

/// Where the inputs of a program lie: from its folder on.
std::string beside(const std::string& path, const std::string& file) {
  return (std::filesystem::path(path).parent_path() / file).string();
}

void ProgramReader::read_inputs(const YAML::Node& inputs) {
  text_.each(inputs, {}, [&](const std::string& name, const YAML::Node&, const YAML::Node& value) {
    NamedArray& array = text_.names.arrays[name];
    if (value.IsSequence()) {
      add_numbers(text_, value, array, 0);
      return;
    }
    try {
      array = numbers_of_file(beside(path_, text_.word(value)));
    } catch (const TraceError& error) {
      text_.refuse(value.Mark(), error.what());
    }
  });
}

void ProgramReader::read_colors(const YAML::Node& colors) {
  text_.each(colors, {},
             [&](const std::string& name, const YAML::Node& at, const YAML::Node& value) {
               const auto color = static_cast<Color>(text_.whole(value, 0, wse::kColors - 1));
               for (const auto& [other, known] : colors_) {
                 if (known != color) continue;
                 text_.refuse(at.Mark(), fmt::format("'{}' and '{}' are one color", other, name));
               }
               colors_.emplace(name, color);
             });
}

std::uint32_t ProgramReader::read_side(const YAML::Node& root, const char* key, unsigned most) {
  const YAML::Node said = root[key];
  if (!said.IsDefined()) return 1;
  const auto side = static_cast<std::uint32_t>(text_.whole(said, 1, kMostCores));
  text_.names.numbers[key] = side;
  if (side <= most) return side;
  throw UnsupportedError(
      fmt::format("{}: {} = {}; wafer.{} is {}", text_.place(said.Mark()), key, side, key, most));
}

void ProgramReader::stand_at(std::size_t core) {
  text_.names.numbers["column"] = static_cast<double>(core % columns_);
  text_.names.numbers["row"] = static_cast<double>(core / columns_);
}

/// Numbers of columns or rows: N, A:B, A:B:STEP; all if nothing is said.
std::vector<std::uint32_t> ProgramReader::range(const YAML::Node& node, std::uint32_t size) {
  TextRange found;
  found.count = size;
  if (node.IsDefined()) found = text_.range(node, text_.word(node), size);
  std::vector<std::uint32_t> places;
  for (std::int64_t i = 0; i < found.count; ++i) {
    places.push_back(static_cast<std::uint32_t>(found.first + i * found.step));
  }
  return places;
}

void ProgramReader::place_entry(const YAML::Node& entry, std::size_t number) {
  text_.each(entry, {"columns", "rows", "data", "fifos", "queues", "routes", "tasks", "read"},
             [](const auto&...) {});
  entries_.push_back(entry);
  for (const std::uint32_t row : range(entry["rows"], rows_)) {
    for (const std::uint32_t column : range(entry["columns"], columns_)) {
      const std::size_t core = builder_->place(row, column);
      in_[core].push_back(number);
      stand_at(core);
      read_routes(core, entry["routes"]);
    }
  }
}

void ProgramReader::read_routes(std::size_t core, const YAML::Node& routes) {
  text_.each(routes, keys_of(colors_),
             [&](const std::string& name, const YAML::Node& at, const YAML::Node& said) {
               const Color color = colors_.at(name);
               for (const OneRoute& other : routes_[core]) {
                 if (other.color != color) continue;
                 text_.refuse(at.Mark(),
                              fmt::format("color {} of {} has a route in line {} already", name,
                                          core_name(core), other.at.line + 1));
               }
               text_.each(said, [&](const YAML::Node& each) { read_route(core, color, each); });
             });
}

/// Ports, or several positions of a switch with ports each.
void ProgramReader::read_route(std::size_t core, Color color, const YAML::Node& said) {
  bool ring = false;
  bool pop = false;
  bool switches = false;
  unsigned position = 0;
  text_.each(said, {"rx", "tx", "positions", "ring", "pop", "filter"},
             [&](const std::string& key, const YAML::Node&, const YAML::Node& value) {
               if (key == "ring") ring = text_.flag(value);
               if (key == "pop") pop = text_.flag(value);
               if (key == "filter") builder_->filter(core, color, filter_of(value));
               if (key != "positions") return;
               switches = true;
               text_.each(value, [&](const YAML::Node& each) {
                 text_.each(each, {"rx", "tx"}, [](const auto&...) {});
                 if (position == wse::kPositions) text_.refuse(each.Mark(), "a fifth position");
                 read_position(core, color, each, position++);
               });
             });
  if (ring || pop) builder_->rule(core, {color, ring, pop});
  if (!switches) read_position(core, color, said, 0);
}

PortSet ProgramReader::ports_of(const YAML::Node& said) const {
  const std::vector<std::string> names = port_names();
  PortSet ports = 0;
  text_.each(said, [&](const YAML::Node& each) {
    const auto port = static_cast<unsigned>(*place_in(names, text_.word(each, names)));
    ports = static_cast<PortSet>(ports | wse::bit(port));
  });
  return ports;
}

void ProgramReader::read_position(std::size_t core, Color color, const YAML::Node& said,
                                  unsigned position) {
  const YAML::Node rx = said["rx"];
  const YAML::Node tx = said["tx"];
  if (!rx.IsDefined() || !tx.IsDefined()) {
    text_.refuse(said.Mark(),
                 "has no `rx` and `tx`; allowed: such as {rx: west, tx: [ramp, east]}");
  }
  const PortSet from = ports_of(rx);
  for (unsigned port = 0; port < wse::kPorts; ++port) {
    if ((from & wse::bit(port)) == 0) continue;
    const OneRoute route{color, static_cast<Port>(port), ports_of(tx), position, said.Mark()};
    routes_[core].push_back(route);
    builder_->route(core, color, route.from, route.to, static_cast<std::uint8_t>(position));
  }
}

wse::WaveletFilter ProgramReader::filter_of(const YAML::Node& said) {
  std::vector<std::uint32_t> numbers;
  std::string kind;
  text_.each(
      said, {"range", "counter", "sparse_counter"},
      [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
        kind = key;
        text_.each(value, [&](const YAML::Node& each) {
          numbers.push_back(static_cast<std::uint32_t>(text_.whole(each, 0, 0xFFFF)));
        });
        const bool range = key == "range";
        const bool right = range ? numbers.size() == 2 : numbers.size() == 3 && numbers[1] != 0;
        if (right) return;
        text_.refuse(at.Mark(), range ? "allowed: [LOW, HIGH]" : "allowed: [PASS, PERIOD, OFFSET]");
      });
  if (kind == "range") return wse::WaveletFilter::range(numbers[0], numbers[1]);
  return kind == "counter" ? wse::WaveletFilter::counter(numbers[0], numbers[1], numbers[2])
                           : wse::WaveletFilter::sparse_counter(numbers[0], numbers[1], numbers[2]);
}

std::string ProgramReader::color_name(Color color) const {
  for (const auto& [name, each] : colors_) {
    if (each == color) return name;
  }
  return {};
}

/// Whatever leaves a core over a link is taken there, and what it takes is sent.
void ProgramReader::check_routes() const {
  wse::Fabric fabric;
  fabric.columns = columns_;
  fabric.rows = rows_;
  const auto meets = [&](std::size_t core, const OneRoute& route, unsigned port, bool sends) {
    const std::optional<std::size_t> there = fabric.neighbour(core, port);
    const auto fits = [&](const OneRoute& other) {
      const unsigned back = wse::opposite(port);
      return other.color == route.color &&
             (sends ? other.from == back : (other.to & wse::bit(back)) != 0);
    };
    if (there && std::any_of(routes_[*there].begin(), routes_[*there].end(), fits)) return;
    const char* const what = sends ? "leaves" : "is awaited by";
    text_.refuse(route.at,
                 fmt::format("color {} {} {} {} {}, where {}", color_name(route.color), what,
                             core_name(core), sends ? "to the" : "from the", wse::port_name(port),
                             !there  ? "the rectangle ends"
                             : sends ? core_name(*there) + " has no route with `rx` from there"
                                     : core_name(*there) + " has no route with `tx` to it"));
  };
  for (std::size_t core = 0; core < routes_.size(); ++core) {
    for (const OneRoute& route : routes_[core]) {
      if (route.from != wse::kRamp) meets(core, route, route.from, false);
      for (unsigned port = 0; port < wse::kRamp; ++port) {
        if ((route.to & wse::bit(port)) != 0) meets(core, route, port, true);
      }
    }
  }
}

std::shared_ptr<const CoreText> ProgramReader::write_core(std::size_t core) {
  stand_at(core);
  std::vector<YAML::Node> entries;
  for (const std::size_t entry : in_[core]) entries.push_back(entries_[entry]);
  CoreWriter writer(text_, colors_);
  auto made = std::make_shared<CoreText>();
  made->program = builder_->share(writer.write(entries));
  made->arrays = writer.arrays();
  builder_->core(core, made->program);
  by_numbers_ = by_numbers_ || writer.by_numbers();
  for (const YAML::Node& entry : entries) {
    text_.each(entry["read"], {},
               [&](const std::string& name, const YAML::Node& at, const YAML::Node& value) {
                 made->read.push_back({name, writer.slice(at, name), value});
               });
  }
  check_ramp(core, writer);
  check_memory(core, writer);
  return made;
}

/// What comes down the ramp is taken, and what is taken or sent has a way.
void ProgramReader::check_ramp(std::size_t core, const CoreWriter& writer) const {
  std::map<Color, YAML::Mark> down;
  std::map<Color, YAML::Mark> up;
  for (const OneRoute& route : routes_[core]) {
    if ((route.to & wse::bit(wse::kRamp)) != 0) down.emplace(route.color, route.at);
    if (route.from == wse::kRamp) up.emplace(route.color, route.at);
  }
  const auto lacks = [&](const auto& asked, const auto& ways, const char* what) {
    for (const auto& [color, at] : asked) {
      if (ways.count(color) != 0) continue;
      text_.refuse(at.Mark(), fmt::format("{} {} color {}, of which its router has no such route",
                                          core_name(core), what, color_name(color)));
    }
  };
  lacks(writer.taken(), down, "takes");
  lacks(writer.sent(), up, "sends");
  for (const auto& [color, at] : down) {
    if (writer.has_control_tasks() || writer.taken().count(color) != 0) continue;
    text_.refuse(at, fmt::format("color {} comes to {}, which has neither a task nor an "
                                 "instruction that takes it",
                                 color_name(color), core_name(core)));
  }
}

void ProgramReader::check_memory(std::size_t core, const CoreWriter& writer) {
  const std::uint32_t all = params_.mem.kib;
  const std::uint32_t most = (all - std::min(all, params_.kernel.code_kib.value())) * 1024;
  made_.bytes = std::max(made_.bytes, writer.bytes());
  if (writer.bytes() <= most) return;
  for (const auto& [name, array] : writer.arrays()) {
    if (array.end() <= most) continue;
    throw OutOfMemoryError(
        fmt::format("{}: {} ends at byte {} of {}; allowed: {} (mem.kib less kernel.code_kib)",
                    text_.place(array.said.Mark()), name, array.end(), core_name(core), most));
  }
  throw OutOfMemoryError(fmt::format("{}: FIFOs end at byte {} of {}; allowed: {}", path_,
                                     writer.bytes(), core_name(core), most));
}

/// The numbers of an array: a formula of i, or i and j, or as many as it has.
std::vector<double> ProgramReader::numbers(const YAML::Node& said,
                                           const std::vector<std::uint32_t>& shape) {
  const std::uint32_t inner = shape.size() < 2 ? 1 : shape[1];
  const std::uint32_t count = inner * (shape.empty() ? 1 : shape[0]);
  if (said.IsSequence()) {
    NamedArray array;
    add_numbers(text_, said, array, 0);
    if (array.values.size() == count) return array.values;
    text_.refuse(said.Mark(), fmt::format("found {} numbers; allowed: {}, or a formula",
                                          array.values.size(), count));
  }
  std::vector<double> made;
  const std::string formula = text_.word(said);
  for (std::uint32_t at = 0; at < count; ++at) {
    text_.names.numbers["i"] = at / inner;
    text_.names.numbers["j"] = at % inner;
    made.push_back(text_.number(said, formula));
  }
  text_.names.numbers.erase("i");
  text_.names.numbers.erase("j");
  return made;
}

std::vector<std::uint8_t> ProgramReader::memory_of(const CoreText& core) {
  wse::MemoryImage image(std::max(made_.bytes, 4U));
  for (const auto& [name, array] : core.arrays) {
    const YAML::Node said = array.said["values"];
    if (!said.IsDefined()) continue;
    const std::vector<double> values = numbers(said, array.shape);
    const unsigned bytes = wse::source_bytes(array.element);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool held = !wse::is_integer(array.element) || is_held(values[i], bytes);
      if (!held) {
        text_.refuse(said.Mark(), fmt::format("found {} in {}[{}]; allowed: whole numbers of {} "
                                              "bits, of which the highest 24 may be set",
                                              values[i], name, i, 8 * bytes));
      }
      image.put(static_cast<std::uint32_t>(array.address + i * bytes), array.element,
                static_cast<float>(values[i]));
    }
  }
  return std::move(image).take();
}

void ProgramReader::add_read(std::size_t core, const CoreText& text) {
  for (const CoreText::Read& each : text.read) {
    ReadBack read{each.name, core, each.slice.operand, *each.slice.element, each.slice.size(), {}};
    if (!each.expected.IsNull()) read.expected = numbers(each.expected, each.slice.shape);
    made_.read.push_back(std::move(read));
  }
}

}  // namespace

OwnProgram read_program(const std::string& path, const Pairs& constants, const WseParams& params,
                        bool values) {
  return ProgramReader(path, params, values).read(constants);
}

}  // namespace lacuna
