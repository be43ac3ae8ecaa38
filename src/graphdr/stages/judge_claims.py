"""Judge every claim of the paper by what was measured."""

from graphdr.cache import io
from graphdr.core.atomic import write_text
from graphdr.paper import claims, reference


def main(input, output, params):
    words = reference.claims(io.noted(input.paper))
    experiments = {name: io.read_frame("measurements", paths) for name, paths in input.measurements.items()}
    evaluations = {name: io.read_frame("measurements", [path]) for name, path in input.evaluations.items()}
    table = claims.tidy(experiments, evaluations, params.problems)
    other = [dataset for dataset, marks in io.marks().items() if set(marks) & set(params.other)]
    judged = claims.judge_all(words, params.claims, table, other, output.md)
    io.write("claims", judged, output.parquet)
    write_text(claims.markdown(judged), output.md)
    print(judged["verdict"].value_counts().to_string())
