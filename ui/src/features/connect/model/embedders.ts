import type { EmbeddingServer, EmbeddingSetup } from '@/shared/data/embeddingModel';
import { fixedOf } from './kinds';

/** A place where embedding models run; `provider` is "builtin" for the one in the server. */
export interface Embedder {
  provider: 'builtin' | EmbeddingServer['provider'];
  name: string;
  about: string;
  model: string;
}

export const embedders: Embedder[] = [
  { provider: 'builtin', name: 'Built in', about: 'No setup, English', model: '' },
  { provider: 'ollama', name: 'Ollama', about: 'On this machine', model: 'nomic-embed-text' },
  {
    provider: 'openai',
    name: 'OpenAI or compatible',
    about: 'OpenAI-compatible',
    model: 'text-embedding-3-small',
  },
];

/** What the form says of an embedding model. */
export interface EmbeddingDraft {
  provider: Embedder['provider'];
  url: string;
  model: string;
  key: string;
}

/** The draft with which the form begins: the model of the next start. */
export function firstEmbeddingDraft(setup: EmbeddingSetup): EmbeddingDraft {
  const { provider, url, model } = setup.after_restart;
  const known = embedders.find(one => one.provider === provider)?.provider ?? 'builtin';
  return url === null ? embeddingDraftOf(known, setup) : { provider: known, url, model, key: '' };
}

/** A fresh draft of a provider. */
export function embeddingDraftOf(provider: Embedder['provider'], setup: EmbeddingSetup): EmbeddingDraft {
  const fixed = fixedOf(setup);
  const usual = provider === 'ollama' ? setup.ollama_url : setup.openai_url;
  return {
    provider,
    url: provider === 'builtin' ? '' : (fixed.get('embedding.base_url')?.value ?? usual),
    model: fixed.get('embedding.model')?.value ?? embedders.find(one => one.provider === provider)?.model ?? '',
    key: '',
  };
}

/** The server that the draft stands for; null for the built-in model. */
export function embeddingServerOf({ provider, url, key }: EmbeddingDraft): EmbeddingServer | null {
  if (provider === 'builtin') return null;
  const api_key = provider === 'openai' && key.trim() ? { api_key: key.trim() } : {};
  return { provider, url: url.trim(), ...api_key };
}

/** Whether the draft makes other vectors than the model in use. */
export function embedsAgain(draft: EmbeddingDraft, { in_use }: EmbeddingSetup): boolean {
  if (draft.provider !== in_use.provider) return true;
  return draft.provider !== 'builtin' && draft.model.trim() !== in_use.model;
}
