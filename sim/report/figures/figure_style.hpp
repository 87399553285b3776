// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"

namespace lacuna {

/// How a series is drawn. The colour tells the pattern, the marker and dash the machine too, so
/// that a figure is read in grey and by the colour-blind.
struct SeriesStyle {
  std::string colour;   // "#0072B2"
  unsigned marker = 7;  // point type of the cairo and svg terminals
  unsigned dash = 1;
};

/// Of the `machine`-th machine and a pattern by its label; labels without a colour of their own
/// are coloured by `other`, their rank among such labels.
SeriesStyle series_style(unsigned machine, const std::string& pattern, unsigned other);

/// The look of the `index`-th of lines that are no patterns; it repeats after 42.
SeriesStyle line_style(unsigned index);

/// True if the pattern label has a colour of its own.
bool has_own_colour(const std::string& pattern);

/// The colour of a layer of a cycle stack, the same in every figure.
const char* layer_colour(Layer layer);

/// A name of files of a text: whatever is neither a letter nor a digit is a bar.
std::string file_word(std::string text);

/// A text as gnuplot takes it literally.
std::string quoted(const std::string& text);

/// A name for a cell of the data that the script compares: gnuplot's strcol() ends at a comma, even
/// one within quotes.
std::string key_cell(std::string name);

constexpr std::size_t kMostBars = 36;  // of one page
constexpr double kPageWidthIn = 3.35;  // one column of a two-column paper

/// What a reader may have otherwise: of each word but labels there is a variable at the head of a
/// figure's script, and all of them are the `look` of its description.
struct FigureLook {
  double width = kPageWidthIn;  // inches
  double height = 0;            // inches; 0: as high as what it shows
  std::string font = "Arial";
  double points = 7;
  std::string formats = "svg pdf png";  // of figure_formats()
  std::vector<std::string> title;       // lines above the data
  bool legend = true;
  std::string normalise;                       // of stacked bars: share, sum, time or dense
  std::map<std::string, std::string> colours;  // "#404040" by a name of figure_colours()
  std::map<std::string, std::string> labels;   // what to call what results call otherwise

  /// A text that a reader sees, as gnuplot takes it: by its new name, if it has one; or with each
  /// of its words that has one, from the longest on.
  std::string shown(const std::string& text) const;
};

/// The lay-out of a figure, in inches, for letters of seven points: title above, legend below the
/// data. The page is as high as its parts, unless the look says otherwise; with larger letters
/// everything but the width grows.
struct Page {
  std::string name;                // of the files
  std::vector<std::string> title;  // lines above the data, unless the look has others
  double data_height = 1.75;
  double aspect = 0;    // height of the data over its width, in place of data_height; 0: not said
  double left = 0.44;   // for the marks and name of the vertical axis
  double right = 0.12;  // for what stands beside the data
  std::size_t legend = 0;    // entries
  double longest_label = 0;  // of them, in inches
  bool interrupted = false;  // the run behind it was, which stands across the data
  FigureLook look = {};
};

/// `value` in as few digits as come within a thousandth of it: 0.1 of 0.0999756, 0.03125 of itself.
std::string short_number(double value);

/// Texts of `values`, in rising order and without repetition. Those within a twentieth of each
/// other are one, the shortest of them: masks that were asked for alike have densities that
/// differ by a rounding.
std::vector<std::string> round_texts(const std::set<double>& values);

/// The one of `texts` nearest to `value`.
std::string nearest_text(const std::vector<std::string>& texts, double value);

/// The space that a text of the figures' size needs, about.
double text_width(const std::string& text);
double widest(const std::vector<std::string>& texts);

/// The whole script: the look as variables, with further `variables` of this kind of figures, page
/// set-up, then `body`, drawn for each format. A body may use width, unit, left and right, inches;
/// and the colours of figure_colours() by name.
std::string figure_script(const Page& page, const std::string& body,
                          const std::string& variables = "");

}  // namespace lacuna
