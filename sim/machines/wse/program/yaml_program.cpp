// SPDX-License-Identifier: Apache-2.0
#include "sim/machines/wse/program/yaml_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
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
void add_numbers(ProgramText& text, YamlNode list, NamedArray& into, std::size_t depth) {
  if (!list->is_list()) return into.values.push_back(text.number(list));
  const auto size = static_cast<std::uint32_t>(list->items.size());
  if (into.shape.size() == depth) into.shape.push_back(size);
  if (depth > 1 || into.shape[depth] != size || size == 0) {
    text.refuse(list, "lists of several lengths; allowed: numbers, or lists of as many each");
  }
  for (YamlNode each : list->items) add_numbers(text, each, into, depth + 1);
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
  YamlNode at = nullptr;

  /// True if words leave by this port, or come from it.
  bool uses(unsigned port, bool leave) const {
    return leave ? (to & wse::bit(port)) != 0 : from == port;
  }
};

/// What the entries that a core lies in say of it: for all cores of its kind, unless
/// something in it depends on the place.
struct CoreText {
  std::size_t core = 0;  // the first of them
  std::vector<OneRoute> routes;
  CoreCode code;

  bool has(Color color, unsigned port, bool leave) const {
    return any_of(routes, [&](const OneRoute& route) {
      return route.color == color && route.uses(port, leave);
    });
  }
};

/// What an entry lets a name stand for.
struct Let {
  std::optional<double>* number;
  const YamlMember* said;
};

/// It says something of a rectangle of cores.
struct Entry {
  YamlNode said = nullptr;
  YamlNode condition = nullptr;
  TextRange columns;
  TextRange rows;
  std::vector<Let> lets;
};

class ProgramReader {
 public:
  ProgramReader(ProgramText& text, const WseParams& params, bool values, bool fits = true)
      : params_(params),
        carries_(values),
        fits_(fits),
        text_(text),
        column_(text.names.numbers["column"]),
        row_(text.names.numbers["row"]) {
    text_.names.forget();
    text_.names.parameters = &params;
    for (unsigned port = 0; port < wse::kPorts; ++port) {
      ports_[wse::port_name(port)] = static_cast<Port>(port);
    }
    for (const auto& [name, element] : element_names()) {
      text_.names.others[name] = static_cast<double>(element);
    }
  }

  OwnProgram read(const Pairs& constants) {
    YamlNode root = text_.load(kLongestProgram, "program: `columns`, `rows` and `cores`");
    text_.members(root, {"columns", "rows", "constants", "inputs", "colors", "cores"});
    read_constants(root->at("constants"), constants);
    read_inputs(root->at("inputs"));
    read_colors(root->at("colors"));
    fabric_.columns = read_side(root->at("columns"), "columns", params_.wafer.columns);
    fabric_.rows = read_side(root->at("rows"), "rows", params_.wafer.rows);
    builder_.emplace(fabric_.columns, fabric_.rows);
    for (YamlNode entry : ProgramText::items(root->at("cores"))) place_entry(entry);
    std::map<std::vector<double>, const CoreText*> known;
    for (std::size_t core = 0; core < fabric_.size(); ++core) {
      const CoreText*& like = known[stand_at(core)];
      if (like == nullptr) {
        like = &write_core(core);
      } else {
        builder_->repeat(like->core, core);
      }
      texts_.push_back(like);
      if (text_.names.asked_place) like = nullptr;
    }
    check_routes();
    for (const CoreText& kind : kinds_) check_ramp(kind);
    made_.program = std::move(*builder_).finish();
    for (std::size_t core = 0; core < texts_.size() && carries_; ++core) {
      stand_at(core);
      made_.program.memory.push_back(memory_of(texts_[core]->code));
      for (const auto& [name, slice, said] : texts_[core]->code.read) {
        ReadBack read{name, core, slice.operand, *slice.element, slice.size(), {}};
        if (said->type != YAML::NodeType::Null) read.expected = numbers(said, slice.shape);
        made_.read.push_back(std::move(read));
      }
    }
    return std::move(made_);
  }

 private:
  void read_constants(YamlNode said, const Pairs& given) {
    auto& numbers = text_.names.numbers;
    std::map<std::string, std::string> left(given.begin(), given.end());
    left.erase("file");  // of a row, whose arguments they are
    for (const auto& [name, at, value] : text_.members(said)) {
      const auto own = left.find(name);
      numbers[name] = own == left.end() ? text_.number(value) : text_.number(at, own->second);
      left.erase(name);
    }
    if (left.empty()) return;
    throw RequestError(fmt::format("{}: found '{}={}'; allowed: a constant of it: {}", text_.path(),
                                   left.begin()->first, left.begin()->second,
                                   fmt::join(text_.names.known(), ", ")));
  }

  void read_inputs(YamlNode inputs) {
    for (const auto& [name, at, value] : text_.members(inputs)) {
      NamedArray& array = text_.names.arrays[name];
      if (value->is_list()) {
        add_numbers(text_, value, array, 0);
        continue;
      }
      try {
        array =
            numbers_of_file(std::filesystem::path(text_.path()).parent_path() / text_.word(value));
      } catch (const TraceError& error) {
        text_.refuse(value, error.what());
      }
    }
  }

  void read_colors(YamlNode colors) {
    for (const auto& [name, at, value] : text_.members(colors)) {
      std::size_t number = 0;
      for (YamlNode each : ProgramText::items(value)) {
        const std::string own =
            value->is_list() ? fmt::format("{}[{}]", name, number++) : std::string(name);
        const auto color = text_.count<Color>(each, 0, wse::kColors - 1);
        const std::string other = color_name(color);
        if (!other.empty()) {
          text_.refuse(at, fmt::format("'{}' and '{}' are one color", other, own));
        }
        colors_.emplace(own, color);
      }
    }
  }

  std::uint32_t read_side(YamlNode said, const char* key, unsigned most) {
    const std::uint32_t side = said == nullptr ? 1 : text_.count(said, 1, kMostCores);
    text_.names.numbers[key] = side;
    if (side <= most) return side;
    throw UnsupportedError(
        fmt::format("{}: {} = {}; wafer.{} is {}", text_.place(said), key, side, key, most));
  }

  /// Formulas are of this core from now on. Returns what tells its kind: the entries that it lies
  /// in, each with what it lets names stand for.
  const std::vector<double>& stand_at(std::size_t core) {
    const auto column = static_cast<std::int64_t>(core % fabric_.columns);
    const auto row = static_cast<std::int64_t>(core / fabric_.columns);
    column_ = static_cast<double>(column);
    row_ = static_cast<double>(row);
    for (const Entry& entry : entries_) {
      for (const Let& let : entry.lets) let.number->reset();
    }
    kind_.clear();
    here_.clear();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      const bool inside = entry.columns.holds(column) && entry.rows.holds(row);
      if (!inside || (entry.condition != nullptr && !text_.flag(entry.condition))) continue;
      here_.push_back(entry.said);
      kind_.push_back(static_cast<double>(i));
      for (const auto& [number, said] : entry.lets) {
        kind_.push_back(text_.number(said->value));
        if (*number) text_.refuse(said->at, fmt::format("'{}' is given twice", said->name));
        *number = kind_.back();
      }
    }
    text_.names.asked_place = false;
    return kind_;
  }

  void place_entry(YamlNode said) {
    text_.members(said, {"columns", "rows", "if", "let", "data", "fifos", "queues", "routes",
                         "tasks", "read"});
    const auto range = [&](YamlNode side, std::uint32_t size) {
      return text_.range(side, side == nullptr ? ":" : text_.word(side), size, true);
    };
    Entry& entry = entries_.emplace_back();
    entry.said = said;
    entry.condition = said->at("if");
    entry.columns = range(said->at("columns"), fabric_.columns);
    entry.rows = range(said->at("rows"), fabric_.rows);
    for (const YamlMember& each : text_.members(said->at("let"))) {
      entry.lets.push_back({&text_.names.numbers[each.name], &each});
    }
  }

  /// Ports, or several positions of a switch with ports each.
  void read_route(CoreText& core, Color color, YamlNode said) {
    text_.members(said, {"rx", "tx", "if", "positions", "ring", "pop", "filter"});
    YamlNode filter = said->at("filter");
    if (filter != nullptr) builder_->filter(core.core, color, filter_of(filter));
    const bool ring = text_.flag(said->at("ring"));
    const bool pop = text_.flag(said->at("pop"));
    if (ring || pop) builder_->rule(core.core, {color, ring, pop});
    YamlNode positions = said->at("positions");
    OneRoute route;
    route.color = color;
    for (YamlNode each : ProgramText::items(positions == nullptr ? said : positions)) {
      route.at = each;
      if (positions != nullptr) text_.members(each, {"rx", "tx", "if"});
      if (!text_.holds(each)) continue;
      if (each->at("rx") == nullptr || each->at("tx") == nullptr) {
        text_.refuse(each, "has not both; allowed: such as {rx: west, tx: [ramp, east]}");
      }
      if (route.position == wse::kPositions) text_.refuse(route.at, "a fifth position");
      route.to = 0;
      for (YamlNode tx : ProgramText::items(each->at("tx"))) {
        route.to = static_cast<wse::PortSet>(route.to | wse::bit(text_.one_of(tx, ports_)));
      }
      for (YamlNode rx : ProgramText::items(each->at("rx"))) {
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
        text_.refuse(
            route.at,
            fmt::format("color {} of {} has a route from there in line {} already",
                        color_name(route.color), core_name(core.core), other.at->mark.line + 1));
      }
    }
    core.routes.push_back(route);
    builder_->route(core.core, route.color, route.from, route.to, route.position);
  }

  WaveletFilter filter_of(YamlNode said) {
    WaveletFilter filter;
    for (const auto& [kind, at, value] :
         text_.members(said, {"range", "counter", "sparse_counter"})) {
      std::vector<std::uint32_t> is;
      for (YamlNode each : ProgramText::items(value)) {
        is.push_back(text_.count(each, 0, 0xFFFF));
      }
      const bool range = kind == "range";
      if (is.size() != (range ? 2 : 3) || is[1] == 0) {
        text_.refuse(at, range ? "allowed: [LOW, HIGH]" : "allowed: [PASS, PERIOD, OFFSET]");
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
  /// sent. Two kinds of cores that meet are looked at once.
  void check_routes() const {
    using Meeting = std::array<const CoreText*, 2>;
    std::array<std::set<Meeting>, wse::kRamp> met;
    std::array<Meeting, wse::kRamp> last{};
    for (std::size_t core = 0; core < texts_.size(); ++core) {
      for (unsigned port = 0; port < wse::kRamp; ++port) {
        const std::optional<std::size_t> there = fabric_.neighbour(core, port);
        const Meeting meeting{texts_[core], there ? texts_[*there] : nullptr};
        if (meeting == last.at(port)) continue;
        last.at(port) = meeting;
        if (!met.at(port).insert(meeting).second) continue;
        check_link(core, port);
      }
    }
  }

  void check_link(std::size_t core, unsigned port) const {
    const std::optional<std::size_t> there = fabric_.neighbour(core, port);
    for (const OneRoute& route : texts_[core]->routes) {
      for (const bool leave : {false, true}) {
        if (!route.uses(port, leave)) continue;
        if (there && texts_[*there]->has(route.color, wse::opposite(port), !leave)) continue;
        text_.refuse(
            route.at,
            fmt::format("color {} {} the {}, where {}{}", color_name(route.color),
                        leave ? "leaves " + core_name(core) + " to"
                              : "is awaited by " + core_name(core) + " from",
                        wse::port_name(port), there ? core_name(*there) : "the rectangle ends",
                        !there  ? ""
                        : leave ? " has no route with `rx` from there"
                                : " has no route with `tx` to it"));
      }
    }
  }

  const CoreText& write_core(std::size_t core) {
    CoreText& made = kinds_.emplace_back();
    made.core = core;
    for (YamlNode entry : here_) {
      for (const YamlMember& said : text_.members(entry->at("routes"))) {
        const Color color = text_.one_of(said.at, colors_);
        for (YamlNode each : ProgramText::items(said.value)) read_route(made, color, each);
      }
    }
    made.code = core_code(text_, colors_, here_);
    builder_->core(core, builder_->share(std::move(made.code.program)));
    carries_ = carries_ || made.code.by_numbers;
    check_memory(made);
    return made;
  }

  /// What comes down the ramp is taken, and what is taken or sent has a way.
  void check_ramp(const CoreText& core) const {
    for (const bool sends : {false, true}) {
      for (const auto& [color, at] : sends ? core.code.sent : core.code.taken) {
        if (core.has(color, wse::kRamp, !sends)) continue;
        text_.refuse(
            at, fmt::format("{} {} color {}, of which its router has no such route",
                            core_name(core.core), sends ? "sends" : "takes", color_name(color)));
      }
    }
    for (const OneRoute& route : core.routes) {
      if (!route.uses(wse::kRamp, true) || core.code.control_tasks ||
          core.code.taken.count(route.color) != 0) {
        continue;
      }
      text_.refuse(route.at, fmt::format("color {} comes to {}, which has neither a task nor an "
                                         "instruction that takes it",
                                         color_name(route.color), core_name(core.core)));
    }
  }

  void check_memory(const CoreText& core) {
    const std::uint32_t most = params_.kernel_bytes();
    made_.bytes = std::max(made_.bytes, core.code.bytes);
    if (core.code.bytes <= most || !fits_) return;
    std::string where = text_.path() + ": FIFOs";
    for (const auto& [name, array] : core.code.arrays) {
      if (array.end() > most) where = text_.place(array.said) + ": " + name;
    }
    throw OutOfMemoryError(
        fmt::format("{} with {} bytes of {} before its end; allowed: {} (mem.kib "
                    "less kernel.code_kib)",
                    where, core.code.bytes, core_name(core.core), most));
  }

  /// The numbers of an array: a formula of i, or i and j, or as many as it has.
  std::vector<double> numbers(YamlNode said, const std::vector<std::uint32_t>& shape) {
    const std::uint32_t inner = shape.size() < 2 ? 1 : shape[1];
    const std::uint32_t count = inner * (shape.empty() ? 1 : shape[0]);
    NamedArray made;
    if (said->is_list()) {
      add_numbers(text_, said, made, 0);
      if (made.values.size() == count) return made.values;
      text_.refuse(said, fmt::format("found {} numbers; allowed: {}, or a formula",
                                     made.values.size(), count));
    }
    std::optional<double>& i = text_.names.numbers["i"];
    std::optional<double>& j = text_.names.numbers["j"];
    for (std::uint32_t at = 0; at < count; ++at) {
      i = at / inner;
      j = at % inner;
      made.values.push_back(text_.number(said));
    }
    i.reset();
    j.reset();
    return made.values;
  }

  std::vector<std::uint8_t> memory_of(const CoreCode& core) {
    wse::MemoryImage image(std::max(made_.bytes, 4U));
    for (const auto& [name, array] : core.arrays) {
      YamlNode said = array.said->at("values");
      if (said == nullptr) continue;
      const unsigned bytes = wse::source_bytes(array.element);
      std::uint32_t address = array.address;
      for (const double value : numbers(said, array.shape)) {
        // integers are kept as floats; of 16 bits they are -32768 to 32767
        const bool held = value == std::floor(value) && static_cast<float>(value) == value &&
                          std::fabs(value + 0.5) < std::exp2(8 * bytes - 1);
        if (wse::is_integer(array.element) && !held) {
          text_.refuse(said, fmt::format("found {} in {}; allowed: whole numbers of {} bits, "
                                         "of which the highest 24 may be set",
                                         value, name, 8 * bytes));
        }
        if (array.element == wse::Element::fp16 && std::fabs(value) >= 65520) {
          text_.refuse(said, fmt::format("found {} in {}; allowed: to 65504", value, name));
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

  const WseParams& params_;
  bool carries_;  // numbers: they are asked for, or decide on cycles
  bool fits_;     // a core's memory has to hold its arrays
  ProgramText& text_;
  std::map<std::string, Port> ports_;
  ColorNames colors_;
  wse::Fabric fabric_;  // its sides alone
  std::optional<double>& column_;
  std::optional<double>& row_;
  std::vector<Entry> entries_;
  std::vector<YamlNode> here_;  // the entries that the core lies in where formulas are now
  std::vector<double> kind_;
  std::optional<wse::TaskBuilder> builder_;
  std::deque<CoreText> kinds_;
  std::vector<const CoreText*> texts_;  // by core
  OwnProgram made_;
};

}  // namespace

OwnProgram shipped_program(const std::string& name, const Pairs& constants, const WseParams& params,
                           bool values) {
  static std::map<std::string, ProgramText> kept;
  auto found = kept.find(name);
  if (found == kept.end()) {
    for (const std::filesystem::path& file : shipped_files("programs", ".yaml", true)) {
      if (file.stem() == name) found = kept.try_emplace(name, file.string()).first;
    }
  }
  if (found != kept.end()) {
    return ProgramReader(found->second, params, values, false).read(constants);
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
  ProgramText text(path);
  return ProgramReader(text, params, values).read(constants);
}

}  // namespace lacuna
