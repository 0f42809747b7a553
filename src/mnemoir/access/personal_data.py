"""Builds what handles personal data from the settings. Rules and their libraries are loaded at the first use."""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points

from mnemoir.access.access_file import AccessFile
from mnemoir.core.errors import SettingsError
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.ports.holdings import Amounts, OpenHolding
from mnemoir.ports.llm import ChatModel
from mnemoir.ports.personal_values import PersonalValues
from mnemoir.ports.project_settings import ProjectSettingsStore
from mnemoir.privacy.detection import Detector, Rules
from mnemoir.privacy.embedding import DiscreetEmbedding
from mnemoir.privacy.handling import PersonalData, PersonalDataOptions
from mnemoir.privacy.models import DiscreetModel
from mnemoir.privacy.numbers import check_countries
from mnemoir.privacy.policy import Policy
from mnemoir.settings import Settings
from mnemoir.settings.access import Pii
from mnemoir.storage.sql import SqlPersonalValues
from mnemoir.storage.sql.engine import Engine

DETECTORS = "mnemoir.detectors"  # the entry points of detectors
_KEEPING = ("redact", "block")
_PURPOSE = "personal data"

Discreet = Callable[[ChatModel], ChatModel]


def rules_of(settings: Pii) -> Rules:
    """The rules that the settings ask for. Raises SettingsError for a country or a detector that there is not."""
    if settings.countries:
        check_countries(settings.countries)
    if settings.regions:
        _check_regions(settings)
    return Rules(settings.regions, settings.countries, _detector(settings.detector))


def policy_of(settings: Settings) -> Policy:
    """The policy of projects without one of their own."""
    chosen = settings.pii.policy
    return Policy(facts=chosen.facts, messages=chosen.messages, models=chosen.models)


def make_rules(settings: Settings) -> Callable[[], Rules]:
    """The rules at the first use; at once where the settings name something that may be wrong."""
    chosen = settings.pii
    make = cache(partial(rules_of, chosen))
    if chosen.countries or chosen.regions or chosen.detector:
        make()
    return make


def make_discreet(settings: Settings, rules: Callable[[], Rules]) -> Discreet:
    """What makes a model discreet; the offline model sends nothing anywhere."""
    default, restores = policy_of(settings), settings.pii.restore

    def discreet(model: ChatModel) -> ChatModel:
        return model if model.provider == "offline" else DiscreetModel(model, rules, default, restores=restores)

    return discreet


def discreet_embedding(settings: Settings, rules: Callable[[], Rules], model: EmbeddingModel) -> EmbeddingModel:
    """The model, made discreet where it is over a network and the settings keep personal data from models."""
    is_remote = settings.embedding.provider in ("openai", "ollama")
    return DiscreetEmbedding(model, rules) if is_remote and policy_of(settings).models in _KEEPING else model


def make_personal_data(
    settings: Settings,
    rules: Callable[[], Rules],
    projects: ProjectSettingsStore,
    database: Engine,
    file: AccessFile,
) -> tuple[PersonalData, OpenHolding]:
    """What applies the policies of projects, and the holding of the values it keeps."""
    values = SqlPersonalValues(database, partial(file.secret_for, _PURPOSE), reversible=settings.pii.reversible)
    options = PersonalDataOptions(
        default=policy_of(settings), restores=settings.pii.restore, reversible=settings.pii.reversible
    )
    return PersonalData(rules, projects, values, options), holding_of_values(values)


def holding_of_values(values: PersonalValues) -> OpenHolding:
    """The values behind placeholders. They are in no count and no export."""

    async def forget(scope: Scope) -> Amounts:
        await values.forget(scope)
        return {}

    return OpenHolding(name="personal", forget=forget)


def _check_regions(settings: Pii) -> None:
    from phonenumbers import SUPPORTED_REGIONS

    for region in settings.regions:
        if region not in SUPPORTED_REGIONS:
            raise SettingsError(
                f"pii.regions names {region!r}, for which there is no numbering plan. Give ISO codes of countries, "
                "such as DE, ES, FR, GB, US."
            )


def _detector(name: str | None) -> Detector | None:
    """The function of that name. Raises SettingsError for one that cannot be used."""
    if name is None:
        return None
    try:
        if ":" in name:
            module, _, attribute = name.partition(":")
            found = import_module(module)
            for step in attribute.split("."):
                found = getattr(found, step)
        else:
            found = next(iter(entry_points(group=DETECTORS, name=name))).load()
    except StopIteration:
        listed = ", ".join(sorted(entry.name for entry in entry_points(group=DETECTORS))) or "none"
        raise SettingsError(
            f"pii.detector is {name!r}, and no installed package lists that in {DETECTORS}; there are: {listed}. "
            "Name a function as module:function instead."
        ) from None
    except Exception as exc:  # the import of another package may raise anything
        raise SettingsError(
            f"pii.detector is {name!r}, which cannot be imported: {type(exc).__name__}: {exc}. Correct the name, or "
            "install its package."
        ) from exc
    if not callable(found):
        raise SettingsError(f"pii.detector is {name!r}, which is no function. Name a function as module:function.")
    detector: Detector = found
    return detector
