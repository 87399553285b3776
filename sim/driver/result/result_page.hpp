// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/tables/text_table.hpp"

namespace lacuna {

/// The rows of a table as objects with a value under each title: a number in a column of numbers,
/// null where it has none.
nlohmann::ordered_json rows_of(const TextTable& table);

/// A page of headings, paragraphs and tables, printed as text, as Markdown or as JSON.
class TextPage {
 public:
  TextPage() = default;

  /// A page of the manual: `title` and `about` stand above all else, in Markdown. A text has `lead`
  /// there, a line.
  explicit TextPage(std::string title, std::string about = "", std::string lead = "")
      : title_(std::move(title)), about_(std::move(about)), lead_(std::move(lead)) {}

  TextPage& heading(std::string text) { return add(Kind::heading, std::move(text)); }

  /// Of a part of what the last heading is of.
  TextPage& heading_below(std::string text) { return add(Kind::heading_below, std::move(text)); }

  /// Paragraphs with empty lines between them.
  TextPage& text(const std::string& paragraphs);

  /// A table; nothing if it has no rows.
  TextPage& table(TextTable table) {
    return table.empty() ? *this : add(Kind::table, "", std::move(table));
  }

  /// All that `other` has below its title.
  TextPage& append(const TextPage& other);

  bool empty() const { return blocks_.empty(); }
  std::string text() const;

  /// `subject`: what lacuna describe makes it of.
  std::string markdown(const std::string& subject) const;

  /// Sections with their texts and tables; a title alone is none, and a second table is a section
  /// of the same title.
  std::string json(const std::string& subject) const;

 private:
  enum class Kind { heading, heading_below, paragraph, table };

  struct Block {
    Kind kind;
    std::string text;
    TextTable table;
  };

  TextPage& add(Kind kind, std::string text, TextTable table = {});

  std::string title_;
  std::string about_;
  std::string lead_;
  std::vector<Block> blocks_;
};

}  // namespace lacuna
