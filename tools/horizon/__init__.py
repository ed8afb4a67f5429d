# SPDX-License-Identifier: Apache-2.0

"""Runs Horizon with blazar-dashboard on the test cloud, and uses its panels."""
