# SPDX-License-Identifier: Apache-2.0

"""``network``: networks on dedicated segments."""
