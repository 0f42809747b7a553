import { lazy, Suspense } from 'react';
import { PageFrame } from '@/shared/components/PageFrame';
import { LoadingState } from '@/shared/components/states';
import { ReadOnlyPart } from '@/shared/data/access';
import type { Scope } from '@/shared/data/scope';
import { useBatches } from './batches';
import { Opened } from './detail/Opened';
import { OwnPage } from './detail/OwnPage';
import { Found } from './list/Found';
import { Listed } from './list/Listed';
import type { ListParts } from './list/Shown';
import classes from './MemoriesPage.module.css';
import { type Place, usePlace } from './place';
import { SampleBar } from './sample/SampleBar';
import { Actions } from './toolbar/Actions';
import { Toolbar } from './toolbar/Toolbar';

const MapView = lazy(() => import('./map/MapView')); // only who looks at it fetches it
const Strip = lazy(() => import('./strip/Strip')); // the list is there before

/** What is remembered of a user: looked through, put right, joined, taken along and forgotten. */
export function MemoriesPage() {
  const { place, go } = usePlace();
  const owner: Scope = { user: place.user, project: place.project };
  const remove = useBatches(owner);
  const deleteThem = (ids: string[]) => {
    remove.mutate({ ids, delete: true });
    if (ids.includes(place.id)) go({ id: '' }, { replace: true });
  };
  const parts = {
    place,
    owner,
    onOpen: (id: string) => go({ id }, { replace: place.id !== '' }),
    onView: (view: Place['view']) => go({ view }),
    onDelete: deleteThem,
  };
  const key = `${owner.project} ${owner.user}`;
  if (place.id && place.own)
    return (
      <ReadOnlyPart value={place.at !== ''}>
        <OwnPage
          owner={owner}
          id={place.id}
          onDelete={id => remove.mutate({ ids: [id], delete: true })}
          onBack={() => go({ own: '' })}
        />
      </ReadOnlyPart>
    );
  return (
    <ReadOnlyPart value={place.at !== ''}>
      <PageFrame
        title="Memories"
        fill
        actions={<Actions owner={owner} />}
        toolbar={<Toolbar place={place} go={go} />}
      >
        <div className={classes.list}>
          <SampleBar place={place} />
          <Suspense fallback={<div className={classes.strip} />}>
            <Strip key={`strip ${key}`} place={place} owner={owner} go={go} />
          </Suspense>
          <List key={key} {...parts} />
        </div>
        {place.id && (
          <Opened
            owner={owner}
            id={place.id}
            onDelete={id => deleteThem([id])}
            onOwnPage={() => go({ own: 'yes' })}
            onClose={() => go({ id: '' }, { replace: true })}
          />
        )}
      </PageFrame>
    </ReadOnlyPart>
  );
}

/** What was looked for, or the memories in the view that was chosen. */
function List(parts: ListParts) {
  const { place } = parts;
  if (place.q && place.by === 'meaning') return <Found {...parts} />;
  if (place.view !== 'map') return <Listed {...parts} />;
  return (
    <Suspense fallback={<LoadingState label="Loading the map" />}>
      <MapView {...parts} />
    </Suspense>
  );
}
