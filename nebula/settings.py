"""Every figure of the design once, typed, with its range and source; the profiles; reading and checking raw values.

Built at the door from `mind-config.json` and flags, passed down as one frozen object. Nothing here reads a file or the
environment. Sections and keys are those of spec 10.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, Literal, cast

from nebula.errors import BadValue, SettingsUnusable, UnknownSetting
from nebula.quick import dataclass
from nebula.rules import (
    CLOCK_TIME,
    FLAG,
    SHARE,
    TEXT,
    TEXT_MAP,
    TEXTS,
    WEIGHT,
    Rule,
    by_ledger,
    choice,
    number,
    numbers,
    whole,
)


def _figure(default: object, rule: Rule) -> Any:
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(cast("dict[str, object]", default)), metadata={"rule": rule})
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True)
class RecallSettings:
    """Spec 5: fusion and the factors after it; `tokens` and `lowercase` say how text is read by the routes."""

    fusion: Literal["scores", "ranks"] = _figure("scores", choice("scores", "ranks"))  # ranks: the original's
    k: float = _figure(12.0, number(0, 1_000_000))  # RRF constant, in ranks
    w_lexical: float = _figure(2.0, WEIGHT)
    w_dense: float = _figure(1.0, WEIGHT)
    w_graph: float = _figure(0.0, WEIGHT)  # 0: walks only to explain; no weight gained on two sets without a loss
    w_time: float = _figure(0.3, WEIGHT)  # written when the query says
    w_speaker: float = _figure(0.3, WEIGHT)  # spoken by whom the query names
    clauses: float = _figure(0.5, SHARE)  # of the dense score: the best sentence, beside the whole query
    before: float = _figure(0.3, SHARE)  # of the lexical score of the turn before in the same session
    after: float = _figure(0.2, SHARE)  # of the turn after
    k1: float = _figure(0.9, number(0, 10))  # BM25; notes are short: .9 and .4 beat 1.5 and .75 by .006
    b: float = _figure(0.4, SHARE)
    floor: float = _figure(1.1, number(0, 100))  # evidence below which nothing is remembered (see floor); 0: never
    w_emo: float = _figure(0.06, SHARE)  # never more than a nudge: LoCoMo F1 .168 against .271 as a channel
    freshness: float = _figure(0.1, SHARE)  # beta: more of it costs nDCG, less lets what was replaced stand first
    weight: float = _figure(0.01, SHARE)  # gamma, the power of w / 2; .05 cost madial_zh .012
    layer_weights: tuple[float, ...] = _figure((1.0,) * 5, numbers(5, 0, 1000))  # L0…L4: A only ranks, never hides
    ledger_weights: Mapping[str, float] = _figure({}, by_ledger(0, 1000))  # missing: 1.0
    tokens: Literal["full", "words"] = _figure(
        "full", choice("full", "words")
    )  # words and character 1-, 2-grams | jieba words alone
    lowercase: bool = _figure(True, FLAG)  # the vocabulary has no upper case: "GitHub" would be [UNK]
    second_encoder: str = _figure("", TEXT)  # one of `encoder list`, for what is mainly in Latin script
    second_share: float = _figure(0.5, SHARE)  # of the dense score, where both encoders know query and memory


@dataclass(frozen=True)
class GraphSettings:
    """Spec 4 and 5: the walk and the edge of meaning."""

    hops: int = _figure(8, whole(1, 64))
    d: float = _figure(0.5, number(0, 0.99))  # not .85: in a sparse graph a long walk is a random one
    min_cosine: float = _figure(0.62, number(-1, 1))


@dataclass(frozen=True)
class ForgettingSettings:
    """Spec 2 and 3: the power law and the thresholds of the layers."""

    half_base: float = _figure(30.0, number(0.01, 36_500))  # days
    half_base_by_ledger: Mapping[str, float] = _figure({}, by_ledger(0.01, 36_500))  # days
    half_imp: float = _figure(2.0, number(0, 1000))  # H grows by this share of itself per unit of importance
    hot: float = _figure(0.55, SHARE)
    warm: float = _figure(0.25, SHARE)
    deep: float = _figure(0.18, SHARE)


@dataclass(frozen=True)
class CaptureSettings:
    """Spec 6, synaptic tagging and capture."""

    below_imp: float = _figure(0.62, SHARE)
    hours: float = _figure(2.0, number(0, 8760))
    shared: int = _figure(2, whole(1, 8))  # keywords
    factor: float = _figure(1.12, number(0, 10))
    at_most: int = _figure(3, whole(0, 100))


@dataclass(frozen=True)
class SurfaceSettings:
    """Spec 6, the gates of surfacing."""

    relevance: float = _figure(0.75, number(-1, 1))  # cosine
    imp: float = _figure(0.7, SHARE)
    a: float = _figure(0.5, SHARE)
    cooldown_days: float = _figure(7.0, number(0, 36_500))
    per_session: int = _figure(1, whole(0, 1000))
    per_day: int = _figure(2, whole(0, 1000))


@dataclass(frozen=True)
class NightSettings:
    """Spec 6: when the consolidation runs, local time."""

    at: str = _figure("22:05", CLOCK_TIME)


@dataclass(frozen=True)
class YouSettings:
    """Spec 7: by which names a memory mentions you."""

    names: tuple[str, ...] = _figure(("你", "您", "you"), TEXTS)


@dataclass(frozen=True)
class MoodSettings:
    """Spec 7: where the mood comes from."""

    provider: str = _figure("builtin", choice("builtin", "file", "http"))
    file: str = _figure("", TEXT)
    map: Mapping[str, str] = _figure({}, TEXT_MAP)
    url: str = _figure("", TEXT)
    timeoutMs: int = _figure(800, whole(1, 60_000))  # noqa: N815 - the original's key, kept in its spelling
    remote: bool = _figure(False, FLAG)  # whether a source may be asked that is not on this machine
    press: float = _figure(0.01, SHARE)  # an hour, on the underlying positive dimensions while something is unresolved


@dataclass(frozen=True)
class SummarizerSettings:
    """Spec 10: the user's own command for digests; empty: the built-in extract."""

    command: str = _figure("", TEXT)


@dataclass(frozen=True)
class PrivacySettings:
    """What happens to keys, tokens, passwords and card numbers in what is to be remembered."""

    secrets: Literal["warn", "redact"] = _figure("warn", choice("warn", "redact"))


@dataclass(frozen=True)
class EchoSettings:
    """What happens to a text that the mind handed out itself and gets back (see echo)."""

    action: Literal["mark", "refuse", "off"] = _figure("mark", choice("mark", "refuse", "off"))
    hours: float = _figure(12.0, number(0, 8760))  # for texts of a few words, which may well be said once more


@dataclass(frozen=True)
class EmbeddingSettings:
    """Whose vectors serve the subjects: the bundled encoder's, a server's that speaks OpenAI's embeddings, nobody's."""

    provider: str = _figure("builtin", choice("builtin", "openai-compatible", "off"))
    baseURL: str = _figure("", TEXT)  # noqa: N815 - the keys as people know them from other programs
    model: str = _figure("", TEXT)
    dimensions: int = _figure(0, whole(0, 65_536))  # 0: not set
    timeoutMs: int = _figure(30_000, whole(1, 600_000))  # noqa: N815 - for one answer, as a whole
    allowHttp: bool = _figure(False, FLAG)  # noqa: N815 - whether the key may travel unencrypted to another machine
    keyFile: str = _figure("", TEXT)  # noqa: N815 - empty: embedding.key beside mind-config.json


@dataclass(frozen=True)
class PostgresSettings:
    """Where a mind in PostgreSQL is recalled: by this host's own index, or on the server (see postgres.serving)."""

    recall: Literal["auto", "host", "server"] = _figure("auto", choice("auto", "host", "server"))


@dataclass(frozen=True)
class Settings:
    """All settings of one mind. `profile` names a set of defaults; what a file or flag says goes above it."""

    profile: str = "default"
    recall: RecallSettings = RecallSettings()
    graph: GraphSettings = GraphSettings()
    forgetting: ForgettingSettings = ForgettingSettings()
    capture: CaptureSettings = CaptureSettings()
    surface: SurfaceSettings = SurfaceSettings()
    night: NightSettings = NightSettings()
    you: YouSettings = YouSettings()
    mood: MoodSettings = MoodSettings()
    summarizer: SummarizerSettings = SummarizerSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    privacy: PrivacySettings = PrivacySettings()
    echo: EchoSettings = EchoSettings()
    postgres: PostgresSettings = PostgresSettings()


#: What a profile sets differently from the defaults above.
PROFILES: Mapping[str, Mapping[str, object]] = {
    "default": {},
    "original": {
        "recall.fusion": "ranks",
        "recall.k": 12.0,
        "recall.w_lexical": 0.40,
        "recall.w_dense": 0.35,
        "recall.w_graph": 0.15,
        "recall.w_time": 0.0,
        "recall.w_speaker": 0.0,
        "recall.clauses": 0.0,
        "recall.before": 0.0,
        "recall.after": 0.0,
        "recall.k1": 1.5,
        "recall.b": 0.75,
        "recall.floor": 0.0,
        "recall.freshness": 1.0,
        "recall.weight": 0.0,
        "recall.tokens": "words",
        "recall.lowercase": False,
    },
}

#: The original's names at the top level of its file (spec 10).
ALIASES: Mapping[str, str] = {
    "w_bm25": "recall.w_lexical",
    "w_vec": "recall.w_dense",
    "w_graph": "recall.w_graph",
    "K": "recall.k",
    "A_hot": "forgetting.hot",
    "A_warm": "forgetting.warm",
    "A_deep": "forgetting.deep",
}


def _rules() -> dict[str, Rule]:
    rules = {"profile": choice(*PROFILES)}
    for section in fields(Settings):
        part = section.default
        if section.name != "profile":
            rules |= {f"{section.name}.{f.name}": f.metadata["rule"] for f in fields(cast("Any", part))}
    return rules


#: Every key, dotted, with the rule its value must obey.
RULES: Mapping[str, Rule] = _rules()
SECTIONS = tuple(section.name for section in fields(Settings) if section.name != "profile")


def flatten(settings: Settings) -> dict[str, object]:
    """Every key with its value, in the order of the spec."""
    flat: dict[str, object] = {}
    for key in RULES:
        section, _, name = key.partition(".")
        part = getattr(settings, section)
        flat[key] = getattr(part, name) if name else part
    return flat


def spread(raw: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """A settings object as it lies in a file -> ({dotted known key: raw value}, unknown keys); aliases resolved."""
    known: dict[str, object] = {}
    unknown: list[str] = []
    for name in sorted(raw, key=lambda name: name not in ALIASES):  # the key itself wins over its old name
        value = raw[name]
        key = ALIASES.get(name, name)
        if key in RULES:
            known[key] = value
        elif isinstance(value, Mapping) and any(rule.startswith(f"{name}.") for rule in RULES):
            for inner, inner_value in value.items():
                dotted = f"{name}.{inner}"
                if dotted in RULES:
                    known[dotted] = inner_value
                else:
                    unknown.append(dotted)
        elif name in SECTIONS:
            known[name] = value
        else:
            unknown.append(name)
    return known, unknown


def unknown(key: str) -> UnknownSetting:
    """The refusal of a key that does not exist, with those nearest to it."""
    import difflib

    return UnknownSetting(key, difflib.get_close_matches(key, RULES, n=3, cutoff=0.5))


def check(key: str, value: object) -> object:
    """The value in its type; raises BadValue with the key's name, UnknownSetting with the nearest names."""
    if key in SECTIONS:
        raise BadValue(key, value, "{…}")
    if key not in RULES:
        raise unknown(key)
    rule = RULES[key]
    try:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError
        return rule.read(value)
    except ValueError:
        raise BadValue(key, value, rule.expected) from None


def build(raw: Mapping[str, object] | None = None, overrides: Mapping[str, object] | None = None) -> Settings:
    """Default < profile < the file's object `raw` < `overrides` (dotted keys). Raises SettingsUnusable for the file."""
    known, _ = spread(raw or {})
    try:
        from_file = {key: check(key, value) for key, value in known.items()}
    except BadValue as bad:
        facts = {name: str(fact) for name, fact in bad.facts.items()}
        raise SettingsUnusable(None, facts["name"], f"{facts['value']} ≠ {facts['expected']}") from bad
    from_flags = {key: check(key, value) for key, value in (overrides or {}).items()}
    profile = str(from_flags.get("profile", from_file.get("profile", "default")))
    values = {**PROFILES[profile], **from_file, **from_flags, "profile": profile}
    return _assemble(values)


def _assemble(values: Mapping[str, object]) -> Settings:
    sections: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        if name:
            sections.setdefault(section, {})[name] = value
    base = Settings(profile=str(values["profile"]))
    parts = {name: replace(getattr(base, name), **inner) for name, inner in sections.items()}
    return replace(base, **parts)


def origin(key: str, raw: Mapping[str, object], overrides: Mapping[str, object]) -> str:
    """Which rule decided a key's value: flag, file, profile or default (ecosystem 4, row 15)."""
    known, _ = spread(raw)
    profile = str(overrides.get("profile", known.get("profile", "default")))
    if key in overrides:
        return "flag"
    if key in known:
        return "file"
    return "profile" if key in PROFILES.get(profile, {}) else "default"
