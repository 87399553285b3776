// SPDX-License-Identifier: Apache-2.0
#include "sim/report/json_view.hpp"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/error.hpp"
#include "sim/base/replaced.hpp"
#include "sim/report/html/html_frame.hpp"

namespace lacuna {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* group_name(UnitChannel::Group group) {
  switch (group) {
    case UnitChannel::Group::stack:
      return "stack";
    case UnitChannel::Group::count:
      return "count";
    case UnitChannel::Group::whole:
      return "whole";
  }
  return "";
}

/// Numbers in planes: the lowest bytes of all, then the next; as many planes as the largest needs.
class Planes {
 public:
  template <class Number>
  unsigned add(const std::vector<Number>& values) {
    std::uint64_t most = 0;
    for (const Number value : values) most = std::max<std::uint64_t>(most, value);
    unsigned width = 1;
    while (width < 8 && most >> (8 * width) != 0) ++width;
    for (unsigned plane = 0; plane < width; ++plane) {
      for (const Number value : values) {
        bytes_ += static_cast<char>(std::uint64_t{value} >> (8 * plane) & 0xffU);
      }
    }
    return width;
  }
  std::size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,  // NOLINT(*-cast)
                               reinterpret_cast<const Bytef*>(bytes.data()),    // NOLINT(*-cast)
                               bytes.size(), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw InternalError("the numbers of a view cannot be compressed");
  packed.resize(size);
  return packed;
}

/// Runs of equal numbers as [number, times].
OrderedJson runs_of(const std::vector<std::uint32_t>& numbers) {
  OrderedJson runs = OrderedJson::array();
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    runs.push_back({numbers[i], end - i});
    i = end;
  }
  return runs;
}

/// JSON as the text of a script, which an end tag within it would end.
std::string script_text(const OrderedJson& json) { return replaced(json.dump(), "</", "<\\/"); }

void add_text(OrderedJson& head, const char* key, const std::vector<std::string>& texts) {
  if (!texts.empty()) head[key] = texts;
}

/// Its steps as [place, row, column, what, from, to], forward in time.
OrderedJson path_json(const CriticalPath& path) {
  const PathWindow& window = path.window;
  OrderedJson steps = OrderedJson::array();
  for (const PathStep& step : path.steps) {
    steps.push_back(
        {static_cast<unsigned>(step.place), step.row, step.column, step.what, step.from, step.to});
  }
  return {{"from", window.from}, {"to", window.to},           {"column", window.column},
          {"row", window.row},   {"columns", window.columns}, {"rows", window.rows},
          {"whats", path.whats}, {"steps", std::move(steps)}};
}

}  // namespace

ViewData view_data(const ViewFacts& facts, const UnitSeries& series) {
  Planes planes;
  OrderedJson head = {{"format", "lacuna view 1"},
                      {"title", facts.title},
                      {"cycles", facts.cycles},
                      {"clock_ghz", facts.clock_ghz},
                      {"units", facts.units},
                      {"exact", facts.exact},
                      {"unit", series.unit},
                      {"columns", series.columns},
                      {"rows", series.rows},
                      {"source", runs_of(series.source)},
                      {"stored_rows", series.stored_rows},
                      {"timed", series.timed},
                      {"timed_rows", series.timed_rows},
                      {"block", {series.block_columns, series.block_rows}},
                      {"ends", series.ends},
                      {"loss", series.loss}};
  if (facts.tick != "cycle") head["tick"] = facts.tick;
  if (!series.behind.empty()) head["behind"] = series.behind;
  add_text(head, "step_names", series.step_names);
  add_text(head, "row_notes", series.row_notes);
  add_text(head, "column_notes", series.column_notes);
  OrderedJson channels = OrderedJson::array();
  for (const UnitChannel& channel : series.channels) {
    const std::size_t offset = planes.size();
    const unsigned width = planes.add(channel.values);
    channels.push_back({{"name", channel.name},
                        {"unit", channel.unit},
                        {"doc", channel.doc},
                        {"group", group_name(channel.group)},
                        {"layer", layer_name(channel.layer)},
                        {"timed", channel.timed()},
                        {"width", width},
                        {"offset", offset}});
  }
  head["channels"] = std::move(channels);
  if (!series.numbers.empty()) {
    const std::size_t offset = planes.size();
    const unsigned width = planes.add(series.numbers);
    head["numbers"] = {{"offset", offset}, {"width", width}, {"count", series.numbers.size()}};
  }
  if (series.path) head["window_path"] = path_json(*series.path);
  head["bytes"] = planes.size();
  return {script_text(head), html_base64(deflated(planes.bytes()))};
}

ViewData of_origin(const ViewData& data, const std::string& origin) {
  OrderedJson head = OrderedJson::parse(data.head);
  head["title"] = origin + ": " + head.at("title").get<std::string>();
  return {script_text(head), data.numbers};
}

std::string pack(const ViewData& data) {
  return data.empty() ? std::string() : data.head + '\n' + data.numbers;
}

ViewData unpack_view(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return {};
  return {text.substr(0, end), text.substr(end + 1)};
}

}  // namespace lacuna
