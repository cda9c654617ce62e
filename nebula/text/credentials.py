"""Keys, tokens, passwords and card numbers in a text: rules by published forms, checksums where a form has one.

The forms are those that the issuers document and that public scanners (gitleaks, detect-secrets, GitHub's secret
scanning) look for. A rule is tried only where one of the words that it needs stands in the text, so that a plain note
costs a few searches. Pure; the texts are never logged.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Rule:
    """A kind of secret: the form, words of which one must be there (lower case), and what else must hold of it.

    A form's group `secret`, where it has one, is the secret; else all of it is.
    """

    kind: str
    needs: tuple[str, ...]
    form: str
    holds: Callable[[str], bool] = bool


@dataclass(frozen=True)
class Found:
    """A secret in a text: its kind, and from where to where it stands."""

    kind: str
    start: int
    end: int


def entropy(text: str) -> float:
    """Shannon's entropy of a text's characters, in bits a character; 0 for none. `abab` has 1."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


def luhn(number: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1): 4111 1111 1111 1111 does."""
    digits = [int(digit) for digit in number if digit.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


_ISSUERS = (
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|2720\d{12}|3[47]\d{13}"
    r"|62\d{14,17}|6(?:011|5\d\d|4[4-9]\d)\d{12,15}|35(?:2[89]|[3-8]\d)\d{12,15}|3(?:0[0-5]|[68]\d)\d{11}"
)


def is_card(text: str) -> bool:
    """A payment card: an issuer's range and length, and Luhn's digit; not one digit over and over."""
    digits = re.sub(r"\D", "", text)
    return re.fullmatch(_ISSUERS, digits) is not None and luhn(digits) and len(set(digits)) > 1


def is_resident_id(text: str) -> bool:
    """A Chinese resident identity number: 17 digits checked by the 18th (GB 11643, ISO 7064 mod 11-2)."""
    weights = [pow(2, 17 - place, 11) for place in range(17)]
    rest = sum(int(digit) * weight for digit, weight in zip(text[:17], weights, strict=True)) % 11
    return "10X98765432"[rest] == text[17].upper()


def is_iban(text: str) -> bool:
    """An account number whose two check digits hold (ISO 13616, mod 97)."""
    plain = text.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def is_drawn(text: str) -> bool:
    """Whether characters look drawn and not written: 20 or more at 3 bits a character and more."""
    return len(text) >= 20 and entropy(text) >= 3.0


def is_key(text: str) -> bool:
    """Whether characters look drawn and there is a digit among them: words joined by dashes have none."""
    return is_drawn(text) and any(map(str.isdigit, text))


def is_password(text: str) -> bool:
    """What stands after `password:` and is no word: letters with digits or signs, at 2 bits a character and more."""
    mixed = any(c.isalpha() for c in text) and any(not c.isalpha() for c in text)
    return text.isascii() and mixed and entropy(text) >= 2.0 and not text.startswith(("<", "$", "{", "["))


_DIGITS = ("\0digits",)  # needed of a text: many digits
_NAMES = (
    r"api[_ -]?key|secret[_ -]?key|access[_ -]?key|access[_ -]?token|auth[_ -]?token|client[_ -]?secret"
    r"|secret|token|passphrase|password|passwd|pwd|密码|口令|密钥|令牌"
)
RULES: Sequence[Rule] = (
    Rule(
        "private-key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|\Z)",
    ),
    Rule("age-key", ("age-secret-key-1",), r"\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}\b"),
    Rule("aws-key", ("akia", "asia", "abia", "acca"), r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{50,255})\b",
    ),
    Rule("gitlab-token", ("glpat-", "gldt-", "glrt-"), r"\bgl(?:pat|dt|rt)-[\w-]{20,}"),
    Rule(
        "slack-token", ("xox", "hooks.slack"), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/[\w/]{30,}"
    ),
    Rule("stripe-key", ("k_live_", "k_test_"), r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b"),
    Rule("google-key", ("aiza", "gocspx-", "ya29."), r"\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,})"),
    Rule("api-key", ("sk-",), r"(?<![\w-])sk-[A-Za-z0-9_-]{20,}", is_key),
    Rule("huggingface-token", ("hf_",), r"\bhf_[A-Za-z0-9]{30,}\b", is_drawn),
    Rule("npm-token", ("npm_",), r"\bnpm_[A-Za-z0-9]{36}\b"),
    Rule("pypi-token", ("pypi-age",), r"\bpypi-AgE[\w-]{50,}"),
    Rule("sendgrid-key", ("sg.",), r"\bSG\.[\w-]{22}\.[\w-]{43}"),
    Rule("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    Rule("shopify-token", ("shp",), r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    Rule("aliyun-key", ("ltai",), r"\bLTAI[A-Za-z0-9]{12,26}\b"),
    Rule("tencent-key", ("akid",), r"\bAKID[A-Za-z0-9]{32}\b"),
    Rule("telegram-token", (":aa",), r"\b\d{8,10}:AA[\w-]{33}\b"),
    Rule("jwt", ("eyj",), r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    Rule("url-password", ("://",), r"\b[a-zA-Z][\w+.-]*://[^\s:/@]+:(?P<secret>[^\s:/@]{3,})@"),
    Rule("bearer-token", ("bearer",), r"(?i:\bbearer)\s+(?P<secret>[\w.~+/-]{20,}=*)", is_drawn),
    Rule(
        "password",
        ("key", "secret", "token", "pass", "pwd", "密码", "口令", "密钥", "令牌"),
        rf"(?i:{_NAMES})[\"'”」]?\s*(?:[:=：＝]|是|为|\bis\b)\s*[\"'“「]?"
        r"(?P<secret>[!-~]{6,}?)(?=[\"'”」，。；、,;]|\s|[^ -~]|$)",
        is_password,
    ),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    Rule("password", ("curl",), r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:(?P<secret>[^\s\"']{3,})"),
    Rule(
        "pin",
        ("密码", "口令", "pin", "passcode"),
        r"(?:(?:密码|口令)\s*(?:[:=：＝]|是|为)?|(?i:\bPIN(?: code)?|\bpasscode)\s*(?:[:=：＝]|是|为|\bis\b))\s*"
        r"(?P<secret>\d{4,12})(?![\d年月])",
    ),
    Rule("card", _DIGITS, r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d.-]?\d)", is_card),
    # beside another number, such as the three digits of its back or a telephone: as it is printed, or without blanks
    Rule(
        "card",
        _DIGITS,
        r"(?<![\d.-])(?=(?P<secret>\d{4}([ -])\d{4}\2\d{4}\2\d{4}|\d{4}([ -])\d{6}\3\d{4,5}|\d{13,19})(?![.-]?\d))",
        is_card,
    ),
    Rule(
        "resident-id",
        _DIGITS,
        r"(?<!\d)[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])[0-3]\d{4}[\dXx](?![\dA-Za-z])",
        is_resident_id,
    ),
    Rule("iban", _DIGITS, r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", is_iban),
)


#: Full-width letters, digits and signs (U+FF01 to U+FF5E), as an input method writes them, to plain ones.
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code - 0xFEE0).isalnum()}


def find(text: str) -> list[Found]:
    """Every secret in a text, in order; where two overlap the earlier rule's. Full-width is read as plain."""
    text = text.translate(_NARROW)
    folded = text.lower()
    digits = sum(map(str.isdigit, text)) >= 13
    found: list[Found] = []
    for rule in RULES:
        if not (digits if rule.needs is _DIGITS else any(word in folded for word in rule.needs)):
            continue
        for match in _form(rule).finditer(text):
            group = "secret" if "secret" in match.groupdict() else 0
            start, end = match.span(group)
            free = all(end <= other.start or start >= other.end for other in found)
            if free and rule.holds(match[group]):
                found.append(Found(rule.kind, start, end))
    return sorted(found, key=lambda one: one.start)


@cache
def _form(rule: Rule) -> re.Pattern[str]:
    return re.compile(rule.form, re.ASCII)  # a Han character beside a key is a boundary


def mask(text: str, found: Sequence[Found]) -> str:
    """The text with a mark in the place of each secret, which says its kind and nothing of itself."""
    for one in reversed(found):
        text = f"{text[: one.start]}[▇▇ {one.kind}]{text[one.end :]}"
    return text
