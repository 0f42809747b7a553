"""Lays vectors out in two dimensions: in groups, each with its members by their own two components.

The first two components of all vectors carry a tenth of their variance, and hardly any neighbour stays near. So
vectors are put to groups by k-means first, as many as each then has few members; the groups lie beside each other
without touching, alike ones near, and within each the members lie by the two components of that group alone.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemoir.ports.embedding import FloatArray

Groups = NDArray[np.int64]
_ROUNDS = 8  # of k-means; later ones change little
_MOST_FITTED = 2000  # vectors by which k-means finds the centres, of so many more
_TRIED, _TURNS = 6, 6  # directions in which components are looked for, and how often
_LEAST = 1e-5  # what is shorter is no component
_SPREADING = 150  # steps at most until no two groups touch
_GAP = 1.12  # between two groups, by the sum of their radii
_SEED = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where vectors lie: the groups' centres in both spaces and radii, and the components of each.

    `centres` are (groups, dimensions) of unit length, `places` (groups, 2) within [-1, 1], `radii` (groups,) in their
    unit, `axes` (groups, 2, dimensions), and `reach` (groups,) what fills the radius along them.
    """

    centres: FloatArray
    places: FloatArray
    radii: FloatArray
    means: FloatArray
    axes: FloatArray
    reach: FloatArray

    def groups_of(self, vectors: FloatArray) -> Groups:
        """The nearest group of each vector (n, dimensions) of unit length."""
        return np.asarray((vectors @ self.centres.T).argmax(axis=1), np.int64)

    def positions_of(self, vectors: FloatArray, groups: Groups) -> FloatArray:
        """Where each vector lies (n, 2), within its group's circle."""
        found = np.empty((len(vectors), 2), np.float32)
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            along = (vectors[rows] - self.means[group]) @ self.axes[group].T / self.reach[group]
            found[rows] = self.places[group] + self.radii[group] * _within_circle(along)
        return found


def fit(vectors: FloatArray) -> Layout:
    """The layout of unit vectors (n, dimensions), n at least 1; the same for the same vectors."""
    count = group_count(len(vectors))
    centres = _k_means(vectors[:: max(1, math.ceil(len(vectors) / _MOST_FITTED))], count)
    found, groups = np.unique((vectors @ centres.T).argmax(axis=1), return_inverse=True)
    centres = centres[found]
    sizes = np.bincount(groups, minlength=len(centres)).astype(np.float32)
    radii = np.sqrt(sizes / sizes.sum())
    places = _apart(_plane(centres, sizes), radii)
    scale = float(np.max(np.abs(places) + radii[:, None]))
    parts = [_components(vectors[groups == group]) for group in range(len(centres))]
    return Layout(
        centres=centres,
        places=np.asarray(places / scale, np.float32),
        radii=np.asarray(radii / scale, np.float32),
        means=np.stack([mean for mean, _, _ in parts]),
        axes=np.stack([axes for _, axes, _ in parts]),
        reach=np.array([reach for _, _, reach in parts], np.float32),
    )


def group_count(vectors: int) -> int:
    """How many groups so many vectors have."""
    return max(1, round(math.sqrt(vectors)))


def _k_means(vectors: FloatArray, count: int) -> FloatArray:
    """The centres of at most so many groups, by cosine; of unit length."""
    centres = _first_centres(vectors, count)
    groups = np.full(len(vectors), -1, np.int64)
    for _ in range(_ROUNDS):
        nearest = np.asarray((vectors @ centres.T).argmax(axis=1), np.int64)
        if np.array_equal(nearest, groups):
            break
        groups = nearest
        members = np.zeros((len(centres), len(vectors)), np.float32)
        members[groups, np.arange(len(vectors))] = 1
        sums = members @ vectors
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-9), centres)
    return np.asarray(centres, np.float32)


def _first_centres(vectors: FloatArray, count: int) -> FloatArray:
    """Vectors far from each other, as k-means++ chooses them."""
    chance = np.random.default_rng(_SEED)
    chosen = [int(chance.integers(len(vectors)))]
    far = np.maximum(1 - vectors @ vectors[chosen[0]], 0)
    while len(chosen) < count and far.sum() > 0:
        place = int(np.searchsorted(np.cumsum(far), chance.random() * far.sum()))
        chosen.append(min(place, len(vectors) - 1))
        far = np.minimum(far, np.maximum(1 - vectors @ vectors[chosen[-1]], 0))
    return vectors[chosen].copy()


def _plane(centres: FloatArray, sizes: FloatArray) -> FloatArray:
    """The centres by their two components, scaled to a circle of radius 1."""
    if len(centres) == 1:
        return np.zeros((1, 2), np.float32)
    mean = np.average(centres, axis=0, weights=sizes)
    along = (centres - mean) @ _axes(centres - mean).T
    return np.asarray(along / max(float(np.linalg.norm(along, axis=1).max()), 1e-9), np.float32)


def _apart(places: FloatArray, radii: FloatArray) -> FloatArray:
    """The places moved until no circle touches another, by small steps away from each other; 0 is their middle."""
    moved, least = places.astype(np.float64), _GAP * (radii[:, None] + radii[None, :])
    for _ in range(_SPREADING):
        between = moved[:, None, :] - moved[None, :, :]
        distance = np.linalg.norm(between, axis=2)
        np.fill_diagonal(distance, np.inf)
        missing = np.maximum(least - distance, 0)
        if missing.max(initial=0) < 1e-3:
            break
        at_once = distance < 1e-6  # two in the same place go apart along a line of their own
        number = np.arange(len(moved))
        turn = np.stack(
            [np.cos(number[:, None] - number[None, :]), np.sin(number[:, None] - number[None, :])], axis=2
        )
        turn = np.where((number[:, None] < number[None, :])[..., None], turn, -turn)
        way = np.where(at_once[..., None], turn, between / np.maximum(distance, 1e-6)[..., None])
        moved += (way * missing[..., None]).sum(axis=1) * 0.3
        moved *= 0.999  # what has room draws together
    ends = (moved - radii[:, None]).min(axis=0) + (moved + radii[:, None]).max(axis=0)
    return np.asarray(moved - ends / 2, np.float32)


def _components(vectors: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """The mean of the vectors, their two components, and how far they reach along them."""
    mean = vectors.mean(axis=0)
    axes = _axes(vectors - mean)
    reach = float(np.linalg.norm((vectors - mean) @ axes.T, axis=1).max())
    return mean, axes, max(reach, 1e-6)


def _axes(centred: FloatArray) -> FloatArray:
    """The first two components (2, dimensions), zero where there are fewer; each with its largest part positive."""
    chance = np.random.default_rng(_SEED)
    found = chance.standard_normal((centred.shape[1], _TRIED)).astype(np.float32)
    for _ in range(_TURNS):
        found, _ = np.linalg.qr(centred.T @ (centred @ found))
    # what was found spans the two, and a few more; they are told apart within it
    _, lengths, turned = np.linalg.svd(centred @ found, full_matrices=False)
    axes = np.where((lengths > _LEAST)[:2, None], turned[:2] @ found.T, 0)
    axes = np.concatenate([axes, np.zeros((2 - len(axes), centred.shape[1]))])
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return np.asarray(axes * np.where(largest < 0, -1, 1), np.float32)


def _within_circle(along: FloatArray) -> FloatArray:
    """The points, with those outside the unit circle on it."""
    length = np.linalg.norm(along, axis=1, keepdims=True)
    return np.asarray(0.9 * along / np.maximum(length, 1), np.float32)
