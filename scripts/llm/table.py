#!/usr/bin/env python3
"""Print the measured figures of the llm judges as a Markdown table.

usage: table.py REPORTS [--docs FILE]

REPORTS is the folder that measure.sh filled. With --docs the table also
replaces what stands between the markers in FILE.
"""

import argparse
import json
import pathlib
import re

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
STAGES = [("A", "entity-check"), ("B", "abstain-check"), ("C", "quote-extract")]


def number(value, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


def table(folder: pathlib.Path) -> str:
    reports = [(letter, json.loads((folder / f"{stage}.json").read_text())) for letter, stage in STAGES]
    lines = [
        f"Measured on {reports[0][1]['date']}, model `{reports[0][1]['model']}`, one thread, one slot, temperature 0.",
        "",
        "| | prompt | right | errors | calls | p50 s | max s | tokens in | of these cached | tokens out | confidence right / wrong |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for letter, r in reports:
        lines.append(
            f"| {letter} | `{r['prompt']}` | {r['right']} of {r['items']} | {r['errors']} | {r['calls']} "
            f"| {r['p50_s']:.1f} | {r['max_s']:.1f} | {r['tokens_in']} | {r['tokens_cached']} | {r['tokens_out']} "
            f"| {number(r['confidence_right'])} / {number(r['confidence_wrong'])} |"
        )
    lines += ["", "Wrong ones: " + "; ".join(
        f"{letter} " + ", ".join(f"*{c['name']}*" for c in r["cases"] if not c["right"])
        for letter, r in reports if r["right"] < r["items"]) + "."]
    for letter, r in reports:
        c = r.get("counts") or {}
        if "quotes" in c:
            text = f"{letter}: {c['quotes_found']} of {c['quotes']} proposed quotes stand in the passages; the rest were dropped by code."
            if "relevance_right" in c:
                text += f" Relevance alone: {c['relevance_right']} of {r['items']} right."
            lines += ["", text]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=pathlib.Path)
    parser.add_argument("--docs", type=pathlib.Path)
    args = parser.parse_args()
    text = table(args.reports)
    print(text)
    if args.docs:
        old = args.docs.read_text()
        new = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{text}\n{END}", old, flags=re.S)
        if new == old and text not in old:
            raise SystemExit(f"table.py: {args.docs} lacks the markers {BEGIN} and {END}")
        args.docs.write_text(new)


if __name__ == "__main__":
    main()
