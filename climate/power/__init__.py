# SPDX-License-Identifier: Apache-2.0

"""Switches hosts on before they are needed, and off when they are idle."""
