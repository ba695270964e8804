"""The reading task of ../support/tasks.mjs, for the Python package."""

from pathlib import Path

from bench_write import Params, Result
from perago import WorkspaceSpec, task


@task(
    name="perago_bench_read_python",
    owner_email="bench@example.org",
    workspace=WorkspaceSpec(prefix="data", read_only=True),
)
def read(workspace: Path, params: Params) -> Result:
    return Result(files=sum(1 for path in workspace.rglob("*") if path.is_file()))
