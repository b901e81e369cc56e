"""The catalogues of the languages: every id of the English one, with the same values."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gaia_jax import RULESETS
from gaia_jax.language import LANGUAGES, fill_in, in_language, language, with_minus
from gaia_jax.render import help, names, say
from gaia_jax.render.texts import TEXTS, phrase
from gaia_jax.ruleset import VARIANTS
from tests.languages import FIXED

ROOT = Path(__file__).parents[2]
FOLDERS = [
    "gaia_jax/render",
    "gaia_jax/replay",
    "training/analysis",
    "training/play",
]  # with catalogues
OTHERS = [code for code in LANGUAGES if code != "en"]
# The same in every language: only icons, or names that are no words.
ICONS_ALONE = ("count.federation_tokens.short", "count.gaiaformers.short", "effect.RESEARCH.short")
HANGUL = range(ord("가"), ord("힣") + 1)


def leaves(texts: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text by its path."""
    if isinstance(texts, str):
        yield path, texts
    elif isinstance(texts, list):
        for number, text in enumerate(texts):
            yield f"{path}.{number}", text
    else:
        for key, value in texts.items():
            if key not in FIXED:
                yield from leaves(value, f"{path}.{key}".lstrip("."))


def raw(folder: str, code: str) -> dict[str, str]:
    """The texts that the file of a language has itself."""
    name = "texts.toml" if code == "en" else f"texts.{code}.toml"
    return dict(leaves(tomllib.loads((ROOT / folder / name).read_text("utf-8"))))


def values_of(text: str) -> set[str]:
    """The values that a text needs; a particle or a plural needs none of its own."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("code", OTHERS)
def test_every_id_has_a_text_with_the_same_values(folder, code):
    english, other = raw(folder, "en"), raw(folder, code)
    missing = english.keys() - other.keys() - {*ICONS_ALONE}
    assert not missing
    # Only names of factions and short names of tracks are further ids.
    further = other.keys() - english.keys()
    assert {path.split(".")[0] for path in further} <= {"faction", "track_short"}
    for path in english.keys() & other.keys():
        if path.split(".")[-1] in ("face", "short"):
            continue  # lines of icons
        article = {"the", "structure"} if "structure" in path else set()
        assert values_of(other[path]) <= values_of(english[path]) | article, path


@pytest.mark.parametrize("code", OTHERS)
def test_every_piece_of_the_engine_has_its_own_name(code):
    """Tiles, actions and the others, named by what they do, differ from the English ones."""
    alike = {"ship", "faction"} if code == "de" else set()
    for ruleset in RULESETS.values():
        english = names(ruleset)
        with in_language(code):
            other = names(ruleset)
            assert help.pages(ruleset, ruleset.factions).keys()
        assert other.keys() == english.keys()
        for kind in other:
            assert other[kind].keys() == english[kind].keys()
            if kind in alike:
                continue
            for id, text in other[kind].items():
                same = text == english[kind][id]
                # "QIC" and names such as "Mine", "Terraforming" are the same in German.
                assert not same or (code == "de" and len(text.split()) < 3), (kind, id, text)


@pytest.mark.parametrize("code", LANGUAGES)
def test_sheets_of_factions_have_no_ids_of_ships_and_home_planets(code):
    rules = VARIANTS["lost_fleet_published", 2]
    with in_language(code):
        sheets, ship = help.pages(rules, rules.factions), names(rules)["ship"]["TF_MARS"]
    moweyds, lantids = (" ".join(sheets[id]["lines"]) for id in ("MOWEYDS", "LANTIDS"))
    assert ship in moweyds and "TF_MARS" not in moweyds
    assert "Blue" not in lantids


def test_korean_has_no_english_words_besides_abbreviations():
    ruleset = RULESETS["lost_fleet"]
    with in_language("ko"):
        sentences = [text for entry in help.rules_in_brief(ruleset) for text in entry[1]]
        sentences += [say(ruleset, text) for text in ruleset.actions.texts]
    for sentence in sentences:
        words = {word.strip(",.:;()") for word in sentence.split()}
        latin = {word for word in words if word.isascii() and word.isalpha()}
        assert latin <= {"QIC", "TF", "A", "B", "I", "II", "III", "G"}, sentence


def test_a_number_chooses_its_noun_and_a_name_its_particle():
    assert fill_in("{n} {n:token|tokens}", n=1) == "1 token"
    assert fill_in("{n} {n:token|tokens}", n=0) == "0 tokens"
    assert fill_in("{name}{name:이|가}", name="테란") == "테란이"
    assert fill_in("{name}{name:이|가}", name="란티다") == "란티다가"
    assert fill_in("{name}{name:을|를}", name="라운드 6") == "라운드 6을"


def test_pages_have_minus_signs():
    assert with_minus("-2 credits, +mine (-1 to 2)") == "\u22122 credits, +mine (\u22121 to 2)"
    assert with_minus("-크레딧 6, -광석 2") == "\u2212크레딧 6, \u2212광석 2"
    assert with_minus("free-text 0,-3 - 4") == "free-text 0,-3 - 4"


def test_a_language_ends_with_its_block():
    with in_language("de"):
        assert phrase("round", n=2) == "Runde 2"
        with in_language("ko"):
            assert phrase("round", n=2) == "라운드 2"
        assert language() == "de"
    assert phrase("round", n=2) == "Round 2"
    with pytest.raises(KeyError, match="fr"), in_language("fr"):
        pass
    rulings = set()
    for code in LANGUAGES:
        with in_language(code):
            rulings.add(TEXTS["help"]["tile"]["rulings"])
    assert len(rulings) == 1
