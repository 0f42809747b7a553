import { Group, Stack, Text, Title } from '@mantine/core';
import { TbPlugConnected, TbPlugConnectedX } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import type { ModelSetup } from '@/shared/data/languageModel';
import { serverName } from './kinds';
import classes from './ModelTab.module.css';

/** The model that answers now. */
export function InUse({ model }: { model: ModelSetup['in_use'] }) {
  const isConnected = model.url !== null;
  const Icon = isConnected ? TbPlugConnected : TbPlugConnectedX;
  return (
    <section className={classes.inUse} data-connected={isConnected} aria-label="In use">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Icon size={22} aria-hidden className={classes.sign ?? ''} />
        <Stack gap={2} miw={0}>
          <Title order={2} size="h5">
            {isConnected ? <Words limit={200}>{model.model}</Words> : 'No language model is connected'}
          </Title>
          <Text size="sm">
            {model.url !== null ? (
              <>
                {serverName(model.provider, model.url)}, at <Words limit={200}>{model.url}</Words>
                {model.has_key && ', with a key'}
              </>
            ) : (
              'Until then, answers only quote memories. Choose below where your model runs.'
            )}
          </Text>
        </Stack>
      </Group>
    </section>
  );
}
