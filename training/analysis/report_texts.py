"""The texts of the pages of reviews and advice, in the language in use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources

from gaia_jax.language import LANGUAGES, fill_in, language, read_catalogue, with_texts
from gaia_jax.replay import page as replay_page

STATIC = resources.files(str(__package__)).joinpath("static")


@cache
def _catalogue(code: str) -> dict[str, str]:
    texts: dict[str, str] = read_catalogue(resources.files(str(__package__)), code)["report"]
    return texts


def report_texts() -> Mapping[str, str]:
    """The texts by id."""
    return _catalogue(language())


def phrase(id: str, **values: object) -> str:
    """A text with its values; KeyError for an unknown id or value."""
    return fill_in(report_texts()[id], **values)


def number(value: float | None, form: str = ".1f") -> str:
    """A number in a format, with the decimal point of the language; "-" for None."""
    return "-" if value is None else format(value, form).replace(".", phrase("decimal-point"))


def percent(share: float) -> str:
    """A share as a whole percentage."""
    return phrase("percent", n=f"{100 * share:.0f}")


def interval(low: str, high: str) -> str:
    """An interval from its limits."""
    return phrase("interval", low=low, high=high)


def static(name: str) -> str:
    """The contents of a file of `static`."""
    return STATIC.joinpath(name).read_text("utf-8")


def _language_links(is_served: bool) -> str:
    """The page in the other languages, as HTML; "" unless a server makes the page."""
    if not is_served:
        return ""
    links = (
        f'<a href="?lang={code}" lang="{code}">{escape(name)}</a>'
        for code, name in LANGUAGES.items()
        if code != language()
    )
    return f'<nav aria-label="{escape(phrase("language-label"))}">{" ".join(links)}</nav>'


def filled_page(name: str, fills: Mapping[str, str], is_served: bool) -> str:
    """A page of `static` in the language in use, with its style and links to other languages.

    Args:
        name: of its template, with `{{id}}` for texts and `{name}` for `fills`, which are HTML.
        is_served: whether a server makes the page, in other languages too.
    """
    template = with_texts(static(f"{name}.html"), report_texts())
    own = {"own": static(f"{name}.css"), "languages": _language_links(is_served)}
    return replay_page.filled(template, {**fills, **own})
