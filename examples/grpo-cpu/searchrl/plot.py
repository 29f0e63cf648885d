"""Line charts with bands, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_COLOURS = ("#666666", "#0072b2", "#d55e00", "#009e73")
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 300, 200, 44, 30, 56


@dataclass(frozen=True)
class Line:
    """A line through means, with a band from low to high."""

    name: str
    x: Sequence[int]
    points: Sequence[Mapping[str, float]]


def chart(panels: Mapping[str, Sequence[Line]]) -> str:
    """Panels side by side, each with its own axes, and one legend below."""
    width = len(panels) * (_WIDTH + _GAP) + _LEFT
    height = _TOP + _HEIGHT + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for i, (title, lines) in enumerate(panels.items()):
        parts += _panel(_LEFT + i * (_WIDTH + _GAP), title, lines)
    at = _LEFT
    for i, line in enumerate(next(iter(panels.values()))):
        y = height - 12
        parts.append(f'<rect x="{at}" y="{y - 8}" width="14" height="4" fill="{_COLOURS[i]}"/>')
        parts.append(f'<text x="{at + 20}" y="{y - 2}">{escape(line.name)}</text>')
        at += 40 + 7 * len(line.name)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(left: int, title: str, lines: Sequence[Line]) -> list[str]:
    most_x = max(max(line.x) for line in lines) or 1
    top = max(max(p["high"] for p in line.points) for line in lines) * 1.05 or 1.0

    def place(x: float, y: float) -> str:
        return f"{left + x / most_x * _WIDTH:.1f},{_TOP + (1 - y / top) * _HEIGHT:.1f}"

    out = [f'<text x="{left}" y="{_TOP - 12}" font-weight="bold">{escape(title)}</text>']
    for k in range(5):
        value = top * k / 4
        y = place(0, value).split(",")[1]
        out.append(f'<line x1="{left}" x2="{left + _WIDTH}" y1="{y}" y2="{y}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 6}" y="{y}" text-anchor="end" dy="4">{value:.2f}</text>')
    for x in (0, most_x // 2, most_x):
        at = place(x, 0).split(",")[0]
        out.append(f'<text x="{at}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{x}</text>')
    for i, line in enumerate(lines):
        upper = [place(x, p["high"]) for x, p in zip(line.x, line.points, strict=True)]
        lower = [place(x, p["low"]) for x, p in zip(line.x, line.points, strict=True)]
        means = [place(x, p["mean"]) for x, p in zip(line.x, line.points, strict=True)]
        out.append(
            f'<polygon points="{" ".join([*upper, *reversed(lower)])}" fill="{_COLOURS[i]}" opacity="0.12"/>'
        )
        out.append(
            f'<polyline points="{" ".join(means)}" fill="none" stroke="{_COLOURS[i]}" stroke-width="2"/>'
        )
    return out
