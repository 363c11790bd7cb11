"""The gateway's configuration file: providers with their keys' places, prices, retries."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from proctor.api.base import Spec
from proctor.api.errors import Problem, SpecError
from proctor.gateway.providers import FileKey, FixedKey, KeySource, Manner, Provider
from proctor.gateway.retries import Retries, Timeouts
from proctor.gateway.traced import TraceTarget
from proctor.pricing import OVERLAY, PriceConflictError, Prices, Rate
from proctor.wire.formats import FORMATS

Patterns = Annotated[tuple[str, ...], Field(min_length=1)]
Price = Annotated[Decimal, Field(ge=0)]
FormatName = Literal["anthropic-messages", "openai-chat", "openai-responses", "gemini"]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]


def _listed(value: object) -> object:
    """One format may be written without brackets."""
    return (value,) if isinstance(value, str) else value


class ProviderConfig(Spec):
    """A place where models are reached. Without a key none is sent."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
    format: Annotated[tuple[FormatName, ...], BeforeValidator(_listed), Field(min_length=1)]
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$")]
    api_key_file: Path | None = None
    api_key_env: str | None = None
    models: Patterns = ("*",)
    namespaces: Patterns = ("*",)
    auth_header: HeaderName | None = None
    auth_scheme: Annotated[str, Field(pattern=r"^[A-Za-z0-9-]*$")] = ""
    headers: Mapping[HeaderName, str] = {}
    path: Annotated[str | None, Field(pattern=r"^/([^{}\s]|\{model\}|\{method\})*$")] = None
    query: Annotated[str, Field(pattern=r"^[^\s#?]*$")] = ""

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if self.api_key_file is not None and self.api_key_env is not None:
            raise ValueError("apiKeyFile and apiKeyEnv exclude each other")
        return self

    def provider(self, environment: Mapping[str, str]) -> Provider:
        """The provider, with the place of its key."""
        return Provider(
            name=self.name,
            wire_formats=tuple(FORMATS[name] for name in self.format),
            base_url=self.base_url.rstrip("/"),
            key=self._key(environment),
            models=self.models,
            namespaces=self.namespaces,
            manner=Manner(
                auth_header=self.auth_header,
                auth_scheme=self.auth_scheme,
                headers=dict(self.headers),
                path=self.path,
                query=self.query,
            ),
        )

    def _key(self, environment: Mapping[str, str]) -> KeySource:
        if self.api_key_file is not None:
            return FileKey(self.api_key_file)
        return FixedKey(environment.get(self.api_key_env) if self.api_key_env else None)


class RateConfig(Spec):
    """US dollars for a million tokens. Absent: as other input."""

    input_usd_per_mtok: Price
    output_usd_per_mtok: Price
    cache_read_usd_per_mtok: Price | None = None
    cache_write_usd_per_mtok: Price | None = None
    cache_write_1h_usd_per_mtok: Annotated[Price | None, Field(alias="cacheWrite1hUsdPerMtok")] = (
        None
    )

    def rate(self, source: str, day: date | None) -> Rate:
        """The rate, with its gaps filled."""
        write = _or(self.cache_write_usd_per_mtok, self.input_usd_per_mtok)
        return Rate(
            input_usd_per_mtok=self.input_usd_per_mtok,
            output_usd_per_mtok=self.output_usd_per_mtok,
            cache_read_usd_per_mtok=_or(self.cache_read_usd_per_mtok, self.input_usd_per_mtok),
            cache_write_usd_per_mtok=write,
            cache_write_1h_usd_per_mtok=_or(self.cache_write_1h_usd_per_mtok, write),
            source=source,
            date=day,
        )


class LongContextConfig(RateConfig):
    """What a call costs whose input is longer than ``aboveInputTokens``, cached input included."""

    above_input_tokens: Annotated[int, Field(ge=1)]


class PriceConfig(RateConfig):
    """What a model costs."""

    model: Annotated[str, Field(min_length=1)]
    long_context: LongContextConfig | None = None
    source: Annotated[str, Field(min_length=1, description="Where the price stands.")]
    day: Annotated[date | None, Field(alias="date", description="When it was read.")] = None

    def price(self) -> Rate:
        """The rate with that of long contexts."""
        rate, longer = self.rate(self.source, self.day), self.long_context
        if longer is None:
            return rate
        above = longer.above_input_tokens
        return replace(rate, above_input_tokens=above, longer=longer.rate(self.source, self.day))


class RetriesConfig(Spec):
    """How often a call is made again that a provider failed."""

    attempts: Annotated[int, Field(ge=0, le=10)] = 4
    base_seconds: Annotated[float, Field(ge=0, le=60)] = 0.5
    longest_seconds: Annotated[float, Field(ge=0, le=300)] = 60.0

    def retries(self) -> Retries:
        """The same for the upstream."""
        return Retries(self.attempts, self.base_seconds, self.longest_seconds)


class TimeoutsConfig(Spec):
    """How long a provider may take: to begin its answer, between two bytes, in all."""

    first_byte_seconds: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    idle_seconds: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    total_seconds: Annotated[float, Field(gt=0, le=86_400)] = 3600.0

    def timeouts(self) -> Timeouts:
        """The same for the upstream."""
        return Timeouts(self.first_byte_seconds, self.idle_seconds, self.total_seconds)


class TracingConfig(Spec):
    """Where model calls go as OpenTelemetry spans, by OTLP over HTTP."""

    otlp_endpoint: Annotated[str, Field(pattern=r"^https?://[^\s]+$")]
    headers_env: Annotated[
        Mapping[HeaderName, str], Field(description="Header to the variable that holds it.")
    ] = {}

    def target(self, environment: Mapping[str, str]) -> TraceTarget:
        """The same for the exporter; a variable that is not set sends no header."""
        found = {name: environment.get(variable) for name, variable in self.headers_env.items()}
        headers = {name: value for name, value in found.items() if value}
        return TraceTarget(self.otlp_endpoint, headers)


class GatewayConfig(Spec):
    """The whole file."""

    providers: tuple[ProviderConfig, ...] = ()
    prices: tuple[PriceConfig, ...] = ()
    deployments: Annotated[
        Mapping[str, str], Field(description="Names of one's own to the models they stand for.")
    ] = {}
    retries: RetriesConfig = RetriesConfig()
    timeouts: TimeoutsConfig = TimeoutsConfig()
    tracing: TracingConfig | None = None
    operator_service_account: Annotated[str | None, Field(pattern=r"^[-a-z0-9.]+/[-a-z0-9.]+$")] = (
        None
    )

    def trace_target(self, environment: Mapping[str, str]) -> TraceTarget | None:
        """Where traces go; None: nothing is configured."""
        return None if self.tracing is None else self.tracing.target(environment)

    def overlay(self) -> Prices:
        """The prices, before those of the catalog.

        Raises:
            PriceConflictError: When a model has two.
        """
        rates = ((price.model, price.price()) for price in self.prices)
        return Prices(OVERLAY.adding("the configuration", rates), dict(self.deployments))

    @model_validator(mode="after")
    def _one_price_a_model(self) -> Self:
        try:
            self.overlay()
        except PriceConflictError as error:
            raise ValueError(f"prices: {error}") from None
        return self


def read_config(text: str, file: str) -> GatewayConfig:
    """Read the file's text.

    Raises:
        SpecError: With all problems.
    """
    try:
        document = yaml.safe_load(text)
        return GatewayConfig.model_validate({} if document is None else document)
    except yaml.YAMLError as error:
        raise SpecError([Problem("(file)", f"is not YAML: {error}", file=file)]) from None
    except ValidationError as error:
        raise SpecError([_problem(part, file) for part in error.errors()]) from None


def _problem(part: Any, file: str) -> Problem:
    return Problem(".".join(map(str, part["loc"])) or "(file)", part["msg"], file=file)


def _or(value: Decimal | None, default: Decimal) -> Decimal:
    return default if value is None else value
