import { Alert, Button, Stack, Text, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { TbPlugConnectedX } from 'react-icons/tb';
import { Link } from 'react-router';
import { useMay } from '@/shared/data/access';
import { useHealth } from '@/shared/data/about';
import { useOllamaFound } from '@/shared/data/languageModel';
import { useMemoryUse } from '@/shared/data/memoryUse';
import { useHasMemories } from '@/shared/data/memories/list';
import { useScope } from '@/shared/data/scope';
import { change, useSettings } from '@/shared/settings/settings';
import { writeDraft } from '../composer/drafts';
import classes from './EmptyChat.module.css';
import { MemoryChoice } from './MemoryChoice';
import { TimeZoneOffer } from './TimeZoneOffer';
import type { Talk } from './useTalk';

const KnownStrip = lazy(() => import('./KnownStrip')); // where nothing is known nobody fetches it

const TELLING = 'I am a vegetarian and allergic to nuts. Please remember that.';
const ASKING = ['What do you know about me?', 'What should I keep in mind when cooking for me?'];

/** A chat in which nothing was said: what one can try, and what is missing. */
export function EmptyChat({ talk }: { talk: Talk }) {
  const usesMemory = useMemoryUse();
  const { data: health } = useHealth();
  const mayWrite = useMay().write;
  const knowsAnything = useHasMemories(useScope(), mayWrite && usesMemory); // an example is no fact about somebody
  const isNew = talk.place.conversation === '';
  return (
    <div className={classes.frame}>
      <Stack gap="md" className={classes.body}>
        <Title order={2} size="h2" fw={600}>
          {isNew ? 'What’s on your mind?' : 'Conversation not found'}
        </Title>
        {!isNew && (
          <Text>
            It was deleted, has not started, or belongs to another user or project.
            {mayWrite && ' Send a message to start it.'}
          </Text>
        )}
        {isNew && usesMemory && knowsAnything && (
          <Suspense fallback={<div className={classes.known} />}>
            <KnownStrip />
          </Suspense>
        )}
        {mayWrite && <MemoryChoice />}
        {mayWrite && <TimeZoneOffer />}
        {health?.llm === 'missing' && <NoModel />}
        {mayWrite && (
          <Stack gap="xs">
            {usesMemory && knowsAnything === false && <ToRemember talk={talk} />}
            {ASKING.map(text => (
              <Suggestion key={text} onClick={() => writeDraft(talk.place, text)}>
                {text}
              </Suggestion>
            ))}
          </Stack>
        )}
      </Stack>
    </div>
  );
}

/** Speaks of remembering: where memory is off, it says that it switches it on, and does. */
function ToRemember({ talk }: { talk: Talk }) {
  const { memoryEnabled } = useSettings();
  const onClick = () => {
    if (!memoryEnabled) change.memoryChoice(true);
    writeDraft(talk.place, TELLING);
  };
  return <Suggestion onClick={onClick}>{memoryEnabled ? TELLING : `${TELLING} (turns memory on)`}</Suggestion>;
}

function Suggestion({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Button
      variant="default"
      justify="flex-start"
      h="auto"
      py="xs"
      classNames={{ label: classes.try ?? '' }}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

function NoModel() {
  const { data: found } = useOllamaFound();
  const mayConnect = useMay().manage;
  const isThere = found !== undefined && found.models.length > 0;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<TbPlugConnectedX aria-hidden />}
      title="No language model is connected"
    >
      <Text size="sm">
        Until then, answers only quote memories.{' '}
        {mayConnect ? (
          <>
            {isThere && 'Ollama is running now and can be used. '}
            <Link to="/connect?part=model">Connect a model</Link>: Ollama, OpenAI, or any compatible server.
          </>
        ) : (
          'Ask whoever runs this server to connect one.'
        )}
      </Text>
    </Alert>
  );
}
