// SPDX-License-Identifier: Apache-2.0
// Gives the targets of precompiled headers something to compile.
