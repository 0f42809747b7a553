const NAMES: Record<string, { name: string; hint: string }> = {
  words: { name: 'Words', hint: 'Words shared with the search, rare ones weighted higher' },
  window: { name: 'Context', hint: 'Words shared with the messages just before and after' },
  vector: { name: 'Meaning', hint: 'Similarity of meaning (cosine)' },
  cosine: { name: 'Meaning', hint: 'Similarity of meaning (cosine)' },
  late: { name: 'Wording', hint: 'Similarity of the single words' },
  speaker: { name: 'Speaker', hint: 'Said by someone named in the search' },
  linked: { name: 'Links', hint: 'Shares names with the search or with its best results' },
  asks: { name: 'Asks', hint: 'The share of the message that only asks, which counts less' },
  answers: { name: 'Answers', hint: 'Comes just behind a question that looks like the search' },
  date: { name: 'Date', hint: 'Said near a date named in the search' },
};

export function nameOfStage(stage: string): { name: string; hint: string } {
  return NAMES[stage] ?? { name: stage, hint: `Stage ${stage}` };
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
  return [ran.join(' · '), ...(skipped.length ? [`skipped – ${skipped.join(', ')}`] : [])].join('; ');
}
