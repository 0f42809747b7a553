import { Alert, Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { TbPlugConnectedX } from 'react-icons/tb';
import { Link } from 'react-router';
import { useHealth } from '@/shared/data/about';
import { useOllamaFound } from '@/shared/data/languageModel';
import { change, useSettings } from '@/shared/settings/settings';
import { writeDraft } from '../composer/drafts';
import classes from './EmptyChat.module.css';
import type { Talk } from './useTalk';

const TRY = [
  'I am a vegetarian and allergic to nuts. Please remember that.',
  'What do you know about me?',
  'What should I keep in mind when cooking for me?',
];

/** A chat in which nothing was said: what one can try, and what is missing. */
export function EmptyChat({ talk }: { talk: Talk }) {
  const { memoryEnabled } = useSettings();
  const { data: health } = useHealth();
  const isNew = talk.place.conversation === '';
  return (
    <div className={classes.frame}>
      <Stack gap="md" className={classes.body}>
        <Title order={2} size="h2" fw={600}>
          {isNew ? 'What is on your mind?' : 'Nothing is said here'}
        </Title>
        {!isNew && (
          <Text>
            This conversation was deleted, has not begun, or belongs to another user or project. What you write begins
            it.
          </Text>
        )}
        <Text c="dimmed">
          {memoryEnabled ? (
            'Long-term memory is on: what you tell is remembered, and recalled in other chats.'
          ) : (
            <>
              Long-term memory is off: this chat is kept, and no facts are learned from it.{' '}
              <Anchor
                component="button"
                type="button"
                inherit
                underline="always"
                onClick={() => change.memoryEnabled(true)}
              >
                Switch it on
              </Anchor>{' '}
              here or in the settings of the project.
            </>
          )}
        </Text>
        {health?.llm === 'missing' && <NoModel />}
        <Stack gap="xs">
          {TRY.map(text => (
            <Button
              key={text}
              variant="default"
              justify="flex-start"
              h="auto"
              py="xs"
              classNames={{ label: classes.try ?? '' }}
              onClick={() => writeDraft(talk.place, text)}
            >
              {text}
            </Button>
          ))}
        </Stack>
      </Stack>
    </div>
  );
}

function NoModel() {
  const { data: found } = useOllamaFound();
  const isThere = found !== undefined && found.models.length > 0;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<TbPlugConnectedX aria-hidden />}
      title="No language model is connected"
    >
      <Text size="sm">
        Until one is, answers only quote what is remembered. {isThere && 'Ollama is running now and can be used. '}
        <Link to="/connect?part=model">Connect a model</Link>: Ollama, OpenAI, or any server that speaks its protocol.
      </Text>
    </Alert>
  );
}
