import type { RunNode } from '@/shared/data/runs/run';

/** A prompt as plain text: itself, or its messages with their roles. */
export function promptText(prompt: NonNullable<RunNode['prompt']>): string {
  if (typeof prompt === 'string') return prompt;
  return prompt.map(message => `${message.role}:\n${message.content}`).join('\n\n');
}
