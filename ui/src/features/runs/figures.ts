/** A span of time for people: "812 ms", "1.24 s", "2 min 03 s"; "…" for one that is not over. */
export function span(ms: number | null): string {
  if (ms === null) return '…';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** "120 → 34 tokens"; "≈" before what is estimated; "" for none. */
export function tokens(run: { input_tokens: number; output_tokens: number; tokens_counted: boolean }): string {
  if (!run.input_tokens && !run.output_tokens) return '';
  const about = run.tokens_counted ? '≈ ' : '';
  return `${about}${run.input_tokens.toLocaleString()} → ${run.output_tokens.toLocaleString()} tokens`;
}

/** "1 memory", "3 memories". */
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
