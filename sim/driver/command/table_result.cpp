// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/command/table_result.hpp"

#include <filesystem>
#include <utility>

#include "sim/driver/command/command_line.hpp"
#include "sim/driver/command/resume.hpp"
#include "sim/driver/files/sha256.hpp"
#include "sim/driver/result/result_json.hpp"
#include "sim/driver/run/option_table.hpp"
#include "sim/report/html/html_report.hpp"
#include "sim/report/view_page.hpp"

namespace lacuna {

namespace fs = std::filesystem;

TableOutput::TableOutput(const Options& options, std::string workload,
                         std::vector<std::string> inputs)
    : options_(options), workload_(std::move(workload)), inputs_(std::move(inputs)) {
  if (options.out) folder_.emplace(*options.out);
}

ResultHeader TableOutput::header() const {
  ResultHeader header;
  header.version = build_version();
  header.command = reproducing_arguments(options_);
  header.workload = workload_;
  for (const std::string& file : inputs_) {
    if (fs::is_regular_file(file)) header.files.emplace_back(file, sha256_of_file(file));
  }
  return header;
}

bool TableOutput::is_finished(const Streams& streams) const {
  return folder_ && options_.resume &&
         lacuna::is_finished(folder_->target(), header(), options_.verb, streams.err);
}

Journal* TableOutput::journal(std::size_t all, const Streams& streams) {
  if (!folder_) return nullptr;
  Journal::Facts facts = facts_of_arguments(options_);
  for (const auto& [file, hash] : header().files) facts.emplace_back("SHA-256 of " + file, hash);
  journal_ = open_journal(folder_->target(), facts_of_request(std::move(facts), options_, {}, {}),
                          all, "points", options_, streams.err);
  return journal_.get();
}

void TableOutput::write(const TableResult& result) {
  ResultFolder& folder = *folder_;
  folder.begin();
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, text] : result.files) {
    folder.write(name, text);
    const bool shown = fs::path(name).extension() == ".csv" && name.rfind("requests", 0) != 0;
    if (shown) tables.emplace_back(fs::path(name).stem(), text);
  }
  const ResultHeader said = header();
  folder.write("result.json",
               result.models.empty() ? result_text(said, {}) : models_text(said, result.models));
  if (!result.pages.empty()) {
    std::vector<const std::string*> packed;
    for (const std::string& page : result.pages) packed.push_back(&page);
    folder.write("view.html", view_page_of_first("Lacuna: " + result.view_title, packed));
  }
  const std::string figures = (folder.temporary() / "figures").string();
  draw_figures(result.figures, figures);
  write_redraw(figures);
  HtmlReport page;
  page.version = said.version;
  page.command = "lacuna " + shell_line(said.command);
  page.figures = read_figures(figures);
  folder.write("report.html", html_tables(page, tables, result.parameters));
  folder.commit();
  if (journal_) journal_->remove();
}

}  // namespace lacuna
