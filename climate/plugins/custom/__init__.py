# SPDX-License-Identifier: Apache-2.0

"""``custom:<name>``: resource types that operators declare."""
