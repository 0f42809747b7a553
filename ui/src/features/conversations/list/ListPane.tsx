import { useAddress } from '../address';
import { ConversationList } from './ConversationList';
import { FoundList } from './FoundList';
import { SearchTools } from './SearchTools';

/** A search box, and below it all conversations, or what was found. */
export function ListPane() {
  const { address } = useAddress();
  return (
    <>
      <SearchTools />
      {address.q.trim() ? <FoundList /> : <ConversationList />}
    </>
  );
}
