# SPDX-License-Identifier: Apache-2.0
"""Runs the tests, one lane after the other, and reports the results."""
