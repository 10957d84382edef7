r"""Equations in LaTeX: quantities put in for symbols, and the same as plain text.

>>> substitute(r"t = d + 8 N / R", {"d": "30 ms", "N": "1 MB", "R": "1.5 Mbit/s"})
't = 30\\,\\mathrm{ms} + 8 \\cdot 1\\,\\mathrm{MB} / 1.5\\,\\mathrm{Mbit/s}'
>>> plain(r"t = \frac{8 N}{R} \cdot \sqrt{2}")
't = (8 N) / R · √(2)'

What is read is the LaTeX of the models' docstrings: fractions, roots, cases, sub- and superscripts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

__all__ = [
    "latex", "plain", "substitute",
]  # fmt: skip
__dir__ = __all__.copy  # what TAB offers

_TOKEN = re.compile(
    r"\\(?:text|mathrm)\{[^{}]*\}"  # words, unchanged
    r"|\\(?:begin|end)\{\w+\}"
    r"|\\(?:bar|hat)\s*(?:\{[^{}]*\}|[A-Za-z]|\\[A-Za-z]+)"
    r"|\\[A-Za-z]+|\\."
    r"|[A-Za-z]+|\d+(?:\.\d+)?|\s+|."
)
_GREEK = {
    "alpha": "α", "beta": "β", "delta": "δ", "Delta": "Δ", "lambda": "λ", "mu": "µ", "rho": "ρ",
    "sigma": "σ", "varphi": "φ", "ell": "ℓ",
}  # fmt: skip
_WORDS = {
    **_GREEK,
    "cdot": "·", "le": "≤", "ge": "≥", "approx": "≈", "infty": "∞", "sum": "Σ", "int": "∫",
    "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "dots": "…", "bmod": "mod",
    "lor": "or", "lnot": "not", "Rightarrow": "⇒", "quad": "\u2003", "left": "", "right": "",
    "Big": "",
}  # fmt: skip
_ROOTS = {"": "√", "3": "∛", "4": "∜"}
# Marks in text that is being written: of a fraction, of words, of a unit and the slash in it.
_BEGIN, _END, _TEXT, _UNIT, _PER = "\x01", "\x02", "\x03", "\x04", "\x05"
_POWERS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_OPENING = ("(", r"\left", r"\lceil", r"\lfloor", r"\frac", r"\tfrac", r"\sqrt", r"\min", r"\max",
            r"\ln", r"\log", r"\begin", r"\bar")  # fmt: skip
_CLOSING = (")", "]", r"\rceil", r"\rfloor", "!")


def substitute(
    equation: str, quantities: Mapping[str, str], *, others: Collection[str] = ()
) -> str:
    r"""Return an equation with symbols replaced by quantities as people write them.

    Parameters
    ----------
    equation : str
        LaTeX.
    quantities : mapping
        Text for each symbol: ``{"RTT": "30 ms", r"\rho": "0.8"}``.
    others : collection of str
        Symbols that stay: without them, RTT holds the symbol R.

    Examples
    --------
    >>> substitute(r"P = 1 - (1 - p)^k", {"p": "0.01", "k": "6"})
    'P = 1 - (1 - 0.01)^{6}'
    """
    symbols = {tuple(_tokens(symbol, (symbol,))): symbol for symbol in quantities}
    longest_first = sorted(symbols, key=len, reverse=True)
    tokens = list(_tokens(equation, (*quantities, *others)))
    writer, index = _TokenWriter(), 0
    while index < len(tokens):
        for symbol in longest_first:
            after = index + len(symbol)
            if tuple(tokens[index:after]) == symbol and tokens[after : after + 1] != ["_"]:
                follows = next((t for t in tokens[after:] if t.strip()), "")
                writer.quantity(latex(quantities[symbols[symbol]]), is_base=follows == "^")
                index = after
                break
        else:
            writer.token(tokens[index])
            index += 1
    return writer.text


def latex(quantity: str) -> str:
    r"""Return a quantity in LaTeX.

    Examples
    --------
    >>> latex("12.3 µs"), latex("1.5e-06"), latex("inf s")
    ('12.3\\,\\mathrm{\\mu s}', '1.5 \\cdot 10^{-6}', '\\infty')
    """
    number, _, unit = quantity.partition(" ")
    mantissa, _, exponent = number.partition("e")
    if mantissa.lstrip("-") == "inf":
        return number.replace("inf", r"\infty")
    if exponent:
        number = rf"{mantissa} \cdot 10^{{{int(exponent)}}}".removeprefix(r"1 \cdot ")
    if not number[:1].isdigit() and not number.startswith("-"):
        return rf"\text{{{quantity}}}"
    unit = unit.replace("µ", r"\mu ").replace("%", r"\%")
    return number.replace("%", r"\,\%") + (rf"\,\mathrm{{{unit}}}" if unit else "")


class _TokenWriter:
    """Writes tokens, with a multiplication sign between a quantity and a factor."""

    def __init__(self) -> None:
        self.text = ""
        self.is_factor = False  # the last token can be multiplied by the next
        self.is_quantity = False
        self.bases: list[bool] = []  # whether what an open brace belongs to is a factor
        self.base = False  # of the sub- or superscript that comes next

    def quantity(self, written: str, *, is_base: bool) -> None:
        before = self.text.rstrip()
        if before.endswith(("_", "^")):
            self.text = f"{before}{{{written}}}"
            self.is_factor, self.is_quantity = self.base, False
            return
        if self.is_factor:
            self._dot()
        if (is_base and not re.fullmatch(r"[\d.]+", written)) or (
            r"\cdot" in written and before.endswith("/")
        ):
            written = rf"\left({written}\right)"
        self.text += written
        self.is_factor = self.is_quantity = True

    def token(self, token: str) -> None:
        name = token.strip()
        if not name or name in (r"\,", r"\;"):
            if not (self.is_quantity and name):
                self.text += token
            return
        if self.is_quantity and (name.startswith(_OPENING) or _is_operand(name)):
            self._dot()
        self.text += token
        self.is_quantity = False
        if name in ("_", "^"):
            self.base = self.is_factor
        elif name == "{":
            self.bases.append(self.base if self._before_brace() in "_^" else True)
            self.is_factor = False
        elif name == "}":
            self.is_factor = self.bases.pop() if self.bases else True
        elif self._before_token(name) in ("_", "^"):
            self.is_factor = self.base
        else:
            self.is_factor = _is_operand(name) or name in _CLOSING

    def _dot(self) -> None:
        self.text = self.text.rstrip().removesuffix(r"\,").rstrip() + r" \cdot "

    def _before_brace(self) -> str:
        return self.text[:-1].rstrip()[-1:] or " "

    def _before_token(self, name: str) -> str:
        return self.text.rstrip().removesuffix(name).rstrip()[-1:]


def _is_operand(token: str) -> bool:
    return (
        token[0].isalnum() or token.lstrip("\\") in _GREEK or token.startswith((r"\bar", r"\hat"))
    )


def _tokens(equation: str, symbols: tuple[str, ...]) -> Iterator[str]:
    """Yield the parts; a run of letters as the longest symbols in it."""
    spelled = {word for symbol in symbols for word in re.findall(r"[A-Za-z]+", symbol)}
    words = sorted(spelled, key=len, reverse=True)
    for match in _TOKEN.finditer(equation):
        token = match[0]
        if not token[0].isalpha():
            yield token
            continue
        while token:
            word = next((w for w in words if token.startswith(w)), token[0])
            yield word
            token = token[len(word) :]


def plain(equation: str) -> str:
    r"""Return an equation as text for a terminal.

    Examples
    --------
    >>> plain(r"k = \left\lceil \log_2 \frac{a + 1}{\rho^2} \right\rceil")
    'k = ⌈log_2((a + 1) / ρ²)⌉'
    >>> plain(r"\binom{n}{k} p^k")
    'C(n, k) p^k'
    """
    text = _Reader(equation).group()
    # A fraction stands between marks: a function of it needs brackets, a factor after it a dot.
    text = re.sub(rf"(ln|log_\S+) +{_BEGIN}([^{_BEGIN}{_END}]*){_END}", r"\1(\2)", text)
    text = re.sub(rf"{_END} *(?={_BEGIN}?(?:[^\W_]|[(\[√∛∜⌈⌊Σ]))", " · ", text)
    text = re.sub(f"[{_BEGIN}{_END}{_TEXT}{_UNIT}]", "", text)
    for pattern, replacement in (
        (r"\s*/\s*", " / "),
        (r"([⌈⌊(\[]) +", r"\1"),
        (r" +([⌉⌋)\],!])", r"\1"),
        (r"\bln \(", "ln("),
        (" {2,}", " "),
        (" %", "%"),
        (_PER, "/"),
        (" ?\u2003 ?", "   "),
    ):
        text = re.sub(pattern, replacement, text)
    return text.strip()


class _Reader:
    """Reads LaTeX token by token and writes text."""

    def __init__(self, equation: str) -> None:
        self.tokens = [t.strip() or " " for t in _TOKEN.findall(equation)]
        self.index = 0

    def next(self) -> str:
        token = self.tokens[self.index] if self.index < len(self.tokens) else ""
        self.index += 1
        return token

    def skip_spaces(self) -> None:
        while self.tokens[self.index : self.index + 1] == [" "]:
            self.index += 1

    def group(self, end: str = "") -> str:
        text, in_cases = "", False
        while self.index < len(self.tokens):
            token = self.next()
            if token == end:
                break
            in_cases = token.startswith(r"\begin") or (in_cases and not token.startswith(r"\end"))
            text += self.read(token, in_cases=in_cases)
        return text

    def argument(self) -> str:
        self.skip_spaces()
        token = self.next()
        if token.isdigit():  # the half of \\tfrac12
            self.index -= len(token) > 1
            self.tokens[self.index - (len(token) == 1)] = token[1:] or token
            token = token[0]
        return self.group("}") if token == "{" else self.read(token)

    def read(self, token: str, *, in_cases: bool = False) -> str:
        name = token.lstrip("\\")
        if token in (r"\frac", r"\tfrac"):
            above, below = self.argument(), self.argument()
            return f"{_BEGIN}{_enclosed(above)} / {_enclosed(below)}{_END}"
        if token == r"\binom":
            return f"C({self.argument()}, {self.argument()})"
        if token == r"\sqrt":
            degree = ""
            if self.tokens[self.index : self.index + 1] == ["["]:
                self.next()
                degree = self.group("]")
            return f"{_ROOTS.get(degree, degree + '√')}({self.argument()})"
        if token in ("_", "^"):
            return self.script(token)
        if token == "{":
            return self.group("}")
        if token.startswith((r"\text{", r"\mathrm{")):
            words = token[token.index("{") + 1 : -1].replace(r"\mu ", "µ").replace(r"\%", "%")
            return (_TEXT if token.startswith(r"\text") else _UNIT) + words.replace("/", _PER)
        if token.startswith((r"\bar", r"\hat")):
            mark = "\u0304" if token.startswith(r"\bar") else "\u0302"
            return token[4:].strip(" {}").replace("\\", "") + mark
        if token == r"\begin{cases}":
            return "{ "
        if token == r"\end{cases}":
            return " }"
        if token == "&":
            return ": " if in_cases else ""
        if token == r"\\":
            return "; "
        if token in (r"\,", r"\;", r"\ "):
            return " "
        if token in (r"\{", r"\}", r"\%"):
            return name
        if token.startswith("\\"):
            return f"{_WORDS.get(name, name)}" + (
                " " if name in ("ln", "lor", "lnot", "bmod") else ""
            )
        return token

    def script(self, token: str) -> str:
        inner = self.argument().strip()
        if token == "^" and re.fullmatch(r"-?\d+", inner):
            return inner.translate(_POWERS)
        return token + (inner if re.fullmatch(r"[\w.*]+|\([^()]*\)", inner) else f"({inner})")


def _enclosed(text: str) -> str:
    text = text.strip()
    alone = r"[\d.]+(?: \x04[^\s()]+)?|[^\W\d][\w.\u0304\u0302⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*|[√∛∜]\([^()]*\)"
    return text if re.fullmatch(alone, text) else f"({text})"
