"""Pseudo-languages: catalogues whose texts are marked or longer, to find what is not in a catalogue
and what does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from gaia_jax import language

# A template's text between its values, `{n:token|tokens}` among them.
_PARTS = re.compile(r"(\{\{.*?\}\}|\{[^{}]*\})")
_LETTERS = re.compile(r"[^\W\d_]")
LONGER = 1.4
# Keys that are not text, or that no language but English has to change.
FIXED = ("rulings", "kind", "letter", "icon")
# What stays as it is: agents and records by their names, languages, keys, rulings, dates, bowls.
NAMES = re.compile(
    r"zoo/.*|random|greedy|Shipped: .*|lost_fleet|marked|longer|English|Deutsch|한국어|Home|End|u|n"
    r"|\. \[([A-Z]+-?\d+(, )?)+\]|q,r|[x\d\s/+:,.()-]*|(I|II|III|G|\d)+"
    r"|[, ]*[A-Z][a-z]{2} \d+, \d{4}, \d+:\d\d [AP]M"
)
# Visible texts and labels of a page, without the marked parts, that still have letters.
UNMARKED = r"""() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    // A face has its text around icons.
    const face = node.parentElement.closest(".piece");
    if (node.parentElement.closest("script, style, textarea, svg")) continue;
    texts.push((face || node).textContent);
  }
  const names = ["aria-label", "title", "placeholder", "alt", "data-words"];
  for (const item of document.querySelectorAll("*")) {
    // The titles of choices are the texts of actions.
    const isAction = item.matches("[data-text], [data-hint], .bar, .candidates tr");
    for (const name of names) {
      const has = item.hasAttribute(name) && !(isAction && name === "title");
      if (has) texts.push(item.getAttribute(name));
    }
  }
  let rest = texts.map((text) => text.trim()).filter(Boolean);
  for (let n = 0; n < 8; n += 1) rest = rest.map((text) => text.replace(/⟦[^⟦⟧]*⟧/g, ""));
  // A part of a text around an icon still has one bracket.
  return [...new Set(rest.filter((text) => /\p{L}/u.test(text) && !/[⟦⟧]/.test(text)))];
}"""


def marked(text: str) -> str:
    """A text in brackets."""
    return f"⟦{text}⟧"


def longer(text: str) -> str:
    """A text with 40 % more letters, the values left alone; icons too."""
    parts = _PARTS.split(text)
    letters = sum(len(_LETTERS.findall(part)) for part in parts[::2])
    more = round((LONGER - 1) * letters)
    return text.rstrip() + "a" * more + text[len(text.rstrip()) :]


def _changed(texts: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(texts, dict):
        return {k: v if k in FIXED else _changed(v, change, k) for k, v in texts.items()}
    if isinstance(texts, list):
        return [_changed(text, change) for text in texts]
    return change(texts)


def use_pseudo(patch: pytest.MonkeyPatch, change: Callable[[str], str], *modules: Any) -> str:
    """A pseudo-language made of the English texts by `change`, until the test ends; its code.

    Args:
        modules: those that read catalogues, besides `gaia_jax.render.texts`.
    """
    from gaia_jax.render import texts

    code = change.__name__
    patch.setitem(language.LANGUAGES, code, code)
    original = texts.read_catalogue  # that of a pseudo-language made before

    def read(folder: Any, language_code: str) -> dict[str, Any]:
        if language_code != code:
            return original(folder, language_code)
        catalogue: dict[str, Any] = _changed(original(folder, language.ENGLISH), change)
        return catalogue

    for module in (texts, *modules):
        patch.setattr(module, "read_catalogue", read)
    return code


def left_out(page: Any, factions: list[str]) -> set[str]:
    """The texts of a page in the language `marked` that are in no catalogue."""
    names = re.compile(
        "|".join(re.escape(name) for name in sorted(factions, key=len, reverse=True))
    )
    rest = {names.sub("", text) for text in page.evaluate(UNMARKED)}
    return {text for text in rest if not NAMES.fullmatch(text)}
