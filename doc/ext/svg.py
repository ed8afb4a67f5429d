# SPDX-License-Identifier: Apache-2.0

"""Drawings as a part of a page: SVG that a style sheet colours and that can be read aloud."""

from __future__ import annotations

import hashlib
import html
from xml.etree import ElementTree

NAMESPACE = 'http://www.w3.org/2000/svg'
# How much smaller a drawing gets before it is scrolled, by its classes.
_LEAST = {'drawing picture': 0.6}


def from_dot(text: str) -> ElementTree.Element:
    """Return what ``dot -Tsvg`` has drawn, made fit for a page.

    Identifiers go, since a page may have several drawings, and so do tooltips. Points
    become pixels.
    """
    root = ElementTree.fromstring(text)  # noqa: S314 - dot wrote it, not a stranger
    for element in root.iter():
        element.attrib.pop('id', None)
        for title in element.findall(f'{{{NAMESPACE}}}title'):
            element.remove(title)
    for side in ('width', 'height'):
        root.set(side, root.get(side, '').removesuffix('pt'))
    return root


def scrollable(
    root: ElementTree.Element, title: str, description: str, *, classes: str = 'drawing'
) -> str:
    """Return a drawing as HTML.

    It gets as narrow as the window, but not so narrow that its letters cannot be read:
    then it is scrolled, also by keys.

    :param description: what the drawing shows, for readers who do not see it
    """
    key = 'drawing-' + hashlib.sha256(description.encode()).hexdigest()[:12]
    for name, text in (('desc', description), ('title', title)):
        element = ElementTree.Element(f'{{{NAMESPACE}}}{name}', id=f'{key}-{name}')
        element.text = text
        root.insert(0, element)
    root.set('role', 'img')
    root.set('aria-labelledby', f'{key}-title {key}-desc')
    least = float(root.get('width', '0')) * _LEAST.get(classes, 0.7)
    root.set('style', f'min-width: {least:.0f}px')
    ElementTree.register_namespace('', NAMESPACE)
    text = ElementTree.tostring(root, encoding='unicode')
    label = html.escape(title, quote=True)
    opening = f'<div class="{classes}" role="region" tabindex="0" aria-label="{label}">'
    return f'{opening}{text}</div>\n'
