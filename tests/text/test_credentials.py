"""Keys, tokens and card numbers: each rule finds its form, its checksum tells it from what only looks so."""

from __future__ import annotations

import itertools
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.text import credentials

DRAW = random.Random(7)


def drawn(count: int, letters: str = string.ascii_letters + string.digits) -> str:
    """Characters as a key has them; put together here, so that no key stands in this file."""
    return "".join(DRAW.choices(letters, k=count))


AZURE = f"{drawn(86)}=="
BASE32 = string.ascii_uppercase + "234567"
#: One of each kind, or of each form of a kind.
SECRETS = [
    ("private-key", f"-----BEGIN RSA PRIVATE KEY-----\n{drawn(64)}\n-----END RSA PRIVATE KEY-----"),
    ("age-key", f"AGE-SECRET-KEY-1{drawn(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}"),
    ("aws-key", f"AKIA{drawn(16, BASE32)}"),
    ("github-token", f"ghp_{drawn(36)}"),
    ("github-token", f"github_pat_{drawn(22)}_{drawn(59)}"),
    ("gitlab-token", f"glpat-{drawn(20)}"),
    ("slack-token", f"xoxb-{drawn(12, string.digits)}-{drawn(24)}"),
    ("stripe-key", f"sk_live_{drawn(24)}"),
    ("google-key", f"AIza{drawn(35)}"),
    ("api-key", f"sk-proj-{drawn(48)}"),
    ("api-key", f"sk-ant-api03-{drawn(80)}"),
    ("huggingface-token", f"hf_{drawn(34)}"),
    ("npm-token", f"npm_{drawn(36)}"),
    ("pypi-token", f"pypi-AgEIcHlwaS5vcmc{drawn(60)}"),
    ("sendgrid-key", f"SG.{drawn(22)}.{drawn(43)}"),
    ("digitalocean-token", f"dop_v1_{drawn(64, '0123456789abcdef')}"),
    ("shopify-token", f"shpat_{drawn(32, '0123456789abcdef')}"),
    ("aliyun-key", f"LTAI{drawn(20)}"),
    ("tencent-key", f"AKID{drawn(32)}"),
    ("telegram-token", f"123456789:AA{drawn(33)}"),
    ("jwt", f"eyJ{drawn(20)}.eyJ{drawn(40)}.{drawn(43)}"),
    ("card", "4111 1111 1111 1111"),
    ("card", "5555-5555-5555-4444"),
    ("card", "378282246310005"),
    ("card", "6200000000000005"),
    ("resident-id", "11010519491231002X"),
    ("card", "４１１１１１１１１１１１１１１１"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize("around", ["{}", "她把{}写在便条上，", "the key is {} today", "「{}」"])
def test_each_form_is_found_and_masked(kind: str, secret: str, around: str) -> None:
    """In Chinese without blanks, in English, in quotes: found whole, and nothing of it stays in the mask."""
    text = around.format(secret)
    found = credentials.find(text)
    assert [(one.kind, text[one.start : one.end]) for one in found] == [(kind, secret)]
    assert credentials.mask(text, found) == around.format(f"[▇▇ {kind}]")


@pytest.mark.parametrize(
    "card", ["4111 1111 1111 1111", "5555-5555-5555-4444", "3782 822463 10005", "4111111111111111"]
)
@pytest.mark.parametrize("around", ["{} 123", "13800138000 {}", "单号 20261203 {} 12/28 123", "{} {}", "2026 {}，12"])
def test_a_card_beside_another_number(card: str, around: str) -> None:
    text = around.replace("{}", card)
    found = credentials.find(text)
    assert {(one.kind, text[one.start : one.end]) for one in found} == {("card", card)}
    assert len(found) == around.count("{}")


def test_a_private_key_that_is_cut_goes_to_the_end() -> None:
    text = f"看：-----BEGIN OPENSSH PRIVATE KEY-----\n{drawn(64)}\n{drawn(30)}"
    assert credentials.mask(text, credentials.find(text)) == "看：[▇▇ private-key]"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("密码是hunter2x，别告诉别人", "hunter2x"),
        ("wifi 密码：Abc-12345", "Abc-12345"),
        ('password="tr0ub4dor&3"', "tr0ub4dor&3"),
        ("api_key = 9f86d081884c7d65", "9f86d081884c7d65"),
        ("https://example.org/?token=abc123def456", "abc123def456"),
        ("postgres://me:s3cr3t@db/x", "s3cr3t"),
        ("curl -u admin:S3cr3tP@ss https://example.org", "S3cr3tP@ss"),
        (f"AccountKey={AZURE};Endpoint=x", AZURE),
        ("银行卡密码 839201，别写下来", "839201"),
        ("wifi密码是 12345678", "12345678"),
        ("the PIN is 4821", "4821"),
        ("Authorization: Bearer 7Jq2mZr9XwT4kLp0VbN8sD", "7Jq2mZr9XwT4kLp0VbN8sD"),
    ],
)
def test_what_is_called_a_password_is_one(text: str, secret: str) -> None:
    assert [text[one.start : one.end] for one in credentials.find(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "今天 2026-12-02 打电话 13800138000",
        "订单号 1234567890123456",
        "4111 1111 1111 1112",
        "1111111111111111",
        "11010519491231002Y 110105194912310021",
        "DE89 3704 0044 0532 0130 01",
        "密码: 明天再说",
        "密码2026年改过，口令 3 次输错",
        "spinning 1234, PIN the note of 2024",
        "sk-learn, and sk-something-very-nice-name-here",
        "ISBN 978-7-02-000220-7，座机 010-62345678，会议号 123 456 789",
        "the password is correct horse battery",
        "token: aaaaaaaa",
        "sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "task-force-one-hundred-and-twenty",
        "uid a2e317bfaf76905a",
        "commit 7d365c5f1b2c9a4e8d7f6a5b4c3d2e1f0a9b8c7d",
        "π ≈ 3.14159265358979323846",
        "https://example.org/a/b?c=d",
        "AKIA 是一家店",
    ],
)
def test_what_only_looks_so_is_left_alone(text: str) -> None:
    """Numbers without the right check digit, words, dates, hashes."""
    assert credentials.find(text) == []


@given(st.from_regex(r"[1-9][0-9]{14}", fullmatch=True))
def test_luhn_accepts_one_check_digit_of_ten(number: str) -> None:
    assert sum(credentials.luhn(f"{number}{digit}") for digit in range(10)) == 1


@given(st.text(max_size=300))
def test_any_text_is_read_and_masked_once(text: str) -> None:
    """Never an error; what is found lies in order and apart."""
    found = credentials.find(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert credentials.mask(text, []) == text


def test_a_long_text_takes_no_time() -> None:
    """No form runs away on repetition."""
    for piece in ("password ", "sk-", "4 ", "eyJ.", "a:/", "-----BEGIN PRIVATE KEY", "://a:", "DE89 "):
        credentials.find(piece * 20_000)
