import { useMutation, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useMay } from './access';
import { useChange } from './change';

export type ModelOverview = components['schemas']['ModelOverview'];
export type ModelSetup = ModelOverview['setup'];
export type ModelTest = components['schemas']['ModelTest'];
export type WantedModel = components['schemas']['ModelBody'];
export type Provider = WantedModel['provider'];
export type ModelServer = Omit<WantedModel, 'model'>;

const SETUP = ['language-model'];
const FOUND = ['language-model', 'found'];
const FOUND_MS = 10_000;
/** Everything that names the model in use. */
const STALE = [SETUP, ['models'], ['health'], ['status']];
const JSON_BODY = { headers: { 'Content-Type': 'application/json' } };

/** The language model in use, what was saved, and what is set elsewhere. */
export function useLanguageModel() {
  return useQuery({ queryKey: SETUP, queryFn: () => unwrap(client.GET('/api/model')) });
}

/** An Ollama that was started after the server; the server looks for one while a page asks. */
export function useOllamaFound() {
  return useQuery({
    queryKey: FOUND,
    queryFn: () => unwrap(client.GET('/api/model/found')),
    enabled: useMay().manage,
    refetchInterval: query => (query.state.data?.looked === false ? false : FOUND_MS),
  });
}

/** Has the server ask the model one question. */
export function useTestModel() {
  return useMutation({
    mutationFn: (body: WantedModel) => unwrap(client.POST('/api/model/test', { body })),
  });
}

/** Has the server ask another server for its models. */
export function useOfferedModels() {
  return useMutation({
    mutationFn: (body: ModelServer) => unwrap(client.POST('/api/model/list', { body })),
  });
}

/** Saves a model, in force at once. */
export function useSaveModel() {
  return useChange((body: WantedModel) => unwrap(client.PUT('/api/model', { body })), STALE);
}

/** Forgets the saved model and its key. */
export function useForgetModel() {
  return useChange(() => unwrap(client.DELETE('/api/model', JSON_BODY)), STALE);
}
