"""The writing task of ../support/tasks.mjs, for the Python package."""

from pathlib import Path
from typing import Literal

from contents import changed_by, content_of, path_of
from perago import WorkspaceSpec, task
from pydantic import BaseModel

PATCH_BYTES = 1024 * 1024


class Params(BaseModel):
    change: Literal["one", "some", "all", "last", "patch", "none"]
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
    changed = changed_by(params.change, params.files)
    for path in map(path_of, changed):
        if params.change == "patch":
            with (workspace / path).open("r+b") as file:
                file.write(content_of(params.seed, path, PATCH_BYTES))
        else:
            (workspace / path).write_bytes(content_of(params.seed, path, params.sizeBytes))
    return Result(files=len(changed))
