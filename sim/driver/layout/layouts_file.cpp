// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/layouts_file.hpp"

#include <map>
#include <set>
#include <sstream>

#include "sim/driver/files/yaml_layouts.hpp"
#include "sim/driver/layout/layout.hpp"
#include "sim/machines/machine_kind.hpp"
#include "sim/report/layout_note.hpp"

namespace lacuna {
namespace {

LayoutEntry entry_of(const OpRecord& op) {
  LayoutEntry entry;
  const SummaryRow& row = op.row;
  entry.of = {{"machine", row.machine}, {"id", row.op_id}, {"type", row.dtype}};
  entry.of["m"] = std::to_string(row.m.value_or(0));
  entry.of["k"] = std::to_string(row.k.value_or(0));
  entry.of["n"] = std::to_string(row.n.value_or(0));
  for (const char* const word : {"batch", "pattern", "mode"}) entry.of[word] = asked(op, word);
  std::istringstream words(note_of(op.result, kLayoutNote));
  entry.layout = read_layout(words);
  return entry;
}

}  // namespace

std::string layouts_file(const std::vector<const Runs*>& runs) {
  std::vector<LayoutEntry> entries;
  std::vector<std::string> found;
  std::set<std::map<std::string, std::string>> known;
  const auto add = [&](const RunRecord& record, const OpRecord& op) {
    if (note_of(op.result, kLayoutNote).empty()) return;
    LayoutEntry entry = entry_of(op);
    entry.extent = record.extent;
    if (!known.insert(entry.of).second) return;
    entries.push_back(std::move(entry));
    found.push_back(note_of(op.result, kLayoutSourceNote));
  };
  for (const Runs* const records : runs) {
    for (const RunRecord& record : *records) {
      for (const OpRecord& op : record.ops) add(record, op);
    }
  }
  return entries.empty() ? std::string() : layouts_yaml(entries, found);
}

}  // namespace lacuna
