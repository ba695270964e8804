"""The task without a workspace of ../support/tasks.mjs, for the Python package."""

from perago import task
from pydantic import BaseModel


class Params(BaseModel):
    seed: str


class Result(BaseModel):
    seed: str


@task(name="perago_bench_noop_python", owner_email="bench@example.org")
def noop(params: Params) -> Result:
    return Result(seed=params.seed)
