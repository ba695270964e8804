"""The contents of files, as ../support/contents.mjs has them."""

import hashlib


def path_of(index: int) -> str:
    return f"d{index // 100:04d}/f{index:06d}.txt"


def content_of(seed: str, path: str, size_bytes: int) -> bytes:
    line = hashlib.sha256(f"{seed}:{path}".encode()).hexdigest().encode() + b"\n"
    return (line * (size_bytes // len(line) + 1))[:size_bytes]
