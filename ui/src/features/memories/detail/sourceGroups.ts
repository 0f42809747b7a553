import type { Source } from '@/shared/data/memories/details';

/** The words that one change came from. */
export interface SourceGroup {
  eventId: string;
  session: string | null;
  turns: Source[];
  /** Those of the turns that are still kept in the conversation. */
  messageIds: number[];
}

/** Sources by the change they led to, the newest first. */
export function sourceGroups(sources: readonly Source[]): SourceGroup[] {
  const groups = new Map<string, SourceGroup>();
  for (const source of sources) {
    const { event_id: eventId, session } = source;
    const group = groups.get(eventId) ?? { eventId, session, turns: [], messageIds: [] };
    group.turns.push(source);
    if (source.message_id !== null) group.messageIds.push(source.message_id);
    groups.set(eventId, group);
  }
  return [...groups.values()].reverse();
}
