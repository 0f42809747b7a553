import { useMemo } from 'react';
import { useConversation } from '@/shared/data/conversations/conversation';
import type { ChatOptions } from '@/shared/data/completions';
import { type Place, useScope } from '@/shared/data/scope';
import { storedText } from '@/shared/settings/storage';

/**
 * What a chat is asked with besides its messages. The server keeps the system prompt with the conversation; until there
 * is one it is kept in this browser, as the temperature always is.
 */
const nameOf = (what: 'Prompt' | 'Temperature', { user, project, conversation }: Place) =>
  `mnemoir${what}:${project}:${user}:${conversation}`;

const promptOf = (place: Place) => storedText(nameOf('Prompt', place));
const temperatureOf = (place: Place) => storedText(nameOf('Temperature', place));

export function useChatOptions(conversation: string | null): ChatOptions {
  const { user, project } = useScope();
  const { data: known } = useConversation(conversation);
  const [prompt, temperature] = useMemo(() => {
    const place = { user, project, conversation: conversation ?? '' };
    return [promptOf(place), temperatureOf(place)];
  }, [user, project, conversation]);
  const unsent = prompt.use();
  return {
    systemPrompt: known?.system_prompt ?? unsent ?? '',
    temperature: readTemperature(temperature.use() ?? ''),
  };
}

export function keepPrompt(place: Place, systemPrompt: string): void {
  promptOf(place).write(systemPrompt || null);
}

export function keepTemperature(place: Place, temperature: number | null): void {
  temperatureOf(place).write(temperature === null ? null : String(temperature));
}

/** The first message gives the conversation an id, and the next new chat begins without them. */
export function moveOptions(from: Place, to: Place): void {
  for (const stored of [promptOf, temperatureOf]) {
    const value = stored(from).read();
    stored(from).write(null);
    stored(to).write(value);
  }
}

/** null for nothing, NaN for what is no temperature. */
export function readTemperature(text: string): number | null {
  if (!text.trim()) return null;
  const temperature = Number(text.replace(',', '.'));
  return temperature >= 0 && temperature <= 2 ? temperature : NaN;
}
