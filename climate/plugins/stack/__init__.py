# SPDX-License-Identifier: Apache-2.0

"""``virtual:stack``: Heat stacks."""
