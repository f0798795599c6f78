"""Writes catalog files that a person would like to edit: one entry per block, small mappings on one line.

Entries are dicts whose values are already catalog text ("80GiB", "700W"), numbers, booleans, lists or dicts. None and
empty values are left out: absent means unknown."""
import math
import os
import re

NUMBER = re.compile(r"[-+]?(\d[\d_]*(\.\d*)?|\.\d+)([eE][-+]?\d+)?$|0[xo][\da-fA-F]+$")
WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", ""}
DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?$")


class Raw(str):
    """Catalog text that may stand unquoted although it looks like a number (a quantity or count)."""


def number(value, digits=15):
    """Shortest decimal text, without exponent for everyday sizes."""
    value = float(f"{float(value):.{digits}g}")
    if value == int(value) and abs(value) < 2**53:
        return str(int(value))
    text = repr(value)
    if "e" in text:
        text = f"{value:.12f}".rstrip("0").rstrip(".") if abs(value) > 1e-9 else text
    return text


def quantity(value, unit, factor=1.0, digits=12):
    """`80` GiB -> "80GiB"; None when unknown."""
    if value in (None, "", "nan"):
        return None
    value = float(value) * factor
    if math.isnan(value):
        return None
    return Raw(number(value, digits) + unit)


def count(value, digits=12):
    """1500000000 -> "1.5B" where that is exact in a few digits, else the plain number."""
    if value in (None, ""):
        return None
    value = float(value)
    for unit, size in (("T", 1e12), ("B", 1e9), ("M", 1e6)):
        if abs(value) >= size:
            short = float(f"{value / size:.12g}")
            text = number(short, digits)
            if len(text) <= 7 and abs(float(text) * size - value) <= abs(value) * 1e-12:
                return Raw(text + unit)
            break
    return Raw(number(value, digits))


def integer(value):
    return None if value in (None, "") else int(round(float(value)))


def scalar(value, flow=False):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number(value)
    text = str(value)
    risky = (
        text.lower() in WORDS
        or text != text.strip()
        or NUMBER.match(text)
        or text[0] in "-?:,[]{}#&*!|>'\"%@`="
        or ": " in text
        or " #" in text
        or text.endswith(":")
        or any(ord(c) < 32 for c in text)
        or (flow and any(c in text for c in ",[]{}"))
        or (flow and (":" in text and not re.search(r":\S", text)))
    )
    if not risky:
        return text
    text = text.replace("\n", " ").replace("\t", " ")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def value_text(value, flow=False):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key_text(k)}: {value_text(v, True)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(value_text(v, True) for v in value) + "]"
    return scalar(value, flow)


def key_text(key):
    return key if re.match(r"[A-Za-z_][\w.-]*$", key) and key.lower() not in WORDS else '"' + key + '"'


def clean(entry):
    """Drops what is unknown, at every depth."""
    if isinstance(entry, dict):
        result = {k: clean(v) for k, v in entry.items()}
        return {k: v for k, v in result.items() if v not in (None, "", {}, [])}
    if isinstance(entry, list):
        return [v for v in (clean(v) for v in entry) if v not in (None, "", {}, [])]
    return entry


def write_lines(entry, indent, out, block_lists):
    pad = " " * indent
    for key, value in entry.items():
        if key in block_lists and isinstance(value, list):
            out.append(f"{pad}{key}:")
            for item in value:
                if isinstance(item, dict) and len(value_text(item)) > 400:
                    lines = []
                    write_lines(item, 0, lines, ())
                    out.append(f"{pad}  - {lines[0]}")
                    out.extend(f"{pad}    {line}" for line in lines[1:])
                else:
                    out.append(f"{pad}  - {value_text(item)}")
        elif isinstance(value, dict) and len(value_text(value)) > 160:
            out.append(f"{pad}{key}:")
            write_lines(value, indent + 2, out, block_lists)
        else:
            out.append(f"{pad}{key}: {value_text(value)}")


def write_file(path, comment, head, key, entries, block_lists=(), flow=False):
    """head: file-level keys; flow: one line per entry."""
    out = ["# " + line if line else "#" for line in comment]
    for name, value in clean(head).items():
        out.append(f"{name}: {scalar(value)}")
    out.append(f"{key}:")
    for entry in entries:
        entry = clean(entry)
        if flow:
            out.append("  - " + value_text(entry))
            continue
        lines = []
        write_lines(entry, 0, lines, block_lists)
        out.append("  - " + lines[0])
        out.extend("    " + line for line in lines[1:])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def catalog_id(text):
    """The catalog's id of a facts id: lower case, + spelled plus, everything else a dash."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.strip().lower().replace("+", "plus")).strip("-")


CONFIDENCE = {"read": "read", "partly read": "partial", "derived": "derived", "computed": "derived", "memory": "memory",
              "unknown": "assumed", "rule (memory)": "memory"}


def confidence(text):
    """First word of the facts' confidence column, as the catalog's word; the rest belongs to the notes."""
    text = (text or "").strip().lower()
    if text in CONFIDENCE:
        return CONFIDENCE[text]
    for word in ("partly", "partial"):
        if text.startswith(word):
            return "partial"
    for word in ("read", "derived", "memory", "assumed"):
        if text.startswith(word):
            return word
    return "assumed"


def newest_date(text):
    """The newest YYYY-MM[-DD] in a text, or None."""
    found = re.findall(r"\b(20[12]\d-[01]\d(?:-[0-3]\d)?)\b", text or "")
    return max(found) if found else None
