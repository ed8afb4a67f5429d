# SPDX-License-Identifier: Apache-2.0

"""Tests of the programs for those who work on Climate."""
