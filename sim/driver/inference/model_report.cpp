// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/inference/model_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/ranges.hpp"
#include "sim/driver/system/energy.hpp"
#include "sim/report/answer/screen.hpp"
#include "sim/report/tables/csv_files.hpp"
#include "sim/report/tables/text_table.hpp"

namespace lacuna {

namespace {

/// Counts are whole; what is not has four digits.
std::string cell(double value) {
  if (!std::isfinite(value)) return "any";
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? fmt::format("{:.0f}", value) : four_digits(value);
}

std::string table_text(const ModelTable& from) {
  TextTable table;
  table.column(from.title, "", TextTable::Align::left);
  for (const auto& [name, unit] : from.columns) table.column(name, unit);
  for (const auto& [name, values] : from.rows) {
    std::vector<std::string> cells = {name};
    for (const double value : values) cells.push_back(cell(value));
    table.row(cells);
  }
  return table.text();
}

}  // namespace

void ModelReport::joules(const std::string& name, const EnergyRange& range, double over) {
  add_range(name, range, over, "J", numbers);
}

void ModelReport::compare_energy(const ModelReport& dense) {
  const auto joules = [](const ModelReport& of) {
    return JouleRange{of.of("joules_per_token_low"), of.of("joules_per_token"),
                      of.of("joules_per_token_high")};
  };
  add_over_dense(joules(*this), joules(dense), numbers);
}

void ModelReport::words(bool folded, bool composed) {
  const auto say = [&](const char* name, bool is) {
    facts.emplace_back(name, is ? "true" : "false");
  };
  say("exact", !composed);
  say("folded", folded);
  say("composed", composed);
}

bool ModelReport::is_composed() const {
  return any_of(facts, [](const auto& each) {
    return each == std::pair<std::string, std::string>{"composed", "true"};
  });
}

double ModelReport::of(const std::string& name) const {
  const NamedQuantity* const found = find_quantity(numbers, name);
  return found == nullptr ? 0 : found->value;
}

std::string model_text(const ModelReport& report) {
  std::string text =
      report.title + '\n' + report.remark + "\n\n" + quantity_table(report.numbers, "");
  for (const ModelTable& table : report.tables) text += '\n' + table_text(table);
  return text;
}

std::vector<NamedQuantity> numbers_of(const std::vector<ModelReport>& reports) {
  std::vector<NamedQuantity> all;
  for (const ModelReport& report : reports) {
    for (const NamedQuantity& each : report.numbers) {
      if (find_quantity(all, each.name) == nullptr) all.push_back(each);
    }
  }
  return all;
}

namespace {

/// A row for each of these numbers, a column for each run.
TextTable table_beside(const std::vector<ModelReport>& reports,
                       const std::vector<NamedQuantity>& numbers) {
  TextTable table({"<"});
  for (const ModelReport& report : reports) table.column(report.machine, "");
  table.column("unit", "", TextTable::Align::left);
  for (const NamedQuantity& name : numbers) {
    std::vector<std::string> cells = {name.name};
    for (const ModelReport& report : reports) {
      const NamedQuantity* const found = find_quantity(report.numbers, name.name);
      cells.push_back(found == nullptr ? "" : quantity_text(found->value));
    }
    cells.push_back(name.unit);
    table.row(cells);
  }
  return table;
}

/// "Fastest: wse3, 18176 tokens a second, 1.27 times pod4."
std::string fastest_sentence(const std::vector<ModelReport>& reports) {
  std::vector<const ModelReport*> order;
  for (const ModelReport& report : reports) order.push_back(&report);
  sort_all(order, [](auto* a, auto* b) { return speed_of(*a) > speed_of(*b); });
  const ModelReport& first = *order[0];
  const double tokens = first.of("tokens_per_s");
  std::string text =
      tokens > 0
          ? fmt::format("Fastest: {}, {} tokens a second", first.machine, quantity_text(tokens))
          : fmt::format("Fastest: {}, {} s", first.machine, quantity_text(first.of("seconds")));
  for (std::size_t i = 1; i < order.size(); ++i) {
    text +=
        fmt::format(", {:.3g} times {}", speed_of(first) / speed_of(*order[i]), order[i]->machine);
  }
  return text + ".";
}

/// Machines of one kind in the order of joules of a token, if all ranges of prices are apart.
std::string joules_sentence(const std::vector<ModelReport>& reports) {
  const auto joules = [](const ModelReport* report, const char* end) {
    return report->of(std::string("joules_per_token") + end);
  };
  std::vector<const ModelReport*> order;
  for (const ModelReport& report : reports) {
    if (joules(&report, "") > 0) order.push_back(&report);
  }
  if (order.size() < 2) return "";
  const auto is_other = [&](const ModelReport* each) { return each->kind != order[0]->kind; };
  if (any_of(order, is_other)) {
    return "Joules per token are not ranked: a wafer counts its cores, a pod all of its machines.";
  }
  sort_all(order, [&](auto* a, auto* b) { return joules(a, "") < joules(b, ""); });
  std::string text = "Joules per token: " + order[0]->machine;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (joules(order[i - 1], "_high") >= joules(order[i], "_low")) {
      return "Joules per token: no machine is surely less; price ranges overlap.";
    }
    text += " < " + order[i]->machine;
  }
  return text + ".";
}

}  // namespace

double speed_of(const ModelReport& report) {
  const double tokens = report.of("tokens_per_s");
  return tokens > 0 ? tokens : 1 / report.of("seconds");
}

std::string model_comparison(const std::vector<ModelReport>& reports) {
  std::string text;
  for (const ModelReport& report : reports) {
    text += fmt::format("{}: {}\n{}\n\n", report.machine, report.title, report.remark);
  }
  return text + table_beside(reports, numbers_of(reports)).text();
}

std::string model_comparison_screen(const std::vector<ModelReport>& reports) {
  std::string head;
  for (const ModelReport& report : reports) head += wrapped(report.machine + ": " + report.title);
  for (const std::string& said : {fastest_sentence(reports), joules_sentence(reports)}) {
    if (!said.empty()) head += wrapped(said);
  }
  std::vector<NamedQuantity> numbers = numbers_of(reports);
  const std::vector<NamedQuantity> all = numbers;
  erase_where(numbers, [&](const NamedQuantity& each) { return is_end(all, each.name); });
  std::stable_partition(numbers.begin(), numbers.end(), [&](const NamedQuantity& each) {
    return all_of(reports, [&](const ModelReport& report) {
      return find_quantity(report.numbers, each.name) != nullptr;
    });
  });
  return fitted_screen(
      head + '\n', numbers.size(),
      [&](std::size_t rows) {
        return table_beside(reports, {numbers.begin(), numbers.begin() + static_cast<long>(rows)})
            .text();
      },
      "first numbers", "More: --wide (all numbers), --json, --out DIR (page, files)\n", false);
}

Pairs model_files(const std::vector<ModelReport>& reports) {
  Pairs files = {
      {"summary.csv", csv_line({"run", "machine", "model", "what", "quantity", "value", "unit"})}};
  const auto file = [&](const std::string& name) {
    return std::find_if(files.begin(), files.end(),
                        [&](const auto& each) { return each.first == name; });
  };
  for (std::size_t run = 0; run < reports.size(); ++run) {
    const ModelReport& report = reports[run];
    const std::string number = fmt::format("{}", run);
    for (const NamedQuantity& each : report.numbers) {
      files[0].second += csv_line({number, report.machine, report.model, report.what, each.name,
                                   quantity_csv(each.value), each.unit});
    }
    for (const ModelTable& table : report.tables) {
      const std::string name = table.name + ".csv";
      if (file(name) == files.end()) {
        files.emplace_back(name, csv_line({"run", "machine", "row", "column", "value", "unit"}));
      }
      std::string& text = file(name)->second;
      for (const auto& [row, values] : table.rows) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          text += csv_line({number, report.machine, row, table.columns[i].first,
                            quantity_csv(values[i]), table.columns[i].second});
        }
      }
    }
  }
  return files;
}

}  // namespace lacuna
