// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lacuna {

// The files of sim/report/view, as they are: the look, the body and the scripts of the page.
extern const char* const kViewStyle;
extern const char* const kViewBody;
extern const char* const kViewScript;

/// The script that draws described figures with Matplotlib.
extern const char* const kRedrawScript;

}  // namespace lacuna
