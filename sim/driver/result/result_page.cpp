// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/result/result_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/ranges.hpp"
#include "sim/base/replaced.hpp"

namespace lacuna {

using Json = nlohmann::ordered_json;

namespace {

/// Adds a block below an empty line.
void add_block(std::string& page, const std::string& block) {
  if (!page.empty()) page += '\n';
  page += block;
  if (page.back() != '\n') page += '\n';
}

}  // namespace

Json rows_of(const TextTable& table) {
  const std::vector<std::string> titles = table.titles();
  Json rows = Json::array();
  for (const std::vector<std::string>& cells : table.rows()) {
    Json row = Json::object();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const bool number = table.has_numbers(c);
      row[titles[c]] = number && Json::accept(cells[c]) ? Json::parse(cells[c])
                       : number && cells[c].empty()     ? Json()
                                                        : Json(cells[c]);
    }
    if (!row.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

TextPage& TextPage::add(Kind kind, std::string text, TextTable table) {
  blocks_.push_back({kind, std::move(text), std::move(table)});
  return *this;
}

TextPage& TextPage::text(const std::string& paragraphs) {
  for (std::size_t at = 0; at < paragraphs.size();) {
    const std::size_t end = std::min(paragraphs.find("\n\n", at), paragraphs.size());
    std::string paragraph = paragraphs.substr(at, end - at);
    paragraph.erase(paragraph.find_last_not_of('\n') + 1);
    if (!paragraph.empty()) add(Kind::paragraph, std::move(paragraph));
    at = end + 2;
  }
  return *this;
}

TextPage& TextPage::append(const TextPage& other) {
  blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
  return *this;
}

std::string TextPage::text() const {
  std::string page = lead_;
  for (const Block& block : blocks_) {
    add_block(page, block.kind == Kind::table ? block.table.text() : block.text);
  }
  return page;
}

std::string TextPage::markdown(const std::string& subject) const {
  std::string page;
  if (!title_.empty()) {
    page = fmt::format("# {}\n\n{}Made by `lacuna describe {} --markdown`; do not edit.\n", title_,
                       about_.empty() ? "" : about_ + "\n\n", subject);
  }
  for (const Block& block : blocks_) {
    const std::string marks = block.kind == Kind::heading         ? "## "
                              : block.kind == Kind::heading_below ? "### "
                                                                  : "";
    add_block(page, block.kind == Kind::table ? block.table.markdown() : marks + block.text);
  }
  return page;
}

std::string TextPage::json(const std::string& subject) const {
  std::vector<Json> sections;
  const auto begin = [&](const std::string& title) {
    sections.push_back({{"title", title}, {"text", Json::array()}, {"rows", Json::array()}});
  };
  begin("");
  if (!about_.empty()) sections.back()["text"].push_back(about_);
  std::string above;
  for (const Block& block : blocks_) {
    if (block.kind == Kind::heading) begin(above = block.text);
    if (block.kind == Kind::heading_below) begin(above + ": " + block.text);
    if (block.kind == Kind::paragraph) {
      sections.back()["text"].push_back(replaced(block.text, "\n", " "));
    }
    if (block.kind != Kind::table) continue;
    if (!sections.back()["rows"].empty()) begin(sections.back()["title"].get<std::string>());
    sections.back()["rows"] = rows_of(block.table);
  }
  erase_where(sections,
              [](const Json& each) { return each["text"].empty() && each["rows"].empty(); });
  return Json({{"subject", subject}, {"sections", sections}}).dump(1) + '\n';
}

}  // namespace lacuna
