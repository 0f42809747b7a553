import { Anchor } from '@mantine/core';
import { TbArrowLeft } from 'react-icons/tb';
import { Link } from 'react-router';
import { PageFrame } from '@/shared/components/PageFrame';
import { EmptyState } from '@/shared/components/states';
import { useAddress } from './address';
import classes from './ConversationsPage.module.css';
import { Detail } from './detail/Detail';
import { ListPane } from './list/ListPane';

/** All conversations beside the one that is looked at; in a narrow window one of the two. */
export function ConversationsPage() {
  const { address, linkTo } = useAddress();
  return (
    <PageFrame fill title="Conversations">
      <div className={classes.panes} data-chosen={address.id !== '' || undefined}>
        <section className={classes.list} aria-label="All conversations">
          <ListPane />
        </section>
        <section className={classes.one} aria-label="The conversation">
          {address.id ? (
            <>
              <Anchor component={Link} to={linkTo({ id: null, message: null, tab: null })} className={classes.back}>
                <TbArrowLeft aria-hidden /> All conversations
              </Anchor>
              <Detail key={address.id} id={address.id} />
            </>
          ) : (
            <EmptyState
              title="Choose a conversation"
              hint="What was said, in all its branches; what a model is shown of it; and what discussion and nodes remember."
            />
          )}
        </section>
      </div>
    </PageFrame>
  );
}
