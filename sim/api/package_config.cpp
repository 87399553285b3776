// SPDX-License-Identifier: Apache-2.0

/// Compiled into each program that find_package() gives Lacuna to: where its presets are.
extern "C" const char* lacuna_config_of_package();
extern "C" const char* lacuna_config_of_package() { return LACUNA_CONFIG_OF_PACKAGE; }
