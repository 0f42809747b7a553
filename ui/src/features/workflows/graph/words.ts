import type { GraphNode } from '@/shared/data/workflows';

/** What lines of the graph show of a step, for whoever does not see them. */
export function besideStep(step: GraphNode): string {
  const reads = [...new Set(step.uses.flatMap(use => use.source ?? []))];
  return [
    reads.length > 0 && `, reads the output of step ${reads.join(', ')}`,
    step.calls.length > 0 && `, runs ${step.calls.map(call => call.name).join(', ')}`,
    step.role === 'behind' && ', runs after the answer',
  ]
    .filter(Boolean)
    .join('');
}

/** When a workflow runs that is one of several. */
export function conditionOf(when: string): string {
  return when.toLowerCase() === 'default' ? 'otherwise' : `if ${when}`;
}
