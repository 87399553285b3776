// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lacuna {

/// A number of a result that has no operations to list.
struct NamedQuantity {
  std::string name;
  double value = 0;
  std::string unit;  // empty: its name says it
};

/// The one of this name; null if there is none.
const NamedQuantity* find_quantity(const std::vector<NamedQuantity>& all, const std::string& name);

/// Whether it is an end of the range of another one: NAME_low, NAME_high.
bool is_end(const std::vector<NamedQuantity>& all, const std::string& name);

/// A row for each, with the columns `title`, value and, where one is said, unit.
std::string quantity_table(const std::vector<NamedQuantity>& all, const char* title);

/// As text with four digits, and as a cell of a CSV file. Infinite: there is no limit.
std::string quantity_text(double value);
std::string quantity_csv(double value);

/// What has no operations to list, such as a language model or a system of chips.
struct QuantityScreen {
  std::string title;                      // a line
  std::vector<std::string> sentences;     // the answer, at most three
  std::vector<NamedQuantity> quantities;  // NAME_low and NAME_high are beside NAME
  std::string where;                      // what the shares are of
  std::vector<std::pair<std::string, double>> shares =
      {};            // the six largest are shown, largest first
  std::string more;  // the last line: where the rest is
};

/// Its first screen, of at most kScreenLines lines.
std::string quantity_screen(const QuantityScreen& screen);

/// "A token takes 767.5 us: 1303 tokens_per_s, 1.965 J each (1.161 to 2.756)", of quantities that
/// are there; empty if `time` is not.
std::string quantity_sentence(const std::vector<NamedQuantity>& quantities, const std::string& what,
                              const std::string& time, const std::string& rate,
                              const std::string& joules);

}  // namespace lacuna
