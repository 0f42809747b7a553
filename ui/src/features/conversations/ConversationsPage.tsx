import { Anchor, Button } from '@mantine/core';
import { TbArrowLeft, TbHistory, TbMessages, TbUpload } from 'react-icons/tb';
import { Link } from 'react-router';
import { ImportConversations } from '@/shared/components/ImportConversations';
import { PageFrame } from '@/shared/components/PageFrame';
import { EmptyState } from '@/shared/components/states';
import { useMay } from '@/shared/data/access';
import { useDialog } from '@/shared/hooks/useDialog';
import { useAddress } from './address';
import classes from './ConversationsPage.module.css';
import { Detail } from './detail/Detail';
import { ListPane } from './list/ListPane';

/** All conversations beside the one that is looked at; in a narrow window one of the two. */
export function ConversationsPage() {
  const { address, linkTo } = useAddress();
  const may = useMay();
  return (
    <PageFrame fill title="Conversations" actions={may.admin && <Import />}>
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
              Icon={TbMessages}
              title="Select a conversation"
              hint="Read its messages and branches, and see what models are shown and what was remembered."
            />
          )}
        </section>
      </div>
    </PageFrame>
  );
}

function Import() {
  const { shown, open, close } = useDialog<'import'>();
  return (
    <>
      <Button
        component={Link}
        to="/past"
        size="xs"
        variant="subtle"
        leftSection={<TbHistory size={15} aria-hidden />}
      >
        Bring your past
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<TbUpload size={15} aria-hidden />}
        onClick={() => open('import')}
      >
        Import…
      </Button>
      {shown && <ImportConversations onClose={close} />}
    </>
  );
}
