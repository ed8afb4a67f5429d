# SPDX-License-Identifier: Apache-2.0

"""Programs for developers of Climate."""
