# SPDX-License-Identifier: Apache-2.0

"""``virtual:instance`` and ``flavor:instance``: capacity for instances."""
