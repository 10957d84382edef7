"""The texts of panels and lessons in the reader's language, by one catalogue (gettext).

The English text in the code is the key of its translation; what is not translated stays English.
Panels and lessons are shown in the language of :func:`choose`, everything else (the command line,
JSON, saved files that a program reads) in English: :func:`phrase` translates only after
:func:`use`. Numbers keep SI units and the decimal point in every language.

>>> phrase("{size} over ten links", size="552 B")
'552 B over ten links'
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

ENGLISH = "en"
VARIABLES = ("NETCALC_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Environment variables that say the language; the first one that is set decides."""
PANELS, NOTEBOOKS = "netcalc", "lessons"
"""The two domains: texts of the program, and paragraphs of the notebooks."""
LOCALE = f"{__path__[0]}/locale"  # text, as an answer of the command loads no pathlib
_PLAIN = ("c", "posix")
_SIMPLIFIED = ("zh", "zh_sg", "zh_hans")
"""Names of Chinese in simplified characters; that of Taiwan and Hong Kong is another text."""

_lookup: Callable[[str], str] | None = None
_language = ENGLISH
_lock = threading.Lock()


def phrase(template: str, /, **values: Any) -> str:
    """Return a text in the chosen language, with its values put in.

    Parameters
    ----------
    template : str
        The English text, whole sentences where possible; values are fields: ``{rate}``,
        ``{share:.0%}``.
    **values
        The values of its fields. Without any, braces in the text stay.

    Returns
    -------
    str
        The text; in English where it has no translation.
    """
    text = _lookup(template) if _lookup is not None and template else template
    return text.format(**values) if values else text


def term(name: str) -> str:
    """Return a text unchanged, and mark it for the catalogue: it is translated where it is shown.

    Names of curves are the keys of their columns, too, and stay English in the code.
    """
    return name


def known() -> list[str]:
    """Return the codes of the languages: English, and those that have a catalogue.

    Examples
    --------
    >>> known()
    ['de', 'en', 'zh_CN']
    """
    with os.scandir(LOCALE) as entries:
        return sorted({ENGLISH, *(entry.name for entry in entries if entry.is_dir())})


def current() -> str:
    """Return the code of the language in which texts are shown now."""
    return _language


def use(language: str) -> None:
    """Show texts in a language from now on.

    Parameters
    ----------
    language : str
        One of :func:`known`; any other is shown in English.
    """
    global _lookup, _language
    with _lock:
        translate = catalogue(language)
        _lookup, _language = translate, ENGLISH if translate is None else language


def use_lookup(lookup: Callable[[str], str] | None) -> None:
    """Show what a function makes of each text: for tests that every text is asked for."""
    global _lookup, _language
    with _lock:
        _lookup, _language = lookup, ENGLISH


def catalogue(language: str, domain: str = PANELS) -> Callable[[str], str] | None:
    """Return the function that translates a text; None for English, or without a catalogue."""
    if language == ENGLISH or language not in known():
        return None
    import gettext  # late: the command line asks for no language

    try:
        return gettext.translation(domain, LOCALE, [language]).gettext
    except OSError:
        return None


def choose(environment: Mapping[str, str] | None = None) -> str:
    """Return the language that the environment asks for.

    Parameters
    ----------
    environment : mapping of str to str, optional
        By default that of this process.

    Returns
    -------
    str
        One of :func:`known`. The first of ``NETCALC_LANGUAGE``, ``LANGUAGE``, ``LC_ALL``,
        ``LC_MESSAGES`` and ``LANG`` that is set decides; English if it names no known language.

    Examples
    --------
    >>> choose({"LANG": "de_AT.UTF-8"}), choose({"LANGUAGE": "fi:zh_CN"}), choose({"LANG": "fi_FI"})
    ('de', 'zh_CN', 'en')
    >>> choose({"NETCALC_LANGUAGE": "en", "LANG": "de_DE.UTF-8"})
    'en'
    >>> choose({"LANG": "zh_SG.UTF-8"}), choose({"LANG": "zh-Hans"}), choose({"LANG": "zh_TW"})
    ('zh_CN', 'zh_CN', 'en')
    """
    variables = os.environ if environment is None else environment
    asked = next((variables[name] for name in VARIABLES if variables.get(name)), "")
    codes = {code.casefold(): code for code in known()}
    for code_asked in asked.split(":"):
        name = code_asked.partition(".")[0].partition("@")[0].replace("-", "_").casefold()
        plain = name.partition("_")[0]
        if name in _SIMPLIFIED or name.startswith("zh_hans_"):
            name = "zh_cn"
        if name in _PLAIN:
            return ENGLISH
        if name in codes or plain in codes:
            return codes[name if name in codes else plain]
    return ENGLISH
