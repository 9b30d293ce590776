# mlsub in a container: docker run --rm -v "$PWD:/work:ro" mlsub check .
FROM python:3.12-slim AS build
WORKDIR /src
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY mlsub mlsub
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[tables]'

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index /wheels/*.whl \
    && python -m mlsub.io.data \
    && useradd --create-home --uid 1000 mlsub
USER 1000
WORKDIR /work
ENTRYPOINT ["mlsub"]
CMD ["--help"]
