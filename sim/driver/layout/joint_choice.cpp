// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/layout/joint_choice.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace lacuna {
namespace {

JointChoice::Choices of(const std::vector<std::size_t>& things, const JointChoice::Choices& all) {
  JointChoice::Choices chosen;
  for (const std::size_t thing : things) chosen.push_back(all[thing]);
  return chosen;
}

}  // namespace

void JointChoice::add(std::vector<double> costs) { own_.push_back(std::move(costs)); }

void JointChoice::add(std::vector<std::size_t> things, std::function<double(const Choices&)> cost) {
  costs_.push_back({std::move(things), std::move(cost)});
}

/// Calls `action` with the choices of all things, of which those of `things` run through all.
template <class Action>
void JointChoice::for_each(const std::vector<std::size_t>& things, const Action& action) const {
  Choices choices(own_.size(), 0);
  for (;;) {
    action(choices);
    std::size_t at = things.size();
    while (at != 0 && ++choices[things[at - 1]] == own_[things[at - 1]].size()) {
      choices[things[--at]] = 0;
    }
    if (at == 0) return;
  }
}

std::size_t JointChoice::place(const Table& table, const Choices& choices) const {
  std::size_t place = 0;
  for (const std::size_t thing : table.things) place = place * own_[thing].size() + choices[thing];
  return place;
}

/// What is not known yet may be nothing.
JointChoice::Table JointChoice::table_of(const Cost& cost) const {
  Table table{cost.things, {}};
  for_each(cost.things, [&](const Choices& choices) {
    const auto known = cost.known.find(of(cost.things, choices));
    table.values.push_back(known == cost.known.end() ? 0 : known->second);
  });
  return table;
}

/// The least that `tables` and the thing's own costs can be, by the other things they depend on;
/// adds to `firsts` with which choice.
JointChoice::Table JointChoice::take_out(std::size_t thing, const std::vector<Table>& tables,
                                         std::vector<Table>& firsts) const {
  std::set<std::size_t> others;
  for (const Table& table : tables) others.insert(table.things.begin(), table.things.end());
  others.erase(thing);
  Table left{{others.begin(), others.end()}, {}};
  Table first{left.things, {}};
  for_each(left.things, [&](Choices choices) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (std::size_t choice = 0; choice < own_[thing].size(); ++choice) {
      choices[thing] = choice;
      double sum = own_[thing][choice];
      for (const Table& table : tables) sum += table.values[place(table, choices)];
      if (sum < least) best = choice;
      least = std::min(least, sum);
    }
    left.values.push_back(least);
    first.values.push_back(static_cast<double>(best));
  });
  firsts.push_back(std::move(first));
  return left;
}

JointChoice::Choices JointChoice::least() const {
  std::vector<Table> tables;
  for (const Cost& cost : costs_) tables.push_back(table_of(cost));
  std::vector<Table> firsts;
  for (std::size_t thing = 0; thing < own_.size(); ++thing) {
    std::vector<Table> mine;
    std::vector<Table> rest;
    for (Table& table : tables) {
      const bool has = std::count(table.things.begin(), table.things.end(), thing) != 0;
      (has ? mine : rest).push_back(std::move(table));
    }
    rest.push_back(take_out(thing, mine, firsts));
    tables = std::move(rest);
  }
  Choices choices(own_.size(), 0);
  for (std::size_t thing = own_.size(); thing-- != 0;) {
    const Table& first = firsts[thing];
    choices[thing] = static_cast<std::size_t>(first.values[place(first, choices)]);
  }
  return choices;
}

/// Asks for what is not known of these choices; false if all is.
bool JointChoice::ask(const Choices& choices) {
  bool asked = false;
  for (Cost& cost : costs_) {
    const Choices mine = of(cost.things, choices);
    const auto [at, is_new] = cost.known.emplace(mine, 0);
    if (!is_new) continue;
    at->second = cost.cost(mine);
    asked = true;
    ++asked_;
  }
  return asked;
}

JointChoice::Choices JointChoice::solve() {
  Choices choices = least();
  while (ask(choices)) choices = least();
  total_ = 0;
  for (std::size_t thing = 0; thing < own_.size(); ++thing) total_ += own_[thing][choices[thing]];
  for (const Cost& cost : costs_) total_ += cost.known.at(of(cost.things, choices));
  return choices;
}

}  // namespace lacuna
