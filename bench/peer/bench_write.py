"""The writing task of ../support/tasks.mjs, for the Python package."""

from pathlib import Path
from typing import Literal

from contents import content_of, path_of
from perago import WorkspaceSpec, task
from pydantic import BaseModel

PATCH_BYTES = 1024 * 1024


class Params(BaseModel):
    change: Literal["one", "all", "patch", "none"]
    seed: str
    files: int
    sizeBytes: int


class Result(BaseModel):
    files: int


@task(
    name="perago_bench_write_python",
    owner_email="bench@example.org",
    workspace=WorkspaceSpec(prefix="data"),
)
def write(workspace: Path, params: Params) -> Result:
    count = {"all": params.files, "one": 1}.get(params.change, 0)
    for index in range(count):
        path = path_of(index)
        (workspace / path).write_bytes(content_of(params.seed, path, params.sizeBytes))
    if params.change == "patch":
        path = path_of(0)
        with (workspace / path).open("r+b") as file:
            file.write(content_of(params.seed, path, PATCH_BYTES))
    return Result(files=count)
