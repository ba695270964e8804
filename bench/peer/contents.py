"""The contents of files, as ../support/contents.mjs has them."""

import hashlib

SOME = 25


def path_of(index: int) -> str:
    return f"d{index // 100:04d}/f{index:06d}.txt"


def changed_by(change: str, files: int) -> list[int]:
    if change == "last":
        return [files - 1]
    count = {"one": 1, "patch": 1, "some": SOME, "all": files}.get(change, 0)
    return [index * files // count if change == "some" else index for index in range(count)]


def content_of(seed: str, path: str, size_bytes: int) -> bytes:
    line = hashlib.sha256(f"{seed}:{path}".encode()).hexdigest().encode() + b"\n"
    return (line * (size_bytes // len(line) + 1))[:size_bytes]
