# SPDX-License-Identifier: Apache-2.0
# Run at each build: writes OUT if what it says has changed. Its commit is the one that is checked
# out, "+changes" if files differ from it, or COMMIT where there is no repository.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE none)
if(none)
  set(commit ${COMMIT})
else()
  execute_process(COMMAND git -C ${SOURCE} diff-index --quiet HEAD -- RESULT_VARIABLE changed
                  ERROR_QUIET)
  if(changed)
    string(APPEND commit "+changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// SPDX-License-Identifier: Apache-2.0
#include "sim/driver/files/version.hpp"

namespace lacuna {

const char* version() { return "@VERSION@"; }

const char* build_version() { return "@VERSION@, commit @commit@, @BUILD@"; }

}  // namespace lacuna
]])
