# SPDX-License-Identifier: Apache-2.0

"""Pure functions over periods, amounts and choices; standard library and numpy only."""
