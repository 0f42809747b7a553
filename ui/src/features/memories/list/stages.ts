import type { Hit } from '@/shared/data/memories/list';

const NAMES: Record<string, { name: string; hint: string }> = {
  words: { name: 'Words', hint: 'Words it shares with the question, rare ones counting more' },
  window: { name: 'Around it', hint: 'Words shared with what was said just before and after it' },
  vector: { name: 'Meaning', hint: 'How near the meaning of the whole is (cosine)' },
  cosine: { name: 'Meaning', hint: 'How near the meaning of the whole is (cosine)' },
  late: { name: 'Wording', hint: 'How near each word of the question comes to a word of it' },
  speaker: { name: 'Speaker', hint: 'Said by somebody the question names' },
  date: { name: 'Date', hint: 'Said near a time the question names' },
};

export function nameOfStage(stage: string): { name: string; hint: string } {
  return NAMES[stage] ?? { name: stage, hint: `Stage ${stage}` };
}

/** The largest figure of each stage. */
export function mostOf(hits: readonly Hit[]): Record<string, number> {
  const most: Record<string, number> = {};
  for (const hit of hits)
    for (const [stage, value] of Object.entries(hit.signals ?? {})) most[stage] = Math.max(most[stage] ?? 0, value);
  return most;
}

interface Stage {
  took_ms: number;
  skipped: string;
}

/** Which stages ran and how long, then why others did not. */
export function stagesInWords(stages: Record<string, unknown> | null | undefined): string {
  const told = Object.entries((stages ?? {}) as Record<string, Stage>);
  const ran = told
    .filter(([, stage]) => !stage.skipped)
    .map(([name, { took_ms }]) => `${name} ${took_ms.toFixed(1)} ms`);
  const skipped = told.filter(([, stage]) => stage.skipped).map(([name, stage]) => `${name}: ${stage.skipped}`);
  return [ran.join(' · '), ...(skipped.length ? [`left out – ${skipped.join(', ')}`] : [])].join('; ');
}
