# SPDX-License-Identifier: Apache-2.0

"""``virtual:volume``: volumes."""
