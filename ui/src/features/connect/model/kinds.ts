import type { ModelSetup, Provider } from '@/shared/data/languageModel';

/** A place where models run: what its server speaks, and where it listens unless told otherwise. */
export interface Kind {
  id: string;
  name: string;
  about: string;
  provider: Provider;
  url: string;
  model: string;
  takesKey: boolean;
}

export const OLLAMA = 'ollama';
const OPENAI = 'openai';
const OPENAI_URL = 'https://api.openai.com/v1';
const OTHER = 'other';

export const kinds: Kind[] = [
  {
    id: OLLAMA,
    name: 'Ollama',
    about: 'On this machine',
    provider: 'ollama',
    url: 'http://127.0.0.1:11434',
    model: '',
    takesKey: false,
  },
  {
    id: OPENAI,
    name: 'OpenAI',
    about: 'Needs a key',
    provider: 'openai-responses',
    url: OPENAI_URL,
    model: 'gpt-5-mini',
    takesKey: true,
  },
  {
    id: 'llama-cpp',
    name: 'llama.cpp',
    about: 'llama-server, port 8080',
    provider: 'openai-chat',
    url: 'http://127.0.0.1:8080/v1',
    model: '',
    takesKey: true,
  },
  {
    id: 'lm-studio',
    name: 'LM Studio',
    about: 'Port 1234',
    provider: 'openai-chat',
    url: 'http://127.0.0.1:1234/v1',
    model: '',
    takesKey: true,
  },
  {
    id: 'vllm',
    name: 'vLLM',
    about: 'Port 8000',
    provider: 'openai-chat',
    url: 'http://127.0.0.1:8000/v1',
    model: '',
    takesKey: true,
  },
  {
    id: OTHER,
    name: 'Other',
    about: 'OpenAI-compatible',
    provider: 'openai-chat',
    url: '',
    model: '',
    takesKey: true,
  },
];

export function kindNamed(id: string): Kind {
  return kinds.find(kind => kind.id === id) ?? (kinds[0] as Kind);
}

/** The kind that a model belongs to, by its protocol and address. */
export function kindOf(provider: string, url: string): Kind {
  if (provider === 'ollama') return kindNamed(OLLAMA);
  if (provider === 'openai-responses') return kindNamed(OPENAI);
  return kinds.find(kind => kind.provider === provider && kind.url === url) ?? kindNamed(OTHER);
}

/** What the server of a model is called. */
export function serverName(provider: string, url: string): string {
  const { id, name } = kindOf(provider, url);
  return id === OTHER || (id === OPENAI && url !== OPENAI_URL) ? 'OpenAI-compatible server' : name;
}

/** What the form says of a model. */
export interface Draft {
  kind: Kind;
  url: string;
  model: string;
  key: string;
}

/** What is set outside the page, by the setting's name. */
export type Fixed = Map<string, ModelSetup['fixed'][number]>;

export function fixedOf(setup: { fixed: ModelSetup['fixed'] }): Fixed {
  return new Map(setup.fixed.map(one => [one.key, one]));
}

/** How a field looks whose setting is set outside the page. */
export function lockOf(fixed: Fixed, setting: string): { readOnly?: true; variant?: 'filled'; description?: string } {
  const found = fixed.get(setting);
  return found ? { readOnly: true, variant: 'filled', description: `Set by ${found.set_by}` } : {};
}

export function urlSetting(kind: Kind): string {
  return kind.provider === 'ollama' ? 'llm.ollama_url' : 'llm.base_url';
}

/** The draft with which the form begins: the saved model, else the one in use, else an Ollama of this machine. */
export function firstDraft(setup: ModelSetup): Draft {
  const { saved, in_use } = setup;
  if (saved?.in_force) return drafted(kindOf(saved.provider, saved.url), saved.url, saved.model, setup);
  if (in_use.url !== null) return drafted(kindOf(in_use.provider, in_use.url), in_use.url, in_use.model, setup);
  return draftOf(kindNamed(OLLAMA), setup);
}

/** The setting of the key that goes to `url`, if it is set outside the page. */
export function fixedKey(fixed: Fixed, url: string): ModelSetup['fixed'][number] | undefined {
  const theirs = fixed.get('llm.base_url')?.value ?? OPENAI_URL;
  return originOf(url) === originOf(theirs) ? fixed.get('llm.api_key') : undefined;
}

/** A fresh draft of a kind. */
export function draftOf(kind: Kind, setup: ModelSetup): Draft {
  return drafted(kind, kind.id === OLLAMA ? setup.ollama_url : kind.url, kind.model, setup);
}

function drafted(kind: Kind, url: string, model: string, setup: ModelSetup): Draft {
  const fixed = fixedOf(setup);
  return {
    kind,
    url: fixed.get(urlSetting(kind))?.value ?? url,
    model: fixed.get('llm.model')?.value ?? model,
    key: '',
  };
}

/** Scheme, host and port: what a key belongs to. "" for what is no address. */
export function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return '';
  }
}
