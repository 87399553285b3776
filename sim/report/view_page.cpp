// SPDX-License-Identifier: Apache-2.0
#include "sim/report/view_page.hpp"

#include <fmt/format.h>

#include "sim/base/refused.hpp"
#include "sim/report/figures/figure_style.hpp"
#include "sim/report/html/html_frame.hpp"
#include "sim/report/layers.hpp"
#include "sim/report/view_assets.hpp"

namespace lacuna {
namespace {

constexpr const char* kHead = R"(<script type="application/json" data-view="data-)";
constexpr const char* kNumbers = R"(<script type="text/plain" id="data-)";
constexpr const char* kEnd = "</script>\n";

/// The layers of a stack from the bottom, with the colours that figures give them.
std::string layers_json() {
  std::string json = "[";
  for (const Layer layer : kLayers) {
    json += fmt::format(R"({}["{}","{}"])", json.size() > 1 ? "," : "", layer_name(layer),
                        layer_colour(layer));
  }
  return json + "]";
}

/// The text between the tag that begins at `at` and its end.
std::string content(const std::string& page, std::size_t at) {
  const std::size_t begin = page.find('>', at) + 1;
  return page.substr(begin, page.find(kEnd, begin) - begin);
}

std::string with_title(std::string body, const std::string& title) {
  const std::string mark = "@TITLE@";
  body.replace(body.find(mark), mark.size(), html_escaped(title));
  return body;
}

}  // namespace

std::string view_page(const std::string& title, const std::vector<ViewData>& data) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n{}<script type=\"application/json\" id=\"layers\">{}</script>\n",
      html_escaped(title), kViewStyle, with_title(kViewBody, title), layers_json());
  for (std::size_t i = 0; i < data.size(); ++i) {
    page += fmt::format("{}{}\">", kHead, i) + data[i].head + kEnd;
    page += fmt::format("{}{}\">", kNumbers, i) + data[i].numbers + kEnd;
  }
  return page + "<script>\n" + kViewScript + "</script>\n</body>\n</html>\n";
}

std::string view_page_of_first(std::string title, const std::vector<const std::string*>& packed) {
  constexpr std::size_t kLargest = std::size_t{48} << 20U;
  std::vector<ViewData> data;
  std::size_t size = 0;
  for (const std::string* const text : packed) {
    size += text->size();
    if (data.empty() || size <= kLargest) data.push_back(unpack_view(*text));
  }
  if (data.size() < packed.size()) {
    title +=
        fmt::format(", the first {} of {} operations, as 48 MB hold", data.size(), packed.size());
  }
  return view_page(title, data);
}

std::vector<ViewData> read_views(const std::string& path, const std::string& page) {
  std::vector<ViewData> views;
  std::size_t at = 0;
  while ((at = page.find(kHead, at)) != std::string::npos) {
    const std::size_t numbers = page.find(kNumbers, at);
    if (numbers == std::string::npos) break;
    views.push_back({content(page, at), content(page, numbers)});
    at = numbers;
  }
  if (views.empty()) {
    throw refused("--view: found '{}'; allowed: a page that --view wrote", path);
  }
  return views;
}

}  // namespace lacuna
