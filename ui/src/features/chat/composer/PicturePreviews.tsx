import { CloseButton } from '@mantine/core';
import classes from './Composer.module.css';
import type { AttachedPictures } from './useAttached';

/** The pictures that go with the message, each with a button that takes it away. */
export function PicturePreviews({ attached }: { attached: AttachedPictures }) {
  if (attached.pictures.length === 0) return null;
  return (
    <ul className={classes.previews} aria-label="Attached pictures">
      {attached.pictures.map(picture => (
        <li key={picture.preview} className={classes.preview}>
          <img src={picture.preview} alt={picture.file.name} />
          <CloseButton
            className={classes.remove ?? ''}
            variant="default"
            size="xs"
            radius="xl"
            aria-label={`Remove ${picture.file.name}`}
            onClick={() => attached.remove(picture)}
          />
        </li>
      ))}
    </ul>
  );
}
