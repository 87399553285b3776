// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/sweep/combinations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/refused.hpp"
#include "sim/base/texts.hpp"

namespace lacuna {

namespace fs = std::filesystem;

namespace {

/// The next combination; false after the last.
bool advance(const SweepFile& file, std::vector<std::size_t>& step) {
  for (std::size_t i = step.size(); i-- > 0;) {
    if (++step[i] < file.axes[i].steps.size()) return true;
    step[i] = 0;
  }
  return false;
}

Assignment assignment_of(const SweepFile& file, const std::vector<std::size_t>& step) {
  Assignment assigned;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const SweepAxis& axis = file.axes[i];
    for (std::size_t j = 0; j < axis.keys.size(); ++j) {
      assigned.push_back({axis.keys[j], axis.steps[step[i]][j], axis.places[j]});
    }
  }
  return assigned;
}

bool is_wanted(const SweepFile& file, const Assignment& assigned) {
  return all_of(file.where, [&](const SweepCondition& where) {
    return where.holds([&](const std::string& name) -> std::optional<std::string> {
      const Assigned* const found = find(assigned, name);
      if (found == nullptr) return std::nullopt;
      return found->value;
    });
  });
}

}  // namespace

const Assigned* find(const Assignment& assignment, const std::string& key) {
  return find_where(assignment, [&](const Assigned& each) { return each.key == key; });
}

void for_each_combination(const SweepFile& file, std::size_t most,
                          const std::function<void(Assignment)>& visit) {
  std::vector<std::size_t> step(file.axes.size(), 0);
  std::size_t combinations = 0;
  bool any = false;
  do {
    if (++combinations > most) {
      throw refused("{}: more than {} combinations", file.path, most);
    }
    Assignment assigned = assignment_of(file, step);
    if (!is_wanted(file, assigned)) continue;
    any = true;
    visit(std::move(assigned));
  } while (advance(file, step));
  if (!any) throw refused("{}: no combination meets the conditions", file.path);
}

std::vector<std::string> varying_axes(const SweepFile& file) {
  std::vector<std::string> axes;
  for (const SweepAxis& axis : file.axes) {
    if (axis.steps.size() > 1) append(axes, axis.keys);
  }
  return axes;
}

void refuse_said_twice(const SweepFile& file, const Options& options) {
  for (const auto& [key, given] :
       {std::pair("seed", options.seed), std::pair("engine", options.engine),
        std::pair("fold", options.fold), std::pair("layout", options.layout)}) {
    if (!given) continue;
    for (const SweepAxis& axis : file.axes) {
      const auto twice = std::find(axis.keys.begin(), axis.keys.end(), key);
      if (twice == axis.keys.end()) continue;
      throw refused("--{}: is given in {} too", key,
                    axis.places[static_cast<std::size_t>(twice - axis.keys.begin())]);
    }
  }
}

std::string bare_key(const std::string& key) { return key.substr(key.find(':') + 1); }

bool is_key_of(const std::string& machine, const std::string& key) {
  return bare_key(key) == key || starts_with(key, machine + ':');
}

std::string located(const std::string& name, const SweepFile& file) {
  std::error_code ignored;
  const fs::path beside = fs::path(file.path).parent_path() / name;
  const bool is_beside = !fs::exists(name, ignored) && fs::is_regular_file(beside, ignored);
  return is_beside ? beside.string() : name;
}

std::string where_in(const SweepFile& file, const Assignment& assigned) {
  std::string text;
  for (const std::string& axis : varying_axes(file)) {
    if (const Assigned* const each = find(assigned, axis)) {
      text += fmt::format("{}{} = {}", text.empty() ? "at " : ", ", axis, each->value);
    }
  }
  return file.path + ": " + (text.empty() ? text : text + ": ");
}

}  // namespace lacuna
