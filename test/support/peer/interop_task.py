"""A task of the Python package: it appends a line to a file, or ends in the way it is told to.

One module may declare one task; its name, and where it looks for the files it waits for, come from the environment.
"""

import os
import time
from pathlib import Path
from typing import Literal

from perago import RetryPolicy, TaskControls, TaskTerminalError, TimeoutPolicy, WorkspaceSpec, require_file, task
from pydantic import BaseModel, Field


class Params(BaseModel):
    line: str
    file: str = "log.txt"
    ending: Literal["publish", "idle", "fail", "terminal", "post"] = "publish"
    tags: list[str] = []
    share: float = Field(default=0.5, ge=0, le=1)
    note: str | None = None
    #: Written when the body runs; it then waits for the other one, if it is the first attempt's.
    begun: str | None = None
    go: str | None = None


class Result(BaseModel):
    lines: int = Field(ge=0)


@task(
    name=os.environ["INTEROP_TASK_NAME"],
    owner_email="data@example.org",
    description="Appends a line.",
    workspace=WorkspaceSpec(
        prefix="shared",
        pre=[require_file("log.txt")],
        post=[require_file("log.txt")],
    ),
    controls=TaskControls(
        retry=RetryPolicy(count=2, delay_seconds=0),
        timeout=TimeoutPolicy(policy="RETRY", response_seconds=60),
    ),
)
def append(workspace: Path, params: Params) -> Result:
    path = workspace / params.file
    if params.begun is not None:
        Path(params.begun).write_text(str(os.getpid()), encoding="utf-8")
    while params.go is not None and not Path(params.go).exists():
        time.sleep(0.02)
    if params.ending == "fail":
        raise RuntimeError("told to fail")
    if params.ending == "terminal":
        raise TaskTerminalError("told to fail for good")
    if params.ending == "post":
        path.unlink()
        return Result(lines=0)
    if params.ending == "publish":
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(before + params.line + "\n", encoding="utf-8")
    return Result(lines=len(path.read_text(encoding="utf-8").splitlines()))
