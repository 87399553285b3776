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
#include "sim/base/ranges.hpp"
#include "sim/driver/files/locations.hpp"
#include "sim/machines/wse/program/yaml_core.hpp"
#include "workloads/mapping/wse/kernels/task_builder.hpp"
#include "workloads/trace/matrix/array_numbers.hpp"

namespace lacuna {
namespace {

using wse::Color;
using wse::Port;
using wse::WaveletFilter;

constexpr std::size_t kLongestProgram = std::size_t{1} << 24U;
constexpr std::int64_t kMostCores = 4096;  // along a side

/// The numbers of a list, or of lists of equal length.
void add_numbers(ProgramText& text, const YamlNode& list, NamedArray& into, std::size_t depth) {
  if (!list.IsSequence()) return into.values.push_back(text.number(list));
  const auto size = static_cast<std::uint32_t>(list.size());
  if (into.shape.size() == depth) into.shape.push_back(size);
  if (depth > 1 || into.shape[depth] != size || size == 0) {
    text.refuse(list.Mark(),
                "lists of several lengths; allowed: numbers, or lists of as many each");
  }
  for (const YamlNode& each : list) add_numbers(text, each, into, depth + 1);
}

NamedArray numbers_of_file(const std::string& path) {
  PartFile file(path);
  ByteSource bytes = file.source(0, file.size());
  const ArrayHeader header = read_npy_header(bytes, path);
  NamedArray made;
  made.shape.assign(header.shape.begin(), header.shape.end());
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

/// Words of a color that come in at a port of a core's router go on to others.
struct OneRoute {
  Color color{};
  Port from = wse::kRamp;
  wse::PortSet to = 0;
  std::uint8_t position = 0;  // of the switch
  YAML::Mark at;

  bool goes(unsigned port) const { return (to & wse::bit(port)) != 0; }
};

/// What the entries that a core lies in say of it: for all such cores, unless
/// something in it depends on the place.
struct CoreText {
  std::size_t core = 0;  // the first of them
  std::vector<OneRoute> routes;
  CoreCode code;
};

class ProgramReader {
 public:
  ProgramReader(const std::string& path, const WseParams& params, bool values, bool fits = true)
      : path_(path), params_(params), carries_(values), fits_(fits), text_(path) {
    text_.names.parameters = &params;
    for (unsigned port = 0; port < wse::kPorts; ++port) {
      ports_[wse::port_name(port)] = static_cast<Port>(port);
    }
    for (const auto& [name, element] : element_names()) {
      text_.names.others[name] = static_cast<double>(element);
    }
  }

  OwnProgram read(const Pairs& constants) {
    const YamlNode root = text_.load(kLongestProgram, "program: `columns`, `rows` and `cores`");
    text_.members(root, {"columns", "rows", "constants", "inputs", "colors", "cores"});
    read_constants(root["constants"], constants);
    read_inputs(root["inputs"]);
    read_colors(root["colors"]);
    fabric_.columns = read_side(root["columns"], "columns", params_.wafer.columns);
    fabric_.rows = read_side(root["rows"], "rows", params_.wafer.rows);
    builder_.emplace(fabric_.columns, fabric_.rows);
    in_.resize(fabric_.size());
    for (const YamlNode& entry : ProgramText::items(root["cores"])) place_entry(entry);
    using Kind = std::pair<std::vector<std::size_t>, std::vector<double>>;
    std::map<Kind, std::shared_ptr<const CoreText>> known;
    for (std::size_t core = 0; core < in_.size(); ++core) {
      auto& like = known[{in_[core], stand_at(core)}];
      if (like == nullptr) {
        like = write_core(core);
      } else {
        builder_->repeat(like->core, core);
      }
      texts_.push_back(like);
      if (text_.names.asked_place) like.reset();
    }
    check_routes();
    for (const auto& text : texts_) check_ramp(*text);
    made_.program = std::move(*builder_).finish();
    for (std::size_t core = 0; core < texts_.size() && carries_; ++core) {
      stand_at(core);
      made_.program.memory.push_back(memory_of(texts_[core]->code));
      for (const auto& [name, slice, said] : texts_[core]->code.read) {
        ReadBack read{name, core, slice.operand, *slice.element, slice.size(), {}};
        if (!said.IsNull()) read.expected = numbers(said, slice.shape);
        made_.read.push_back(std::move(read));
      }
    }
    return std::move(made_);
  }

 private:
  void read_constants(const YamlNode& said, const Pairs& given) {
    auto& numbers = text_.names.numbers;
    std::map<std::string, std::string> left(given.begin(), given.end());
    left.erase("file");  // of a row, whose arguments they are
    for (const auto& [name, at, value] : text_.members(said)) {
      const auto own = left.find(name);
      numbers[name] = own == left.end() ? text_.number(value) : text_.number(at, own->second);
      left.erase(name);
    }
    if (left.empty()) return;
    throw RequestError(fmt::format("{}: found '{}={}'; allowed: a constant of it: {}", path_,
                                   left.begin()->first, left.begin()->second,
                                   fmt::join(keys_of(numbers), ", ")));
  }

  void read_inputs(const YamlNode& inputs) {
    for (const auto& [name, at, value] : text_.members(inputs)) {
      NamedArray& array = text_.names.arrays[name];
      if (value.IsSequence()) {
        add_numbers(text_, value, array, 0);
        continue;
      }
      try {
        array = numbers_of_file(std::filesystem::path(path_).parent_path() / text_.word(value));
      } catch (const TraceError& error) {
        text_.refuse(value.Mark(), error.what());
      }
    }
  }

  void read_colors(const YamlNode& colors) {
    for (const auto& [name, at, value] : text_.members(colors)) {
      std::size_t number = 0;
      for (const YamlNode& each : ProgramText::items(value)) {
        const std::string own =
            value.IsSequence() ? fmt::format("{}[{}]", name, number++) : std::string(name);
        const auto color = static_cast<Color>(text_.count(each, 0, wse::kColors - 1));
        const std::string other = color_name(color);
        if (!other.empty()) {
          text_.refuse(at.Mark(), fmt::format("'{}' and '{}' are one color", other, own));
        }
        colors_.emplace(own, color);
      }
    }
  }

  std::uint32_t read_side(const YamlNode& said, const char* key, unsigned most) {
    const std::uint32_t side = said ? text_.count(said, 1, kMostCores) : 1;
    text_.names.numbers[key] = side;
    if (side <= most) return side;
    throw UnsupportedError(
        fmt::format("{}: {} = {}; wafer.{} is {}", text_.place(said.Mark()), key, side, key, most));
  }

  /// Formulas are of this core from now on. Returns what it lets names stand for.
  std::vector<double> stand_at(std::size_t core) {
    auto& numbers = text_.names.numbers;
    numbers["column"] = static_cast<double>(core % fabric_.columns);
    numbers["row"] = static_cast<double>(core / fabric_.columns);
    for (const auto& let : let_) {
      for (const YamlMember& each : let) numbers.erase(each.name);
    }
    std::vector<double> values;
    for (const std::size_t entry : in_[core]) {
      for (const YamlMember& each : let_[entry]) {
        values.push_back(text_.number(each.value));
        if (numbers.emplace(each.name, values.back()).second) continue;
        text_.refuse(each.at.Mark(), fmt::format("'{}' is given twice", each.name));
      }
    }
    text_.names.asked_place = false;
    return values;
  }

  void place_entry(const YamlNode& entry) {
    text_.members(entry, {"columns", "rows", "if", "let", "data", "fifos", "queues", "routes",
                          "tasks", "read"});
    const auto range = [&](const YamlNode& said, std::uint32_t size) {
      return text_.range(said, said ? text_.word(said) : ":", size, false, true);
    };
    let_.push_back(text_.members(entry["let"]));
    const TextRange columns = range(entry["columns"], fabric_.columns);
    const TextRange rows = range(entry["rows"], fabric_.rows);
    const YamlNode condition = entry["if"];
    for (std::int64_t i = 0; i < rows.count * columns.count; ++i) {
      const auto core =
          static_cast<std::size_t>((rows.first + i / columns.count * rows.step) * fabric_.columns +
                                   columns.first + i % columns.count * columns.step);
      if (condition) stand_at(core);
      if (!condition || text_.flag(condition)) in_[core].push_back(entries_.size());
    }
    entries_.push_back(entry);
  }

  /// Ports, or several positions of a switch with ports each.
  void read_route(CoreText& core, Color color, const YamlNode& said) {
    text_.members(said, {"rx", "tx", "positions", "ring", "pop", "filter"});
    const YamlNode filter = said["filter"];
    if (filter) builder_->filter(core.core, color, filter_of(filter));
    const bool ring = text_.flag(said["ring"]);
    const bool pop = text_.flag(said["pop"]);
    if (ring || pop) builder_->rule(core.core, {color, ring, pop});
    const YamlNode positions = said["positions"];
    OneRoute route;
    route.color = color;
    for (const YamlNode& each : ProgramText::items(positions ? positions : said)) {
      route.at = each.Mark();
      if (positions) text_.members(each, {"rx", "tx"});
      if (!each["rx"] || !each["tx"]) {
        text_.refuse(route.at, "has not both; allowed: such as {rx: west, tx: [ramp, east]}");
      }
      if (route.position == wse::kPositions) text_.refuse(route.at, "a fifth position");
      route.to = 0;
      for (const YamlNode& tx : ProgramText::items(each["tx"])) {
        route.to = static_cast<wse::PortSet>(route.to | wse::bit(text_.one_of(tx, ports_)));
      }
      for (const YamlNode& rx : ProgramText::items(each["rx"])) {
        route.from = text_.one_of(rx, ports_);
        add_route(core, route);
      }
      ++route.position;
    }
  }

  void add_route(CoreText& core, const OneRoute& route) {
    for (const OneRoute& other : core.routes) {
      if (other.color == route.color && other.from == route.from &&
          other.position == route.position) {
        text_.refuse(route.at,
                     fmt::format("color {} of {} has a route from there in line {} already",
                                 color_name(route.color), core_name(core.core), other.at.line + 1));
      }
    }
    core.routes.push_back(route);
    builder_->route(core.core, route.color, route.from, route.to, route.position);
  }

  WaveletFilter filter_of(const YamlNode& said) {
    WaveletFilter filter;
    for (const auto& [kind, at, value] :
         text_.members(said, {"range", "counter", "sparse_counter"})) {
      std::vector<std::uint32_t> is;
      for (const YamlNode& each : ProgramText::items(value)) {
        is.push_back(text_.count(each, 0, 0xFFFF));
      }
      const bool range = kind == "range";
      if (is.size() != (range ? 2 : 3) || is[1] == 0) {
        text_.refuse(at.Mark(), range ? "allowed: [LOW, HIGH]" : "allowed: [PASS, PERIOD, OFFSET]");
      }
      filter = range               ? WaveletFilter::range(is[0], is[1])
               : kind == "counter" ? WaveletFilter::counter(is[0], is[1], is[2])
                                   : WaveletFilter::sparse_counter(is[0], is[1], is[2]);
    }
    return filter;
  }

  std::string color_name(Color color) const {
    for (const auto& [name, each] : colors_) {
      if (each == color) return name;
    }
    return {};
  }

  /// Whatever leaves a core over a link is taken there, and what it takes is
  /// sent.
  void check_routes() const {
    for (std::size_t core = 0; core < texts_.size(); ++core) {
      for (const OneRoute& route : texts_[core]->routes) {
        for (unsigned port = 0; port < wse::kRamp; ++port) {
          if (route.from == port) check_link(core, route, port, false);
          if (route.goes(port)) check_link(core, route, port, true);
        }
      }
    }
  }

  void check_link(std::size_t core, const OneRoute& route, unsigned port, bool sends) const {
    const std::optional<std::size_t> there = fabric_.neighbour(core, port);
    const unsigned back = wse::opposite(port);
    const auto meets = [&](const OneRoute& other) {
      return other.color == route.color && (sends ? other.from == back : other.goes(back));
    };
    if (there && any_of(texts_[*there]->routes, meets)) return;
    text_.refuse(route.at,
                 fmt::format("color {} {} the {}, where {}{}", color_name(route.color),
                             sends ? "leaves " + core_name(core) + " to"
                                   : "is awaited by " + core_name(core) + " from",
                             wse::port_name(port), there ? core_name(*there) : "the rectangle ends",
                             !there  ? ""
                             : sends ? " has no route with `rx` from there"
                                     : " has no route with `tx` to it"));
  }

  std::shared_ptr<const CoreText> write_core(std::size_t core) {
    auto made = std::make_shared<CoreText>();
    made->core = core;
    std::vector<YamlNode> entries;
    for (const std::size_t entry : in_[core]) {
      entries.push_back(entries_[entry]);
      for (const YamlMember& said : text_.members(entries.back()["routes"])) {
        const Color color = text_.one_of(said.at, colors_);
        for (const YamlNode& each : ProgramText::items(said.value)) read_route(*made, color, each);
      }
    }
    made->code = core_code(text_, colors_, entries);
    builder_->core(core, builder_->share(std::move(made->code.program)));
    carries_ = carries_ || made->code.by_numbers;
    check_memory(*made);
    return made;
  }

  /// What comes down the ramp is taken, and what is taken or sent has a way.
  void check_ramp(const CoreText& core) const {
    const auto has = [&](const auto& asked, const char* verb, const auto& is_way) {
      for (const auto& [color, at] : asked) {
        if (any_of(core.routes, [&, color = color](const OneRoute& route) {
              return route.color == color && is_way(route);
            })) {
          continue;
        }
        text_.refuse(at.Mark(), fmt::format("{} {} color {}, of which its router has no such route",
                                            core_name(core.core), verb, color_name(color)));
      }
    };
    const auto down = [](const OneRoute& route) { return route.goes(wse::kRamp); };
    has(core.code.taken, "takes", down);
    has(core.code.sent, "sends", [](const OneRoute& route) { return route.from == wse::kRamp; });
    for (const OneRoute& route : core.routes) {
      if (!down(route) || core.code.control_tasks || core.code.taken.count(route.color) != 0)
        continue;
      text_.refuse(route.at, fmt::format("color {} comes to {}, which has neither a task nor an "
                                         "instruction that takes it",
                                         color_name(route.color), core_name(core.core)));
    }
  }

  void check_memory(const CoreText& core) {
    const std::uint32_t most = params_.kernel_bytes();
    made_.bytes = std::max(made_.bytes, core.code.bytes);
    if (core.code.bytes <= most || !fits_) return;
    std::string where = path_ + ": FIFOs";
    for (const auto& [name, array] : core.code.arrays) {
      if (array.end() > most) where = text_.place(array.said.Mark()) + ": " + name;
    }
    throw OutOfMemoryError(
        fmt::format("{} with {} bytes of {} before its end; allowed: {} (mem.kib "
                    "less kernel.code_kib)",
                    where, core.code.bytes, core_name(core.core), most));
  }

  /// The numbers of an array: a formula of i, or i and j, or as many as it has.
  std::vector<double> numbers(const YamlNode& said, const std::vector<std::uint32_t>& shape) {
    const std::uint32_t inner = shape.size() < 2 ? 1 : shape[1];
    const std::uint32_t count = inner * (shape.empty() ? 1 : shape[0]);
    NamedArray made;
    if (said.IsSequence()) {
      add_numbers(text_, said, made, 0);
      if (made.values.size() == count) return made.values;
      text_.refuse(said.Mark(), fmt::format("found {} numbers; allowed: {}, or a formula",
                                            made.values.size(), count));
    }
    auto& names = text_.names.numbers;
    for (std::uint32_t at = 0; at < count; ++at) {
      names["i"] = at / inner;
      names["j"] = at % inner;
      made.values.push_back(text_.number(said));
    }
    names.erase("i");
    names.erase("j");
    return made.values;
  }

  std::vector<std::uint8_t> memory_of(const CoreCode& core) {
    wse::MemoryImage image(std::max(made_.bytes, 4U));
    for (const auto& [name, array] : core.arrays) {
      const YamlNode said = array.said["values"];
      if (!said) continue;
      const unsigned bytes = wse::source_bytes(array.element);
      std::uint32_t address = array.address;
      for (const double value : numbers(said, array.shape)) {
        // integers are kept as floats; of 16 bits they are -32768 to 32767
        const bool held = value == std::floor(value) && static_cast<float>(value) == value &&
                          std::fabs(value + 0.5) < std::exp2(8 * bytes - 1);
        if (wse::is_integer(array.element) && !held) {
          text_.refuse(said.Mark(),
                       fmt::format("found {} in {}; allowed: whole numbers of {} bits, "
                                   "of which the highest 24 may be set",
                                   value, name, 8 * bytes));
        }
        if (array.element == wse::Element::fp16 && std::fabs(value) >= 65520) {
          text_.refuse(said.Mark(), fmt::format("found {} in {}; allowed: to 65504", value, name));
        }
        image.put(address, array.element, static_cast<float>(value));
        address += bytes;
      }
    }
    return std::move(image).take();
  }

  std::string core_name(std::size_t core) const {
    return fmt::format("core ({}, {})", core % fabric_.columns, core / fabric_.columns);
  }

  const std::string path_;
  const WseParams& params_;
  bool carries_;  // numbers: they are asked for, or decide on cycles
  bool fits_;     // a core's memory has to hold its arrays
  ProgramText text_;
  std::map<std::string, Port> ports_;
  ColorNames colors_;
  wse::Fabric fabric_;  // its sides alone
  std::vector<YamlNode> entries_;
  std::vector<std::vector<YamlMember>> let_;  // by entry
  std::optional<wse::TaskBuilder> builder_;
  std::vector<std::vector<std::size_t>> in_;            // by core: the entries it lies in
  std::vector<std::shared_ptr<const CoreText>> texts_;  // by core
  OwnProgram made_;
};

}  // namespace

wse::TaskProgram shipped_program(const std::string& name, const Pairs& constants,
                                 const WseParams& params) {
  for (const std::filesystem::path& file : shipped_files("programs", ".yaml")) {
    if (file.stem() != name) continue;
    return ProgramReader(file.string(), params, false, false).read(constants).program;
  }
  throw RequestError("traces/programs/" + name + ".yaml is not where traces are shipped");
}

std::vector<std::string> files_of_program(const std::string& path) {
  std::vector<std::string> files{path};
  try {
    for (const auto& input : YAML::LoadFile(path)["inputs"]) {
      if (!input.second.IsScalar()) continue;
      files.push_back(std::filesystem::path(path).parent_path() / input.second.Scalar());
    }
  } catch (const YAML::Exception&) {  // who runs it says why it cannot be read
  }
  erase_where(files, [](const std::string& file) { return !std::filesystem::exists(file); });
  return files;
}

OwnProgram read_program(const std::string& path, const Pairs& constants, const WseParams& params,
                        bool values) {
  return ProgramReader(path, params, values).read(constants);
}

}  // namespace lacuna
