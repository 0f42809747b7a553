import { useMutation, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';

export type EmbeddingOverview = components['schemas']['EmbeddingOverview'];
export type EmbeddingSetup = EmbeddingOverview['setup'];
export type EmbeddingTest = components['schemas']['EmbeddingTest'];
export type WantedEmbedding = components['schemas']['EmbeddingBody'];
export type EmbeddingServer = Omit<WantedEmbedding, 'model'>;

const SETUP = ['embedding-model'];
const JSON_BODY = { headers: { 'Content-Type': 'application/json' } };

/** The embedding model in use, that of the next start, and what is set elsewhere. */
export function useEmbeddingModel() {
  return useQuery({ queryKey: SETUP, queryFn: () => unwrap(client.GET('/api/model/embedding')) });
}

/** Has the server embed one short text. */
export function useTestEmbedding() {
  return useMutation({
    mutationFn: (body: WantedEmbedding) => unwrap(client.POST('/api/model/embedding/test', { body })),
  });
}

/** Has the server ask another server for its models. */
export function useOfferedEmbeddings() {
  return useMutation({
    mutationFn: (body: EmbeddingServer) => unwrap(client.POST('/api/model/embedding/list', { body })),
  });
}

/** Saves an embedding model for the next start; null goes back to the built-in one. */
export function useSaveEmbedding() {
  return useChange(
    (body: WantedEmbedding | null) =>
      body === null
        ? unwrap(client.DELETE('/api/model/embedding', JSON_BODY))
        : unwrap(client.PUT('/api/model/embedding', { body })),
    [SETUP],
  );
}
