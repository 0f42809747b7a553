import { useCallback, useMemo } from 'react';
import { type Me, useMe } from '@/shared/data/access';
import type { Conditions } from '@/shared/data/memories/list';
import { type ParamChanges, useAddressParams } from '@/shared/hooks/useAddressParams';
import { useSettings } from '@/shared/settings/settings';

/** All that the page shows, as its address says it. */
export interface Place {
  user: string;
  project: string;
  view: 'table' | 'timeline' | 'map';
  /** What is looked for; "" for the list. */
  q: string;
  by: 'meaning' | 'words';
  kind: Conditions['kind'];
  origin: Conditions['origin'];
  /** Days back; "" for any. */
  age: string;
  /** What was learned from one day (UTC) on, and before another, as YYYY-MM-DD; "" for any. */
  from: string;
  until: string;
  /** The day at whose end it is looked at; "" for now. */
  at: string;
  source: string;
  hidden: Conditions['hidden'];
  order: Conditions['order'];
  /** The memory that is open. */
  id: string;
  /** Whether that is shown by itself, not beside the list. */
  own: '' | 'yes';
}

const DEFAULTS = {
  view: 'table',
  q: '',
  by: 'meaning',
  kind: '',
  origin: '',
  age: '',
  from: '',
  until: '',
  at: '',
  source: '',
  hidden: 'without',
  order: 'created_desc',
  id: '',
  own: '',
} as const;

const ALLOWED: Partial<Record<keyof Place, readonly string[]>> = {
  view: ['table', 'timeline', 'map'],
  by: ['meaning', 'words'],
  own: ['', 'yes'],
  kind: ['', 'fact', 'message'],
  origin: ['', 'user', 'assistant', 'tool', 'document', 'import', 'api', 'person'],
  hidden: ['without', 'with', 'only'],
  order: ['created_desc', 'created_asc', 'updated_desc', 'updated_asc'],
};

/** The place, and what changes it. A change replaces the address only where Back should not stop. */
export function usePlace() {
  const { params, change } = useAddressParams();
  const { user, project } = useSettings();
  const own = useMe();
  const place = useMemo(
    () => withinKey(readPlace(params, { user, project }), own, project),
    [params, user, project, own],
  );
  const go = useCallback(
    (changes: Partial<Place>, how?: { replace?: boolean }) => change(written(changes), how),
    [change],
  );
  return { place, go };
}

const DAYS = ['from', 'until', 'at'];
/** A day that there is: of 30 February a browser makes one of March. */
function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The last instant of a day that is looked at; "" for now. */
export const instantAt = (day: string) => day && `${day}T23:59:59.999Z`;

function readPlace(params: URLSearchParams, here: { user: string; project: string }): Place {
  const found: Record<string, string> = { ...DEFAULTS, user: here.user, project: here.project };
  for (const name of Object.keys(found)) {
    const value = params.get(name);
    const allowed = ALLOWED[name as keyof Place];
    if (value !== null && (!allowed || allowed.includes(value))) found[name] = value;
  }
  if (!/^\d{1,5}$/.test(found.age ?? '')) found.age = '';
  for (const name of DAYS) if (!isDay(found[name] ?? '')) found[name] = '';
  return found as unknown as Place;
}

/** A key that is for one user or some projects goes before what the address names. */
function withinKey(place: Place, own: Me, project: string): Place {
  const isOwn = own.projects === null || own.projects.includes(place.project);
  return { ...place, user: own.user ?? place.user, project: isOwn ? place.project : project };
}

/** What is as it would be anyway is not said. */
function written(changes: Partial<Place>): ParamChanges {
  const usual: Record<string, string> = DEFAULTS;
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, value === usual[name] ? null : value]),
  );
}

const DAY_MS = 86_400_000;

/** What the list is asked for. The age is counted from the beginning of this minute, so that asking again is the same. */
export function conditionsOf(place: Place, now: number): Conditions {
  const since = place.age
    ? new Date(Math.floor(now / 60_000) * 60_000 - Number(place.age) * DAY_MS).toISOString()
    : place.from;
  return {
    kind: place.kind,
    origin: place.origin,
    since,
    until: place.until,
    at: instantAt(place.at),
    source: place.at ? '' : place.source, // where it was learned is known of the present alone
    words: place.by === 'words' ? place.q : '',
    hidden: place.hidden,
    order: place.order,
  };
}

/** Whether conditions leave some memories out. */
export function isNarrowed({ kind, origin, age, from, until, source, hidden }: Place): boolean {
  return [kind, origin, age, from, until, source].some(Boolean) || hidden !== 'without';
}
